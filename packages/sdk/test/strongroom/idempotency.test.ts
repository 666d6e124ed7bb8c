import { afterAll, beforeAll, expect, it } from 'vitest'
import { errorOf, startWorld, unique, type World } from './world.ts'

// A caller's own idempotency key. Catches: a key that depends on what was read before it, so that a repeated call is made twice; one key
// for two batches of one call; a key that a conflict uses up.
// Seen red: reads counted as steps; the key of a target kept after its answer, and given up with a conflict.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

it('makes a change of a vault once under one key, whatever a client has read before, and says what became of the second', async () => {
  const [first, second] = [world.device().client, world.device().client]
  const vault = unique('vault')
  await first.vaults.create({ name: vault })
  const idempotencyKey = crypto.randomUUID()
  await first.secrets.set(`sr://${vault}/i/A`, '1', { idempotencyKey })
  const { version } = await first.items.get(vault, 'i')
  for (const client of [first, second]) {
    const error = await errorOf(client.secrets.set(`sr://${vault}/i/A`, '1', { idempotencyKey }))
    expect(error).toMatchObject({ code: 'idempotency_key_reused', status: 422, idempotencyKey })
    expect(error.hint).toContain('signed anew')
  }
  expect(await second.items.get(vault, 'i')).toMatchObject({ version })
})

it('brings every batch of an import under keys of their own', async () => {
  const vault = unique('vault')
  const { client, wire } = world.device()
  await client.vaults.create({ name: vault })
  const items = Array.from({ length: 501 }, (_, i) => ({ name: `item ${i}`, fields: [] }))
  expect(await client.items.import(vault, items, { idempotencyKey: 'import-once' })).toHaveLength(501)
  expect(wire.asked.filter((asked) => asked.includes('/import'))).toHaveLength(2)
  const again = await errorOf(world.device().client.items.import(vault, items, { idempotencyKey: 'import-once' }))
  expect(again).toMatchObject({ code: 'name_taken' })
})

it('goes on under the same key when somebody else was quicker, and is made once all the same', async () => {
  const vault = unique('vault')
  const writers = [0, 1, 2, 3]
  await world.alice.vaults.create({ name: vault })
  const create = (name: string, i: number) =>
    world.device().client.items.create(vault, { name, fields: [] }, { idempotencyKey: `${vault}-${i}` })
  await Promise.all(writers.map((i) => create(`item ${i}`, i)))
  for (const i of writers)
    expect(await errorOf(create(`again ${i}`, i))).toMatchObject({ code: 'idempotency_key_reused' })
  expect(await world.alice.items.list(vault)).toHaveLength(4)
})
