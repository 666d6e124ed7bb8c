import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg, outcomes, refusal } from '../../../test/people.ts'
import { makeVault, type Writer } from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'

// Catches, each seen red: a group read or deleted from another tenant, vaults shown in it that the caller does not read, such
// vaults taken in, and vaults taken out that the caller does not see.

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
let neighbour: TestAgent
let foreign: TestAgent
let mine: string
let shared: string
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
  const { tenantId } = await alice.client.tenants.create({ body: { name: 'next door', parentId: alice.tenantId } })
  neighbour = await h.agent({ orgId: alice.orgId, tenantId }, ['machine.all'])
  foreign = await h.agent(await h.org('other'), ['machine.all'])
  mine = await makeVault(alice)
  shared = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
})
afterAll(() => h.close())

type Caller = Pick<TestAgent, 'client'>
const make = (name: string, vaults: string[], { client }: Caller = alice) =>
  client.vaultGroups.create({ body: { name, vaults } })
const read = ({ client }: Caller, id: string) => client.vaultGroups.get({ params: { id } })
const stored = () =>
  inOrg(h.deps, alice.orgId, async (db) =>
    JSON.stringify([
      await db.selectFrom('vault_group').selectAll().orderBy('vault_group_id').execute(),
      await db.selectFrom('vault_group_member').selectAll().orderBy('vault_group_id').orderBy('vault_id').execute(),
    ]),
  )

it('shows a group to everybody in its tenant, and in it to each the vaults they read', async () => {
  const { vaultGroupId: id, ...made } = await make('production', [mine, shared])
  expect(made).toMatchObject({ name: 'production', vaults: [mine, shared].sort(), domainTenantId: alice.tenantId })
  expect(await read(bot, id)).toMatchObject({ name: 'production', vaults: [shared] })
  expect(await bot.client.vaultGroups.list({ query: { page: 1 } })).toMatchObject({
    data: [{ vaultGroupId: id, vaults: [shared] }],
    meta: { total: 1 },
  })
})

it('does not exist for another tenant or organisation', async () => {
  const { vaultGroupId } = await make('hidden', [mine])
  const before = await stored()
  for (const { client } of [neighbour, foreign]) {
    expect(await client.vaultGroups.list({ query: { page: 1 } })).toMatchObject({ data: [], meta: { total: 0 } })
    for (const id of [vaultGroupId, 'vgr_0000000000000000000000'])
      expect(
        new Set(
          await outcomes([
            client.vaultGroups.get({ params: { id } }),
            client.vaultGroups.update({ params: { id }, body: { name: 'taken over', vaults: [] } }),
            client.vaultGroups.remove({ params: { id } }),
          ]),
        ),
      ).toEqual(new Set(['vault_group_not_found']))
  }
  expect(await stored()).toBe(before)
})

it('takes in only vaults that the caller reads, absent and invisible ones refused alike; nothing changes', async () => {
  const { vaultGroupId: id } = await make('careful', [shared])
  const before = await stored()
  const update = (vaults: string[]) => bot.client.vaultGroups.update({ params: { id }, body: { name: 'new', vaults } })
  const bodies = [await refusal(update([mine])), await refusal(update([`v${'a'.repeat(32)}`]))]
  expect(bodies[0]).toMatchObject({ status: 404, code: 'vault_not_found' })
  expect(bodies[1]).toEqual(bodies[0])
  expect(await codeOf(make('other', [mine], bot))).toBe('vault_not_found')
  expect(await codeOf(make('twice', [mine, mine]))).toBe('validation_failed')
  expect(await stored()).toBe(before)
})

it('replaces what the caller sees and leaves what the caller does not see', async () => {
  const { vaultGroupId: id } = await make('mixed', [mine, shared])
  const emptied = await bot.client.vaultGroups.update({ params: { id }, body: { vaults: [] } })
  expect(emptied.vaults).toEqual([])
  expect((await read(alice, id)).vaults).toEqual([mine])
  const filled = await alice.client.vaultGroups.update({ params: { id }, body: { vaults: [shared] } })
  expect(filled).toMatchObject({ name: 'mixed', vaults: [shared] })
})

it('has each name once in a tenant, also when sixteen ask for it at once', async () => {
  const ended = await outcomes(Array.from({ length: 16 }, () => make('wanted', [])))
  expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(ended)).toEqual(new Set(['ok', 'name_taken']))
  expect((await make('wanted', [], neighbour)).name).toBe('wanted')
  const others = await Promise.all(Array.from({ length: 12 }, (_, i) => make(`wants ${i}`, [])))
  const renamed = await outcomes(
    others.map(({ vaultGroupId: id }) =>
      alice.client.vaultGroups.update({ params: { id }, body: { name: 'one winner', vaults: [mine] } }),
    ),
  )
  expect(renamed.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(renamed)).toEqual(new Set(['ok', 'name_taken']))
  const { data } = await alice.client.vaultGroups.list()
  expect(data.filter(({ vaults }) => vaults.includes(mine)).map(({ name }) => name)).toContain('one winner')
  expect(data.filter(({ name }) => /^wants/.test(name)).flatMap(({ vaults }) => vaults)).toEqual([])
})

it('is renamed and deleted without its vaults noticing, and each change is recorded', async () => {
  const { vaultGroupId: id } = await make('passing', [mine])
  expect((await alice.client.vaultGroups.update({ params: { id }, body: { name: 'passed' } })).vaults).toEqual([mine])
  expect(await alice.client.vaultGroups.remove({ params: { id } })).toEqual({ vaultGroupId: id })
  expect(await codeOf(read(alice, id))).toBe('vault_group_not_found')
  expect((await alice.client.vaults.get({ params: { vaultId: mine } })).vault.status).toBe('active')
  const { data } = await alice.client.monitoring.auditEvents({})
  const about = data.filter(({ targets }) => targets.some((target) => target.id === id)).map(({ action }) => action)
  expect(about.sort()).toEqual(['vault-group.create', 'vault-group.remove', 'vault-group.update'])
})
