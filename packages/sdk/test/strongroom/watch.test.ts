import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { DISPOSE } from '../../src/strongroom/secret.ts'
import type { EnvChange } from '../../src/strongroom/watch.ts'
import { errorOf, memoryCache, startWorld, unique, type World } from './world.ts'

// Catches: a change that is reported unverified, a stream that is believed, a watcher that sleeps through a change because the
// server has no stream, hides an event or breaks the connection; one that ends because the caller has disposed of what it was given, or
// because the server is away for longer than a cached answer may be old; one that tells of values that are as before; one that
// cannot be ended. Seen red: the caller's own bundle compared with; versions compared; the cache asked in an outage; the hook of
// the caller called for a comparison; a credential for the stream waited for without end.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => world.close())

async function vaultWith(value: string): Promise<string> {
  const name = unique('vault')
  await world.alice.vaults.create({ name })
  await world.alice.secrets.set(`sr://${name}/app/KEY`, value)
  return name
}

const shown = ({ added, changed, removed, bundle }: EnvChange) => ({ added, changed, removed, env: bundle.toObject() })
const next = async (changes: AsyncIterator<EnvChange>) => shown((await changes.next()).value as EnvChange)

it('reports the environment, then what is added, changed and removed, as the server tells of it', async () => {
  const vault = await vaultWith('1')
  const changes = world.device().client.secrets.watch({ vault }, { interval: '10m' })[Symbol.asyncIterator]()
  expect(await next(changes)).toEqual({ added: ['KEY'], changed: [], removed: [], env: { KEY: '1' } })
  const second = next(changes)
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, '2')
  expect(await second).toEqual({ added: [], changed: ['KEY'], removed: [], env: { KEY: '2' } })
  const third = next(changes)
  await world.alice.secrets.set(`sr://${vault}/app/MORE`, 'm')
  expect(await third).toEqual({ added: ['MORE'], changed: [], removed: [], env: { KEY: '2', MORE: 'm' } })
  const fourth = next(changes)
  await world.alice.secrets.remove(`sr://${vault}/app/KEY`)
  expect(await fourth).toEqual({ added: [], changed: [], removed: ['KEY'], env: { MORE: 'm' } })
  await changes.return?.()
})

it('looks by itself where there is no stream for it', async () => {
  const vault = await vaultWith('1')
  const { client, wire } = world.device()
  wire.before = (asked) => {
    if (asked.startsWith('GET /events')) throw new TypeError('no stream')
  }
  const changes = client.secrets.watch({ vault }, { interval: 50 })[Symbol.asyncIterator]()
  await next(changes)
  const second = next(changes)
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, '2')
  expect(await second).toMatchObject({ changed: ['KEY'], env: { KEY: '2' } })
  await changes.return?.()
  const bot = await world.agent('deploy', {
    vaults: [{ vault, role: 'read' }],
    permissions: ['machine.vault.read', 'machine.vault.secret.read'],
  })
  const polled = bot.client.secrets.watch({ vault }, { interval: 50 })[Symbol.asyncIterator]()
  await next(polled)
  const changed = next(polled)
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, '3')
  expect(await changed).toMatchObject({ env: { KEY: '3' } })
  await polled.return?.()
})

it('goes on after the server was away', async () => {
  const vault = await vaultWith('1')
  let isAway = false
  const through: typeof fetch = async (input, init) => {
    if (isAway) throw new TypeError('fetch failed')
    return fetch(input, init)
  }
  const { client } = world.device({ fetch: through, maxRetries: 0 })
  const changes = client.secrets.watch({ vault }, { interval: 50 })[Symbol.asyncIterator]()
  await next(changes)
  isAway = true
  const second = next(changes)
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, '2')
  isAway = false
  expect(await second).toMatchObject({ env: { KEY: '2' } })
  await changes.return?.()
})

it('goes on after the caller has disposed of what it was given, and opens nothing that the caller does not', async () => {
  const vault = await vaultWith('1')
  const revealed: string[] = []
  const { client, wire } = world.device({ hooks: { onReveal: ({ ref }) => revealed.push(ref) } })
  const changes = client.secrets.watch({ vault }, { interval: 50 })[Symbol.asyncIterator]()
  const { bundle } = (await changes.next()).value as EnvChange
  bundle[DISPOSE]()
  expect(() => bundle.toObject()).toThrow('this secret was disposed of')
  const second = changes.next()
  const looks = () => wire.asked.filter((asked) => asked.includes('environment-fields')).length
  await vi.waitFor(() => expect(looks()).toBeGreaterThan(2))
  expect(revealed).toEqual([])
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, '2')
  expect(shown((await second).value as EnvChange)).toMatchObject({ changed: ['KEY'], env: { KEY: '2' } })
  expect(revealed).toHaveLength(1)
  await changes.return?.()
})

