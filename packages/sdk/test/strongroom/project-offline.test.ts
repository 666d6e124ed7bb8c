import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryTrust } from '../../src/engine/trust.ts'
import { NotCachedError } from '../../src/strongroom/public-errors.ts'
import { errorOf, memoryCache, startWorld, unique, type World } from './world.ts'

// The environment of a project from the cache. Seen red: the answer of the project not kept (both tests), one that is older than
// what was seen raised as an alarm, the log held to be rewritten because it has moved on, one that this machine never saw taken, one of any age taken.

let world: World
let cache: ReturnType<typeof memoryCache>
let trustStore: ReturnType<typeof memoryTrust>
let vaults: readonly string[]
let slug: string
beforeAll(async () => {
  world = await startWorld()
  const { alice } = world
  vaults = [unique('one'), unique('two'), unique('three')]
  for (const [i, name] of vaults.entries()) {
    await alice.vaults.create({ name })
    await alice.secrets.set(`sr://${name}/app/KEY_${i}`, String(i))
  }
  slug = (await alice.projects.create({ name: unique('store'), vaults: vaults.slice(0, 2) })).slug
  cache = memoryCache()
  trustStore = memoryTrust()
})
afterAll(() => world.close())

/** A new process of one machine. */
const start = () => world.device({ cache, trustStore, maxRetries: 0 })

it('answers from what was read before, asks nothing, and says that it is from the cache', async () => {
  const offline = () => start().client.secrets.env({ project: slug }, { offline: true })
  expect(await errorOf(offline())).toBeInstanceOf(NotCachedError)
  await start().client.secrets.env({ project: slug })
  // What else is read moves the log on, and does not make the answer wrong.
  await start().client.secrets.env({ vault: String(vaults[2]) })
  const { client, wire } = start()
  const read = await client.secrets.env({ project: slug }, { offline: true })
  expect(read.toObject()).toEqual({ KEY_0: '0', KEY_1: '1' })
  expect(read.get('KEY_0')?.receipt).toMatchObject({ source: 'cache', inclusion: 'verified' })
  expect(wire.asked).toEqual([])
  const stranger = world.device({ cache, trustStore: memoryTrust(), maxRetries: 0 }).client
  const believed = () => errorOf(stranger.secrets.env({ project: slug }, { offline: true }))
  expect(await believed()).toMatchObject({ code: 'stale_view' })
  await stranger.secrets.env({ vault: String(vaults[0]) })
  expect(await believed()).toBeInstanceOf(NotCachedError)
  const tooOld = start().client.secrets.env({ project: slug }, { offline: true, maxAge: '1ms' })
  expect(await errorOf(tooOld)).toMatchObject({ code: 'stale_view' })
})

it('refuses a project that was altered in the cache, and one of which a newer state was seen', async () => {
  await start().client.secrets.env({ project: slug })
  const altered = {
    ...cache,
    get: async (key: string) => {
      const bytes = await cache.get(key)
      if (!bytes || !key.startsWith('project/')) return bytes
      const kept = JSON.parse(new TextDecoder().decode(bytes))
      kept.answer.set.signatures = kept.answer.create.signatures
      kept.answer.set.payload = kept.answer.create.payload
      return new TextEncoder().encode(JSON.stringify(kept))
    },
  }
  const swapped = world.device({ cache: altered, trustStore, maxRetries: 0 }).client
  const refused = await errorOf(swapped.secrets.env({ project: slug }, { offline: true }))
  expect(refused).toMatchObject({ code: 'bad_signature' })
  await world.alice.projects.update(slug, { vaults: [String(vaults[0])] })
  await start().client.projects.get(slug)
  expect(await errorOf(start().client.secrets.env({ project: slug }, { offline: true }))).toBeInstanceOf(NotCachedError)
})

it('takes an own write to one of the vaults for no attack: there is only nothing newer to answer from', async () => {
  const { client } = start()
  const alarms = await client.transparency.trust.alarms()
  await client.secrets.env({ project: slug })
  await client.secrets.set(`sr://${vaults[0]}/app/KEY_0`, 'newer')
  expect(await errorOf(start().client.secrets.env({ project: slug }, { offline: true }))).toBeInstanceOf(NotCachedError)
  expect(await client.transparency.trust.alarms()).toEqual(alarms)
})
