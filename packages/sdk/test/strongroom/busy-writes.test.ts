import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { startWorld, unique, type World } from './world.ts'

// Changes while other reads of the same client go on. Catches: a change that is in and yet ends in an alarm, because it was asked for
// again and the server answered as before, with a proof for what the client knew before. Seen red: the change repeated, of each kind; a vault asked for with what was known before.

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

const CHANGES: Readonly<Record<string, (client: Strongroom, id: string) => Promise<unknown>>> = {
  update: (client, id) => client.projects.update(id, { name: 'Store' }),
  share: async (client, id) => {
    const { principal } = await world.agent('deploy')
    const listed = await client.permissions.grant({ project: id }, { principal, role: 'ADMIN' })
    expect(listed).toContainEqual({ principal, role: 'ADMIN' })
  },
  archive: (client, id) => client.projects.archive(id),
}

async function busy(part: '/project' | '/vault') {
  const vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  const made = busyClient(vault, part)
  await made.client.vaults.get(vault)
  return made
}

it.each(Object.keys(CHANGES))(
  'of a project are made once, although the log has grown before them: %s',
  async (kind) => {
    const { client, changes } = await busy('/project')
    const slug = unique('shop')
    const { id } = await world.alice.projects.create({ name: 'Shop', slug })
    await CHANGES[kind]?.(client, id)
    expect(changes()).toBe(1)
    expect(await world.alice.projects.get(id)).toMatchObject({
      name: kind === 'update' ? 'Store' : 'Shop',
      status: kind === 'archive' ? 'archived' : 'active',
    })
  },
)

it('that make a project are made once, too', async () => {
  const { client, changes } = await busy('/project')
  const slug = unique('shop')
  expect(await client.projects.create({ name: 'Shop', slug })).toMatchObject({ slug, version: 1, isVerified: true })
  expect(changes()).toBe(1)
})

it('of vaults and items are taken, too', async () => {
  const { client, changes } = await busy('/vault')
  const name = unique('vault')
  const made = await client.vaults.create({ name })
  expect(made).toMatchObject({ name, headVersion: 1 })
  await client.items.create(made.vaultId, { name: 'db', fields: [{ label: 'A', value: 'a' }] })
  expect(await world.alice.vaults.get(made.vaultId)).toMatchObject({ headVersion: 2, itemCount: 1 })
  expect(changes()).toBeGreaterThanOrEqual(2)
})
