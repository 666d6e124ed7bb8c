import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHROMIUM_FLAGS, findChromium } from '../../../../scripts/chromium.mjs'
import { build } from '../../scripts/build.ts'
import { bundleForBrowser } from '../../scripts/bundle.ts'
import { gzipped } from '../../scripts/size.ts'
import { type Bot, startWorld, unique, type World } from '../strongroom/world.ts'
import type { PageApp } from './page.ts'
import { type Site, startSite } from './site.ts'

// The published client in a real Chromium, under a strict policy of the page, against a real server behind the same origin.
// Catches: code that needs eval or WebAssembly, a trust store that a reload forgets or that two tabs overwrite, a page that loads
// more than it needs, keys or answers that WebCrypto reads otherwise than Node.
// Seen red: a trust store in memory, one that is written without looking at what is there, a cache of any age, code that is made
// from text in the constructor, the curve library loaded with every page.

const executablePath = findChromium()
const PAGE = fileURLToPath(new URL('./page.ts', import.meta.url))
const APP = `import { start } from '${PAGE}'; start()`
const CLIENT = `import { Strongroom } from '@strongroom/sdk/browser'; globalThis.Strongroom = Strongroom`

type Told<K extends keyof PageApp> = Awaited<ReturnType<PageApp[K]>>

