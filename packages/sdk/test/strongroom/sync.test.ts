import { afterAll, beforeAll, expect, it } from 'vitest'
import { mapLimited } from '../../src/engine/queue.ts'
import type { SyncPayload } from '../../src/strongroom/vaults.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// What changed since a cursor. Catches: an alarm about nothing but this client's own memory, with the cursor of another process, with
// more vaults than are remembered, or with an older or a newer one in memory; and the opposite, changes that are taken unverified.
// Seen red: each of these as items_mismatch, with an alarm in the trust store; a caller who may only sync refused; a base
// that is taken whatever its version; a vault loaded whole although its base is there.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

async function vaultWithTwo(): Promise<string> {
  const { vaultId } = await world.alice.vaults.create({ name: unique('synced') })
  for (const item of ['a', 'b']) await change(vaultId, item)
  return vaultId
}

const change = (vaultId: string, item = 'a') =>
  world.alice.secrets.set(`sr://${vaultId}/${item}/KEY_${item}`, unique('value'))

const namesIn = ({ vaults }: SyncPayload, vaultId: string): readonly string[] =>
  vaults
    .filter((one) => one.vaultId === vaultId)
    .flatMap(({ items }) => [...items.values()].map(({ name }) => name))
    .sort()

const WHOLE = /^GET \/vault\/[^/]+\/items/

it('goes on with the cursor of another process, and from then on with what changed', async () => {
  const vaultId = await vaultWithTwo()
  const { cursor } = await world.device().client.vaults.sync()
  await change(vaultId)
  const { client, wire } = world.device()
  const first = await client.vaults.sync({ since: cursor })
  expect(namesIn(first, vaultId)).toEqual(['a', 'b'])
  expect(first).toMatchObject({ isFull: false, removed: [] })
  const asked = wire.asked.length
  await change(vaultId, 'c')
  expect(namesIn(await client.vaults.sync({ since: first.cursor }), vaultId)).toEqual(['a', 'b', 'c'])
  expect(wire.asked.slice(asked).filter((one) => WHOLE.test(one))).toEqual([])
  expect(await client.transparency.trust.alarms()).toEqual([])
})

it('takes nothing in memory for the base of a cursor that is younger', async () => {
  const vaultId = await vaultWithTwo()
  const { client } = world.device()
  await client.items.list(vaultId)
  await change(vaultId, 'a')
  const { cursor } = await world.device().client.vaults.sync()
  await change(vaultId, 'b')
  expect(namesIn(await client.vaults.sync({ since: cursor }), vaultId)).toEqual(['a', 'b'])
  expect(await client.transparency.trust.alarms()).toEqual([])
})

it('puts no older answer on top of what was read while it was under way', async () => {
  const vaultId = await vaultWithTwo()
  const { client, wire } = world.device()
  const { cursor } = await client.vaults.sync()
  await change(vaultId, 'a')
  wire.after = async (asked) => {
    if (!asked.startsWith('GET /vault/sync')) return
    wire.after = undefined
    await change(vaultId, 'late')
    await client.items.list(vaultId)
  }
  expect(namesIn(await client.vaults.sync({ since: cursor }), vaultId)).toEqual(['a', 'b', 'late'])
  expect(await client.transparency.trust.alarms()).toEqual([])
})

it('begins anew for a caller who may do nothing but sync', async () => {
  const vaultId = await vaultWithTwo()
  const bot = await world.agent('worker', {
    vaults: [{ vault: vaultId, role: 'read' }],
    permissions: ['machine.vault.sync.read'],
  })
  const { cursor } = await bot.client.vaults.sync()
  await change(vaultId)
  const again = await bot.again().vaults.sync({ since: cursor })
  expect(again.isFull).toBe(true)
  expect(namesIn(again, vaultId)).toEqual(['a', 'b'])
})

it('refuses a change that does not lead to the signed head, and says so in an alarm', async () => {
  const vaultId = await vaultWithTwo()
  const { client, wire } = world.device()
  const { cursor } = await client.vaults.sync()
  await change(vaultId, 'a')
  wire.tamper = (asked, answer) => {
    if (!asked.startsWith('GET /vault/sync')) return undefined
    const { vaults, ...rest } = answer as { vaults: object[] }
    return { ...rest, vaults: vaults.map((one) => ({ ...one, items: [] })) }
  }
  expect(await errorOf(client.vaults.sync({ since: cursor }))).toMatchObject({ code: 'items_mismatch' })
  expect((await client.transparency.trust.alarms()).map(({ code }) => code)).toEqual(['items_mismatch'])
})

it('refuses a head that was not signed, although it would load the vault by itself', async () => {
  const vaultId = await vaultWithTwo()
  const { cursor } = await world.device().client.vaults.sync()
  await change(vaultId, 'a')
  const { client, wire } = world.device()
  wire.tamper = (asked, answer) => {
    if (!asked.startsWith('GET /vault/sync')) return undefined
    const { vaults, ...rest } = answer as { vaults: { signed: { head: object } }[] }
    const signed = (one: { signed: { head: object } }) => ({
      ...one.signed,
      head: { ...one.signed.head, signatures: [] },
    })
    return { ...rest, vaults: vaults.map((one) => ({ ...one, signed: signed(one) })) }
  }
  expect(await errorOf(client.vaults.sync({ since: cursor }))).toMatchObject({ name: 'SignatureInvalidError' })
})

it('goes on with more vaults than it remembers', async () => {
  const names = Array.from({ length: 66 }, () => unique('one-of-many'))
  const made = await mapLimited(names, 4, (name) => world.alice.vaults.create({ name }))
  const { client } = world.device()
  // The first of an answer is the first to be forgotten.
  const forgotten = (await client.vaults.sync()).vaults[0]?.vaultId ?? ''
  const [remembered] = made
    .map(({ vaultId }) => vaultId)
    .sort()
    .reverse()
  for (const vaultId of [forgotten, String(remembered)]) await change(vaultId, 'old')
  const { cursor } = await client.vaults.sync()
  for (const vaultId of [forgotten, String(remembered)]) await change(vaultId, 'new')
  const delta = await client.vaults.sync({ since: cursor })
  expect(namesIn(delta, forgotten)).toEqual(expect.arrayContaining(['new', 'old']))
  expect(namesIn(delta, String(remembered))).toEqual(['new', 'old'])
  expect(await client.transparency.trust.alarms()).toEqual([])
})
