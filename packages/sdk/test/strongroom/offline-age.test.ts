import { orgTrustOf, type TrustStore } from '@strongroom/protocol'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { memoryTrust, type TrustKeeper } from '../../src/engine/trust.ts'
import { fileTrust } from '../../src/engine/trust-file.ts'
import { errorOf, memoryCache, startWorld, unique, type World } from './world.ts'

// How old a cached answer is. Whoever can write into the cache can give an answer any age, and reading other vaults shows only that the
// server was heard. Catches: an answer that is younger than its vault, or its project, was last seen; a store of before that locks its
// owner out; a start that writes more often than before.
// Seen red: the age taken from the cache alone, for vaults and for projects; nothing that was seen remembered; what was
// seen written by each read, and never by itself; the document of a project not looked for; former
// versions kept for ever.

let world: World
let vaults: readonly string[]
beforeAll(async () => {
  world = await startWorld()
  // Called by their ids: looking for a name looks at other vaults too.
  vaults = await Promise.all(
    ['one', 'two', 'three'].map(async (name, i) => {
      const { vaultId } = await world.alice.vaults.create({ name: unique(name) })
      await world.alice.secrets.set(`sr://${vaultId}/app/KEY_${i}`, String(i))
      return vaultId
    }),
  )
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => world.close())

const MINUTE_MS = 60_000
const clock = Date.now
const wait = (minutes: number) => vi.spyOn(Date, 'now').mockImplementation(() => clock() + minutes * MINUTE_MS)

/** A machine whose cache says of everything in it that it was fetched just now. */
function machine(trust: TrustKeeper = memoryTrust()) {
  const cache = memoryCache()
  const forged = {
    ...cache,
    get: async (key: string) => {
      const bytes = await cache.get(key)
      if (!bytes || !/^(environment|project)\//.test(key)) return bytes
      const kept = JSON.parse(new TextDecoder().decode(bytes))
      return new TextEncoder().encode(JSON.stringify({ ...kept, fetchedAt: Date.now() }))
    },
  }
  let writes = 0
  const trustStore: TrustKeeper = {
    read: () => trust.read(),
    update: async (change) => {
      const before = await trust.read()
      const after = await trust.update(change)
      if (after !== before) writes += 1
      return after
    },
  }
  const start = (isForged = false) =>
    world.device({ cache: isForged ? forged : cache, trustStore, maxRetries: 0 }).client.secrets
  return { start, trust, written: () => writes }
}
const [one, two, three] = [0, 1, 2].map((i) => () => ({ vault: String(vaults[i]) })) as [
  () => { vault: string },
  () => { vault: string },
  () => { vault: string },
]
const offline = { offline: true, maxAge: '1h' } as const

it.each(['in memory', 'in a file'])(
  'goes by when the vault was seen, whatever the cache says, with pins %s',
  async (place) => {
    const { start, trust } = machine(
      place === 'in a file' ? fileTrust(`${world.directory()}/trust.json`) : memoryTrust(),
    )
    await start().env(one())
    wait(45)
    expect((await start().env(one(), offline)).toObject()).toEqual({ KEY_0: '0' })
    wait(120)
    await start().env(two())
    expect(await errorOf(start(true).env(one(), offline))).toMatchObject({ code: 'stale_view' })
    expect((await start(true).env(two(), offline)).toObject()).toEqual({ KEY_1: '1' })
    const read = await start(true).env(one(), { offline: true, maxAge: '3h' })
    expect(read.receipt?.fetchedAt.getTime()).toBeLessThanOrEqual(clock() + 10 * MINUTE_MS)
    expect(orgTrustOf(await trust.read(), world.founder.orgId).alarms).toEqual([])
    await start().env(one())
    wait(160)
    expect((await start().env(one(), offline)).toObject()).toEqual({ KEY_0: '0' })
  },
)

it('goes on with a store of before, and bounds by it what is read from then on', async () => {
  const { start, trust } = machine()
  await start().env(one())
  const { orgId } = world.founder
  const old = (store: TrustStore): TrustStore => {
    const { seenAt: _, ...pins } = orgTrustOf(store, orgId)
    return { ...store, orgs: { ...store.orgs, [orgId]: pins } }
  }
  await trust.update(old)
  expect((await start().env(one(), offline)).toObject()).toEqual({ KEY_0: '0' })
  await start().env(one())
  wait(120)
  await start().env(two())
  expect(await errorOf(start(true).env(one(), offline))).toMatchObject({ code: 'stale_view' })
})

it('writes what was seen along with the rest: once in a start, and not at all in the same minute', async () => {
  const { start, written } = machine()
  for (const source of [one(), two(), three()]) await start().env(source)
  const began = written()
  const added = async (minutes: number, ...sources: readonly { vault: string }[]): Promise<number> => {
    const before = written()
    wait(minutes)
    const client = start()
    for (const source of sources) await client.env(source)
    return written() - before
  }
  expect(await added(0.5, one(), two(), three())).toBe(0)
  expect(await added(5, one(), two(), three())).toBe(1)
  expect(await added(5.5, two())).toBe(0)
  expect(await added(15, one())).toBe(1)
  // Not seen for longer than that, so it is told by itself.
  expect(await added(15.5, two(), one())).toBe(1)
  expect(began).toBeGreaterThanOrEqual(3)
})

it('goes by when a project was seen, and takes one that has changed since', async () => {
  const { alice } = world
  const { slug } = await alice.projects.create({ name: unique('store'), vaults: vaults.slice(0, 2) })
  const { start, trust } = machine()
  const project = { project: slug }
  await start().env(project)
  wait(120)
  for (const source of [one(), two()]) await start().env(source)
  expect(await errorOf(start(true).env(project, offline))).toMatchObject({ code: 'stale_view' })
  await start().env(project)
  expect((await start().env(project, offline)).toObject()).toEqual({ KEY_0: '0', KEY_1: '1' })
  await alice.projects.update(slug, { vaults: vaults.slice(1, 3) })
  await start().env(project)
  wait(165)
  expect((await start().env(project, offline)).toObject()).toEqual({ KEY_1: '1', KEY_2: '2' })
  wait(300)
  for (const source of [two(), three()]) await start().env(source)
  expect(await errorOf(start(true).env(project, offline))).toMatchObject({ code: 'stale_view' })
  // Three vaults and the project as it is: what is gone is not kept.
  expect(Object.values(orgTrustOf(await trust.read(), world.founder.orgId).seenAt ?? {})).toHaveLength(4)
})
