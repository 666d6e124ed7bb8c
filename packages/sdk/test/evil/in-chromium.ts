import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM_FLAGS, findChromium } from '../../../../scripts/chromium.mjs'
import type { Attack } from '../../evil-server/attack.ts'
import { ATTACKS } from '../../evil-server/attacks/all.ts'
import type { PageDone, PageJob } from './page.ts'
import { anchored, pinsOf } from './pins.ts'
import { CANARY, type EvilWorld } from './world.ts'

// The same attacks on the client for browsers, in a real one: one page of the evil server's own origin, one attack after the other.

const ENTRY = fileURLToPath(new URL('./page.ts', import.meta.url))

async function bundled(): Promise<string> {
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'browser',
    resolve: { conditionNames: ['browser', 'import', 'default'] },
    logLevel: 'silent',
  })
  const { output } = await bundle.generate({ format: 'es', codeSplitting: false })
  return output[0].code
}

interface Tab {
  act(job: PageJob): Promise<PageDone>
  /** Whatever the page has logged. */
  logged(): string
  close(): Promise<void>
}

async function openTab(executablePath: string, origin: string): Promise<Tab> {
  const code = await bundled()
  const browser: Browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS })
  const page: Page = await browser.newPage()
  let text = ''
  page.on('console', (message) => {
    text += `${message.text()}\n`
  })
  // Only these two come from here; everything else of the origin is the evil server.
  await page.route(`${origin}/page.html`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><script type="module" src="/page.js"></script>' }),
  )
  await page.route(`${origin}/page.js`, (route) => route.fulfill({ contentType: 'text/javascript', body: code }))
  await page.goto(`${origin}/page.html`)
  await page.waitForFunction('typeof act === "function"')
  return {
    act: (job) =>
      page.evaluate((given) => (globalThis as unknown as { act(job: PageJob): Promise<PageDone> }).act(given), job),
    logged: () => text,
    close: () => browser.close(),
  }
}

export function describeInChromium(given: () => EvilWorld): void {
  const path = findChromium()
  describe.skipIf(path === undefined)('in Chromium', () => {
    let tab: Tab
    let stores = 0
    const newStore = (): string => {
      stores += 1
      return `trust-${stores}`
    }
    beforeAll(async () => {
      const { evil, reader, owner, place } = given()
      evil.choose(undefined)
      tab = await openTab(path ?? '', evil.url)
      for (const deed of ['env', 'item', 'project', 'download'] as const) {
        const { error } = await tab.act({ who: reader, deed, place, store: 'reader' })
        expect(error).toBeUndefined()
      }
      for (const deed of ['env', 'item'] as const) await tab.act({ who: owner, deed, place, store: 'owner' })
    })
    afterAll(() => tab?.close())

    it('an honest server is read', async () => {
      const { reader, witnessed, place } = given()
      for (const who of [reader, witnessed]) {
        const { result, evidence } = await tab.act({ who, deed: 'env', place, store: newStore() })
        expect(Object.keys(result ?? {})).toContain('DB_PASSWORD')
        expect(evidence).toEqual([])
      }
    })

    const storeFor = ({ deed, witnessed }: Attack): { store: string; like?: string } =>
      witnessed ? { store: newStore() } : { store: newStore(), like: deed === 'share' ? 'owner' : 'reader' }

    it.each(
      ATTACKS.map((attack) => [`${attack.number} ${attack.name}`, attack.expect.codes.join(' or '), attack] as const),
    )('%s: %s', async (_, __, attack) => {
      const { evil, place } = given()
      const who = given().victimOf(attack)
      const deliveries = (): number => evil.score.lines().find(({ name }) => name === attack.name)?.delivered ?? 0
      const deliveredBefore = deliveries()
      const loggedBefore = tab.logged().length
      evil.choose(attack.name, 0)
      const { result, error, before, after, evidence } = await tab.act({
        who,
        deed: attack.deed,
        place,
        ...storeFor(attack),
      })
      evil.choose(undefined)
      expect(deliveries()).toBeGreaterThan(deliveredBefore)
      if (attack.expect.codes.includes('same')) {
        const { store, like } = storeFor(attack)
        const honest = await tab.act({ who, deed: attack.deed, place, store, ...(like && { like }) })
        expect(result).toEqual(honest.result)
        return
      }
      expect(result).toBeUndefined()
      expect(attack.expect.codes).toContain(error?.code)
      const everything = [error?.shown, tab.logged().slice(loggedBefore), JSON.stringify(after), ...evidence].join('\n')
      expect(everything.includes(CANARY)).toBe(false)
      const known = Object.keys(before.orgs).length > 0 ? before : anchored(who)
      if (!attack.isAuthentic) expect(pinsOf(after, attack.deed)).toBe(pinsOf(known, attack.deed))
    })
  })
}
