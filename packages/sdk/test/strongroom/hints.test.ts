import { afterAll, beforeAll, expect, it } from 'vitest'
import { NotCachedError, NotFoundError } from '../../src/strongroom/public-errors.ts'
import { errorOf, memoryCache, startWorld, unique, type World } from './world.ts'

// Catches: a hint of the cache that is believed without the verified name, a request too many where nothing changed, a name that
// goes on to lead where it no longer belongs, an offline read that asks the server.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

async function vaultWith(fields: Readonly<Record<string, string>>): Promise<string> {
  const name = unique('vault')
  await world.alice.vaults.create({ name })
  for (const [ref, value] of Object.entries(fields)) await world.alice.secrets.set(`sr://${name}/${ref}`, value)
  return name
}

/** The founder's device anew in each call, as processes are, with the cache and the trust store of one machine. */
async function machineOf() {
  const cache = memoryCache()
  const { memoryTrust } = await import('../../src/engine/trust.ts')
  const trustStore = memoryTrust()
  return () => {
    const { client, wire } = world.device({ cache, trustStore, maxRetries: 0 })
    return { client, asked: () => wire.asked.filter((asked) => asked !== 'GET /me'), wire }
  }
}

it('reads an environment by name in one request once a process of the machine has read it', async () => {
  const vault = await vaultWith({ 'app/KEY': '1', 'app/MORE': '2' })
  const start = await machineOf()
  await start().client.secrets.env({ vault })
  const again = start()
  expect((await again.client.secrets.env({ vault })).toObject()).toEqual({ KEY: '1', MORE: '2' })
  expect(again.asked()).toHaveLength(1)
})

it('reads references of one vault in one request once their names are known, and sees what was renamed since', async () => {
  const vault = await vaultWith({ 'app/KEY': '1', 'app/MORE': '2', 'other/THIRD': '3' })
  const refs = { A: `sr://${vault}/app/KEY`, B: `sr://${vault}/app/MORE`, C: `sr://${vault}/other/THIRD` }
  const start = await machineOf()
  expect((await start().client.secrets.env({ refs })).toObject()).toEqual({ A: '1', B: '2', C: '3' })
  const second = start()
  expect((await second.client.secrets.env({ refs })).toObject()).toEqual({ A: '1', B: '2', C: '3' })
  expect(second.asked()).toHaveLength(1)
  const [app] = (await world.alice.items.list(vault)).filter(({ name }) => name === 'app')
  await world.alice.items.update(vault, String(app?.itemId), { name: 'renamed' })
  expect(await errorOf(start().client.secrets.env({ refs }))).toBeInstanceOf(NotFoundError)
  const optional = await start().client.secrets.env({ refs }, { optional: ['A', 'B'] })
  expect(optional.toObject()).toEqual({ C: '3' })
})

it('does not follow a name to the vault that had it before', async () => {
  const vault = await vaultWith({ 'app/KEY': 'old' })
  const start = await machineOf()
  await start().client.secrets.env({ vault })
  await world.alice.vaults.update(vault, { name: `${vault}-before` })
  expect(await errorOf(start().client.secrets.env({ vault }))).toMatchObject({ code: 'vault_not_found' })
  await world.alice.vaults.create({ name: vault })
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, 'new')
  expect((await start().client.secrets.env({ vault })).toObject()).toEqual({ KEY: 'new' })
})

it('answers names and references offline from what was read before, and asks nothing', async () => {
  const vault = await vaultWith({ 'app/KEY': '1' })
  const refs = { A: `sr://${vault}/app/KEY` }
  const start = await machineOf()
  expect(await errorOf(start().client.secrets.env({ vault }, { offline: true }))).toBeInstanceOf(NotCachedError)
  expect(await errorOf(start().client.secrets.env({ refs }, { offline: true }))).toBeInstanceOf(NotCachedError)
  await start().client.secrets.env({ refs })
  const offline = start()
  expect((await offline.client.secrets.env({ vault }, { offline: true })).toObject()).toEqual({ KEY: '1' })
  expect((await offline.client.secrets.env({ refs }, { offline: true })).toObject()).toEqual({ A: '1' })
  expect(offline.asked()).toEqual([])
  const away = start()
  away.wire.before = () => {
    throw new TypeError('fetch failed')
  }
  const env = await away.client.secrets.env({ refs })
  expect([env.toObject(), env.receipt?.source]).toEqual([{ A: '1' }, 'cache'])
})
