import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorld, unique, type World } from './world.ts'

// Changes while other reads of the same client go on. Catches: a change that is in and yet ends in an alarm, because it was asked for
// again and the server answered as before, with a proof for what the client knew before. Seen red: the change repeated, of each kind.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

/** A client of Alice's that, between what it knows and its own change, has read something newer. */
function busyClient(vault: string, part: '/project' | '/vault') {
  let changes = 0
  const fetching: typeof fetch = async (input, init) => {
    const isAsked = new URL(input instanceof Request ? input.url : input).pathname.includes(part)
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
    if (isAsked && method !== 'GET') {
      changes += 1
      await world.alice.items.create(vault, { name: unique('item'), fields: [{ label: 'A', value: 'a' }] })
      await client.vaults.get(vault)
    }
    return fetch(input, init)
  }
  const { client } = world.device({ fetch: fetching })
  return { client, changes: () => changes }
}

it('are made once, and are shown as they are, although the log has grown before them', async () => {
  const vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  const { client, changes } = busyClient(vault, '/project')
  await client.vaults.get(vault)
  const slug = unique('shop')
  const made = await client.projects.create({ name: 'Shop', slug })
  expect(made).toMatchObject({ slug, version: 1, isVerified: true })
  expect(await client.projects.update(made.id, { name: 'Store' })).toMatchObject({ name: 'Store', version: 2 })
  const bot = await world.agent('deploy')
  const listed = await client.permissions.grant({ project: made.id }, { principal: bot.principal, role: 'READ' })
  expect(listed).toContainEqual({ principal: bot.principal, role: 'READ' })
  await client.projects.archive(made.id)
  expect(changes()).toBe(4)
  expect(await world.alice.projects.get(made.id)).toMatchObject({ name: 'Store', status: 'archived', version: 3 })
})

it('so are those of vaults and items', async () => {
  const vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  const { client, changes } = busyClient(vault, '/vault')
  await client.vaults.get(vault)
  const name = unique('vault')
  const made = await client.vaults.create({ name })
  expect(made).toMatchObject({ name, headVersion: 1 })
  await client.items.create(made.vaultId, { name: 'db', fields: [{ label: 'A', value: 'a' }] })
  expect(await world.alice.vaults.get(made.vaultId)).toMatchObject({ headVersion: 2, itemCount: 1 })
  expect(changes()).toBeGreaterThanOrEqual(2)
})