describe.skipIf(!executablePath)('in Chromium', () => {
  let world: World
  let site: Site
  let browser: Browser
  let bot: Bot
  let firstSizes: ReadonlyMap<string, number>
  const place = mkdtempSync(join(tmpdir(), 'sr-browser-'))
  const vault = 'shop'

  beforeAll(async () => {
    world = await startWorld()
    await world.alice.vaults.create({ name: vault })
    await world.alice.secrets.set(`sr://${vault}/app/KEY`, 'one')
    bot = await world.agent('deploy', { vaults: [{ vault, role: 'write' }], permissions: ['machine.all'] })
    const packages = build(place)
    const client = await bundleForBrowser(CLIENT, packages)
    firstSizes = new Map(
      client.files.flatMap(({ name, code, isFirst }) => (isFirst ? [[`client/${name}`, gzipped(code)]] : [])),
    )
    site = await startSite(world.url, { client, app: await bundleForBrowser(APP, packages) })
    browser = await chromium.launch({ executablePath: executablePath as string, args: CHROMIUM_FLAGS })
  }, 300_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
    await world?.close()
    rmSync(place, { recursive: true, force: true })
  })

  let context: BrowserContext
  let problems: string[]
  beforeEach(async () => {
    context = await browser.newContext()
    problems = []
    site.isAway = false
    site.instead = undefined
    site.seen = undefined
    return async () => {
      for (const page of context.pages()) problems.push(...(await page.evaluate(() => globalThis.violations ?? [])))
      await context.close()
      expect(problems).toEqual([])
    }
  })

  async function newTab(path = '/app/'): Promise<Page> {
    const page = await context.newPage()
    page.on('pageerror', (error) => problems.push(String(error)))
    await page.goto(`${site.origin}${path}`)
    return page
  }

  const call = <K extends keyof PageApp>(page: Page, name: K, ...input: Parameters<PageApp[K]>): Promise<Told<K>> =>
    page.evaluate(([what, given]) => globalThis.ask(what, given), [name, input] as const) as Promise<Told<K>>

  const credential = () => ({ bundle: bot.bundle.reveal(), dangerouslyAllowBrowserApiKey: true })
  async function openTab(options: { readonly isCached?: boolean } = {}): Promise<Page> {
    const page = await newTab()
    expect(await call(page, 'open', { ...credential(), ...options })).toHaveProperty('ok')
    return page
  }

  it('refuses an API key in a page unless that is wanted', async () => {
    const page = await newTab()
    expect(await call(page, 'open', { bundle: bot.bundle.reveal() })).toMatchObject({
      refused: { code: 'api_key_in_browser' },
    })
  })

  it('runs under a policy that allows neither scripts from text nor WebAssembly', async () => {
    const page = await openTab()
    for (const outcome of await call(page, 'forbidden')) expect(outcome).toMatch(/^(EvalError|TypeError|CompileError)$/)
    expect(await call(page, 'env', vault)).toMatchObject({ ok: { source: 'network' } })
  })

  it('loads at most 60 kB, gzipped, from construction to the first verified environment', async () => {
    site.loaded.length = 0
    const page = await newTab('/client/')
    const read = async ([options, name]: readonly [object, string]): Promise<unknown> => {
      const { Strongroom } = globalThis as unknown as { Strongroom: typeof import('../../src/index.ts').Strongroom }
      const client = new Strongroom({ server: location.origin, ...options })
      return (await client.secrets.env({ vault: name })).names
    }
    expect(await page.evaluate(read, [credential(), vault] as const)).toContain('KEY')
    expect(new Set(site.loaded)).toEqual(new Set(firstSizes.keys()))
    const total = [...firstSizes.values()].reduce((sum, size) => sum + size, 0)
    console.log(`loaded in Chromium until the first environment was read: ${total} bytes gzipped`)
    expect(total).toBeLessThanOrEqual(60_000)
  })

  it('reads and writes: vaults, items, fields of the environment and others', async () => {
    const page = await openTab()
    const name = unique('made-here')
    expect(await call(page, 'createVault', name)).toMatchObject({ ok: { name } })
    const ref = `sr://${name}/app/TOKEN`
    expect(await call(page, 'set', ref, 'first')).toEqual({ ok: { ref, version: 1, created: true } })
    expect(await call(page, 'set', ref, 'second')).toEqual({ ok: { ref, version: 2, created: false } })
    expect(await call(page, 'get', ref)).toEqual({ ok: 'second' })
    expect(await call(page, 'env', name)).toMatchObject({ ok: { values: { TOKEN: 'second' } } })
    expect(await call(page, 'createItem', name, 'mail', 'p4ss')).toHaveProperty('ok')
    expect(await call(page, 'item', name, 'mail')).toEqual({ ok: ['p4ss'] })
    expect(await call(page, 'remove', ref)).toHaveProperty('ok')
    expect(await call(page, 'env', name)).toMatchObject({ ok: { values: {} } })
    expect((await bot.client.secrets.get(`sr://${name}/mail/password`)).reveal()).toBe('p4ss')
  })

  it('puts its change on top of what others wrote, and refuses to overwrite a version it was not told of', async () => {
    const [one, two] = [await openTab(), await openTab()]
    const name = unique('busy')
    await call(one, 'createVault', name)
    for (const page of [one, two]) await call(page, 'env', name)
    const writes = [one, two].flatMap((page, tab) =>
      [0, 1, 2].map((i) => call(page, 'set', `sr://${name}/tab${tab}/FIELD_${tab}_${i}`, `${tab}${i}`)),
    )
    for (const outcome of await Promise.all(writes)) expect(outcome).toHaveProperty('ok')
    const read = await call(one, 'env', name)
    expect(read).toMatchObject({
      ok: { values: { FIELD_0_0: '00', FIELD_0_2: '02', FIELD_1_0: '10', FIELD_1_1: '11', FIELD_1_2: '12' } },
    })
    const stale = await call(two, 'set', `sr://${name}/tab0/FIELD_0_0`, 'late', { ifVersion: 7 })
    expect(stale).toMatchObject({ refused: { name: 'ConflictError' } })
    expect(await call(two, 'get', `sr://${name}/tab0/FIELD_0_0`)).toEqual({ ok: '00' })
  })

  it('tells of changes by others', async () => {
    const page = await openTab()
    const name = unique('watched')
    await call(page, 'createVault', name)
    await call(page, 'set', `sr://${name}/app/KEY`, '1')
    await call(page, 'startWatching', name)
    expect(await call(page, 'nextChange')).toMatchObject({ ok: { added: ['KEY'], values: { KEY: '1' } } })
    const next = call(page, 'nextChange')
    await bot.client.secrets.set(`sr://${name}/app/KEY`, '2')
    expect(await next).toEqual({ ok: { added: [], changed: ['KEY'], removed: [], values: { KEY: '2' } } })
  })

  it('reads from its cache, verified, when the server is away, also after a reload', async () => {
    const page = await openTab({ isCached: true })
    const { vaultId } = await world.alice.vaults.get(vault)
    expect(await call(page, 'env', vaultId)).toMatchObject({ ok: { source: 'network' } })
    await page.reload()
    await call(page, 'open', { ...credential(), isCached: true, maxRetries: 0 })
    site.isAway = true
    expect(await call(page, 'env', vaultId)).toMatchObject({ ok: { source: 'cache', values: { KEY: 'one' } } })
    expect(await call(page, 'env', vaultId, { maxAge: '0ms' })).toMatchObject({ refused: { code: 'stale_view' } })
    expect(await call(page, 'env', vaultId, { offline: false })).toMatchObject({ refused: { name: 'ConnectionError' } })
  })

  it('remembers what it has seen over a reload: an older state of the vault is then refused', async () => {
    const page = await openTab()
    const name = unique('rolled')
    await call(page, 'createVault', name)
    await call(page, 'set', `sr://${name}/app/KEY`, 'old')
    const { vaultId } = await bot.client.vaults.get(name)
    let recorded: unknown
    site.seen = (asked, body) => {
      if (asked.startsWith(`GET /vault/${vaultId}/environment-fields`)) recorded = JSON.parse(body)
    }
    expect(await call(page, 'env', vaultId)).toMatchObject({ ok: { values: { KEY: 'old' } } })
    const old = recorded
    await bot.client.secrets.set(`sr://${name}/app/KEY`, 'new')
    expect(await call(page, 'env', vaultId)).toMatchObject({ ok: { values: { KEY: 'new' } } })
    const before = await call(page, 'trust')
    await page.reload()
    expect(await call(page, 'trust')).toEqual(before)
    await call(page, 'open', credential())
    site.instead = (asked) => (asked.startsWith(`GET /vault/${vaultId}/environment-fields`) ? old : undefined)
    const refused = await call(page, 'env', vaultId)
    expect(refused).toMatchObject({ refused: { name: 'RollbackError' } })
    expect(JSON.stringify(refused)).not.toContain('"old"')
    site.instead = undefined
    expect(await call(page, 'env', vaultId)).toMatchObject({ ok: { values: { KEY: 'new' } } })
  })

  it('keeps what two tabs pin at once', async () => {
    const names = Array.from({ length: 6 }, () => unique('pinned'))
    const ids = new Map<string, string>()
    for (const name of names) ids.set(name, (await bot.client.vaults.create({ name })).vaultId)
    const tabs = [await openTab(), await openTab()]
    const reads = await Promise.all(names.map((name, i) => call(tabs[i % 2] as Page, 'env', ids.get(name) as string)))
    for (const read of reads) expect(read).toHaveProperty('ok')
    const [org] = Object.values(await call(tabs[0] as Page, 'trust'))
    for (const vaultId of ids.values()) expect(Object.keys(org?.vaults ?? {})).toContain(vaultId)
    expect(org?.alarms).toEqual([])
  })

  it('refuses an altered answer and shows nothing of it', async () => {
    const page = await openTab()
    const { vaultId } = await world.alice.vaults.get(vault)
    let recorded: { data: { value: string }[] } | undefined
    site.seen = (asked, body) => {
      if (asked.includes('environment-fields')) recorded = JSON.parse(body)
    }
    await call(page, 'env', vaultId)
    const [field] = recorded?.data ?? []
    expect(field).toBeDefined()
    site.instead = (asked) =>
      asked.includes('environment-fields') && recorded && { ...recorded, data: recorded.data.slice(1) }
    expect(await call(page, 'env', vaultId)).toMatchObject({ refused: { name: 'IntegrityError' } })
    expect(JSON.stringify(await call(page, 'env', vaultId))).not.toContain('"one"')
  })
})
