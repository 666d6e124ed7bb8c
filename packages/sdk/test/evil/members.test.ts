import { afterAll, beforeAll, expect, it } from 'vitest'
import { refuseNonceReuse } from '../../src/engine/nonces.ts'
import { errorOf, unique } from '../strongroom/world.ts'
import { describeTally, runMutations } from './mutations.ts'
import { recordSessions } from './sessions.ts'
import { type SmallWorld, startSmallWorld } from './small-world.ts'

// What no signature can say no to, because a writer signed it; and honest sessions with one thing changed.
// Seen red: names exported unchecked; an answer taken that leaves the policy out of what it proves.

let world: SmallWorld
beforeAll(async () => {
  world = await startSmallWorld()
})
afterAll(() => world.close())

it.each(['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'node_options', 'DYLD_INSERT_LIBRARIES', 'GIT_CONFIG_COUNT', 'A=B'])(
  'does not let a vault set %s, whoever signed it, and gives no other variable either',
  async (label) => {
    const vault = (await world.alice.vaults.create({ name: `with ${label}` })).vaultId
    const fields = ['GOOD', label].map((name) => ({ label: name, value: 'canary', isEnvironmentVariable: true }))
    await world.alice.items.create(vault, { name: 'x', fields })
    const error = await errorOf(world.alice.secrets.env({ vault }))
    expect(error).toMatchObject({ name: 'IntegrityError', code: 'env_name_refused', details: { name: label } })
    expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('canary')
    const project = await world.alice.projects.create({ name: unique('project'), vaults: [vault] })
    expect(await errorOf(world.alice.secrets.env({ project: project.id }))).toMatchObject({ code: 'env_name_refused' })
    // One value by its name is what somebody asked for; so is a name that is allowed.
    expect((await world.alice.secrets.get(`sr://${vault}/x/GOOD`)).reveal()).toBe('canary')
    expect((await world.alice.secrets.env({ vault }, { allowNames: [label] })).names).toContain(label)
  },
)

it('lets a vault set what programs are configured with', async () => {
  const vault = (await world.alice.vaults.create({ name: 'ordinary' })).vaultId
  const labels = ['NODE_ENV', 'NODE_AUTH_TOKEN', 'GIT_TOKEN', 'PYTHON_ENV', 'DATABASE_URL', 'path.to.key', 'naïve']
  const fields = labels.map((label) => ({ label, value: 'v', isEnvironmentVariable: true }))
  await world.alice.items.create(vault, { name: 'x', fields })
  expect([...(await world.alice.secrets.env({ vault })).names].sort()).toEqual([...labels].sort())
})

it('refuses two values of one item under one nonce, and not those of two items', () => {
  const value = (fill: string) => `v3.${'A'.repeat(24)}${fill.repeat(120)}`
  const [one, other] = [value('B'), value('C')]
  const reused = (itemId: string) => () =>
    refuseNonceReuse([
      { itemId: 'a', envelope: one },
      { itemId, envelope: other },
    ])
  expect(reused('a')).toThrow(expect.objectContaining({ code: 'field_swap' }))
  expect(reused('b')).not.toThrow()
})

it('takes no harm from 500 random changes of honest sessions', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const tally = await runMutations(await recordSessions(world.url, world.founder), 500, seed)
  console.log(describeTally(tally))
  expect(tally.faults).toEqual([])
  expect(tally.refused).toBeGreaterThan(tally.same)
})