it('reports nothing of a new vault key: the values are as before', async () => {
  const vault = await vaultWith('1')
  const { client } = world.device()
  const changes = client.secrets.watch({ vault }, { interval: 50 })[Symbol.asyncIterator]()
  await next(changes)
  const second = next(changes)
  await world.alice.vaults.rotateKey(vault)
  await world.alice.secrets.set(`sr://${vault}/app/MORE`, 'm')
  expect(await second).toEqual({ added: ['MORE'], changed: [], removed: [], env: { KEY: '1', MORE: 'm' } })
  await changes.return?.()
})

it('goes on after the server was away for longer than a cached answer may be old', async () => {
  const vault = await vaultWith('1')
  let failures = 0
  let isAway = false
  const through: typeof fetch = async (input, init) => {
    if (!isAway) return fetch(input, init)
    failures += 1
    throw new TypeError('fetch failed')
  }
  let aheadMs = 0
  const clock = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => clock() + aheadMs)
  const { client } = world.device({ fetch: through, maxRetries: 0, cache: memoryCache() })
  const changes = client.secrets.watch({ vault }, { interval: 50 })[Symbol.asyncIterator]()
  await next(changes)
  isAway = true
  aheadMs = 172_800_000
  const second = next(changes)
  await Promise.race([second, vi.waitFor(() => expect(failures).toBeGreaterThan(3), 5000)])
  aheadMs = 0
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, '2')
  isAway = false
  expect(await second).toMatchObject({ env: { KEY: '2' } })
  await changes.return?.()
})

it('ends with an error where an answer does not verify, and reports nothing of it', async () => {
  const vault = await vaultWith('1')
  const { client, wire } = world.device()
  const changes = client.secrets.watch({ vault }, { interval: 50 })[Symbol.asyncIterator]()
  await next(changes)
  wire.tamper = (asked, answer) => {
    if (!asked.includes('environment-fields')) return undefined
    const { data, ...rest } = answer as { data: unknown[] }
    return { ...rest, data: data.slice(1) }
  }
  expect(await errorOf(changes.next())).toMatchObject({ code: 'env_mismatch', name: 'IntegrityError' })
})

it('ends when the caller says so, while it waits and before it begins', async () => {
  const vault = await vaultWith('1')
  const ended = new AbortController()
  const changes = world.device().client.secrets.watch({ vault }, { signal: ended.signal })[Symbol.asyncIterator]()
  await next(changes)
  const waiting = errorOf(changes.next())
  ended.abort()
  expect(await waiting).toMatchObject({ name: 'AbortError', code: 'aborted' })
  const never = world.device().client.secrets.watch({ vault }, { signal: ended.signal })[Symbol.asyncIterator]()
  expect(await errorOf(never.next())).toMatchObject({ name: 'AbortError' })
})

it('ends while the credential for the stream is still waited for', async () => {
  const vault = await vaultWith('1')
  let calls = 0
  const accessToken = async (): Promise<string> => {
    calls += 1
    // The stream is the first that wants one.
    return calls === 1 ? new Promise<never>(() => undefined) : world.founder.accessToken
  }
  const { client, wire } = world.device({ accessToken })
  const ended = new AbortController()
  const changes = client.secrets.watch({ vault }, { signal: ended.signal, interval: 50 })[Symbol.asyncIterator]()
  await next(changes)
  const waiting = errorOf(changes.next())
  ended.abort()
  expect(await waiting).toMatchObject({ name: 'AbortError', code: 'aborted' })
  expect(wire.asked.filter((asked) => asked.startsWith('GET /events'))).toEqual([])
})

it('follows a project and single references too', async () => {
  const vault = await vaultWith('1')
  const project = await world.alice.projects.create({ name: unique('watched'), vaults: [vault] })
  const { client } = world.device()
  const whole = client.secrets.watch({ project: project.slug }, { interval: '10m' })[Symbol.asyncIterator]()
  const one = client.secrets
    .watch({ refs: { MINE: `sr://${vault}/app/KEY` } }, { interval: '10m' })
    [Symbol.asyncIterator]()
  expect([await next(whole), await next(one)]).toMatchObject([{ env: { KEY: '1' } }, { env: { MINE: '1' } }])
  const both = [next(whole), next(one)]
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, '2')
  expect(await Promise.all(both)).toMatchObject([{ env: { KEY: '2' } }, { env: { MINE: '2' } }])
  await whole.return?.()
  await one.return?.()
})
