import { randomUUID } from 'node:crypto'
import { money } from '@strongroom/contract'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import type { TestAgent } from '../../../test/harness.ts'
import { seedUser } from '../../../test/people.ts'
import { edit, makeVault, type Writer, writeItems } from '../../../test/vault-writer.ts'
import type { Received } from '../../../test/webhook-receiver.ts'
import { idsOf, only, type Scene, startScene } from '../../../test/webhook-scene.ts'
import { inOrg } from '../../context.ts'
import { emit } from '../../outbox/outbox.ts'

// Who hears of what: what the key could read at the moment of the delivery, and nothing that did not happen. Catches: events of another
// organisation, tenant or vault, events after a key, a permission or an access entry is gone, events of work that was rolled back.
// Seen red: no look at the moment of the delivery, none at the fan-out, keys that have ended taken for alive, agents that have expired too.

let scene: Scene
let { h, receiver, alice, agent, make, deliver, happen, historyOf } = {} as Scene
let bot: TestAgent & Writer
beforeAll(async () => {
  scene = await startScene()
  ;({ h, receiver, alice, agent, make, deliver, happen, historyOf } = scene)
  bot = await agentWriter(h, alice, 'deploy')
})
afterAll(() => scene.close())
beforeEach(() => scene.clear())

const typesOf = (received: readonly Received[]): string[] =>
  received.map(({ body }) => (JSON.parse(body.toString()) as { type: string }).type)
const at = (path: string): Received[] => receiver.received.filter((one) => one.path === path)

it('tells of an event exactly those who hold its permission and work where it happened', async () => {
  const { tenantId } = await alice.client.tenants.create({ body: { name: 'next door' } })
  const neighbour = await h.agent({ orgId: alice.orgId, tenantId }, ['machine.all'])
  const foreign = await h.agent(await h.org('other'), ['machine.all'])
  const poor = await h.agent(alice, ['machine.webhook.all'])
  const person = await seedUser(h, alice, { orgRoles: ['ORG_BILLING_MANAGER'] })
  const listeners = { agent, neighbour, foreign, poor, person }
  for (const [name, by] of Object.entries(listeners)) await make(['*'], { by, url: `${receiver.url}/${name}` })
  await happen('budget.created')
  await happen('budget.updated', { tenantId: alice.tenantId })
  await happen('budget.exceeded', { principal: `agent:${neighbour.agentId}` })
  await happen('billing.balance.low')
  await deliver()
  const heard = Object.fromEntries(Object.keys(listeners).map((name) => [name, typesOf(at(`/${name}`)).sort()]))
  expect(heard).toEqual({
    agent: ['budget.created', 'budget.updated'],
    neighbour: ['billing.balance.low', 'budget.created', 'budget.exceeded'],
    foreign: [],
    poor: [],
    person: ['billing.balance.low', 'budget.created', 'budget.exceeded', 'budget.updated'],
  })
  // History is as silent as the deliveries were.
  expect((await poor.client.webhooks.list()).data).toHaveLength(1)
  const [own] = (await poor.client.webhooks.list()).data
  expect(own && (await historyOf(own, poor))).toEqual([])
})

it('tells of the budget of somebody who works in no tenant nobody but them', async () => {
  const { userId } = await seedUser(h, alice, { tenantRoles: [] })
  await make(['budget.*'])
  const body = { subjectType: 'user', subjectId: userId, windows: [{ kind: 'daily', limit: money(5n) }] } as const
  const { budgetId } = await alice.client.budgets.create({ body: { ...body, windows: [...body.windows] } })
  await deliver()
  expect(receiver.received).toEqual([])
  const told = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('outbox_event').select(['tenant_id', 'principal']).where('body', 'like', `%${budgetId}%`).execute(),
  )
  expect(told).toEqual([{ tenant_id: null, principal: `user:${userId}` }])
})

it('tells of vault changes those on the list of the vault, from the moment they listen', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  await writeItems(alice, vaultId, [edit('itm_before', { A: '1' })])
  await deliver()
  const hook = await make(['vault.*', 'vault_item.*'], { by: bot })
  const hidden = await makeVault(alice, { name: 'not for the agent' })
  await writeItems(alice, hidden, [edit('itm_hidden', { A: '1' })])
  await writeItems(alice, vaultId, [edit('itm_seen', { SECRET_LABEL: 'secret value' })])
  await writeItems(alice, vaultId, [edit('itm_seen', { SECRET_LABEL: 'another value' })])
  await deliver()
  const bodies = receiver.received.map(({ body }) => JSON.parse(body.toString()))
  expect(bodies.map(({ type }) => type).sort()).toEqual(['vault_item.created', 'vault_item.updated'])
  expect(bodies[0].data.object).toMatchObject({ type: 'vault_item', id: 'itm_seen', vaultId })
  expect(bodies.map(({ sequence }) => sequence).sort()).toEqual([1, 2])
  expect(JSON.stringify(bodies)).not.toMatch(/SECRET_LABEL|secret value|not for the agent/)
  receiver.answer((response) => response.writeHead(500).end())
  await writeItems(alice, vaultId, [edit('itm_later', { LATER: '1' })])
  await deliver()
  await inOrg(h.deps, alice.orgId, (db) =>
    db.updateTable('vault_access').set({ role: null }).where('principal', '=', `agent:${bot.agentId}`).execute(),
  )
  h.advance(10_000)
  await deliver()
  expect(receiver.received.filter(({ body }) => body.includes('itm_later'))).toHaveLength(1)
  const states = (await historyOf(hook, bot)).map(({ state }) => state)
  expect(states.sort()).toEqual(['delivered', 'delivered', 'discarded'])
})

it('discards what its key may no longer read when it is to be sent again', async () => {
  receiver.answer((response) => response.writeHead(500).end())
  const hook = await make(['budget.*'])
  await happen()
  await deliver()
  expect(only(await historyOf(hook)).state).toBe('retrying')
  await alice.client.agents.update({ params: { id: agent.agentId }, body: { permissions: ['machine.webhook.all'] } })
  h.advance(10_000)
  await deliver()
  expect(receiver.received).toHaveLength(1)
  expect(only(await historyOf(hook)).state).toBe('discarded')
  await alice.client.agents.update({
    params: { id: agent.agentId },
    body: { permissions: ['machine.webhook.all', 'machine.budget.read', 'machine.vault.read'] },
  })
})

it('sends nothing more for a key that has ended; the next key of the agent can enable the endpoint again', async () => {
  const own = await h.agent(alice, ['machine.webhook.all', 'machine.budget.read'])
  const hook = await make(['budget.*'], { by: own })
  await happen()
  const { apiKey } = await alice.client.agents.regenerateApiKey({ params: { id: own.agentId } })
  await happen()
  await deliver()
  expect(receiver.received).toEqual([])
  const renewed = { client: scene.clientOf(apiKey ?? '') }
  const [before] = (await renewed.client.webhooks.list()).data
  expect(before).toMatchObject({ webhookId: hook.webhookId, status: 'disabled', disabledReason: 'key_ended' })
  await renewed.client.webhooks.update({ params: { id: hook.webhookId }, body: { status: 'active' } })
  await happen()
  await deliver()
  expect(receiver.received).toHaveLength(1)
  receiver.answer((response) => response.writeHead(500).end())
  await happen()
  await deliver()
  await alice.client.agents.archive({ params: { id: own.agentId } })
  h.advance(10_000)
  await deliver()
  expect(receiver.received).toHaveLength(2)
  const row = await inOrg(h.deps, alice.orgId, (db) =>
    db
      .selectFrom('webhook_endpoint')
      .select(['status', 'disabled_reason'])
      .where('endpoint_id', '=', hook.webhookId)
      .executeTakeFirstOrThrow(),
  )
  expect(row).toEqual({ status: 'disabled', disabled_reason: 'key_ended' })
})

it('sends nothing more for an agent that has expired, not even what was to be sent again', async () => {
  const own = await h.agent(alice, ['machine.webhook.all', 'machine.budget.read'])
  const other = await h.agent(alice, ['machine.webhook.all', 'machine.budget.read'])
  const expiresAt = new Date(h.deps.now().getTime() + 60_000).toISOString()
  for (const { agentId: id } of [own, other]) await alice.client.agents.update({ params: { id }, body: { expiresAt } })
  const again = await make(['budget.*'], { by: own, url: `${receiver.url}/again` })
  receiver.answer((response) => response.writeHead(500).end())
  await happen()
  await deliver()
  expect(at('/again')).toHaveLength(1)
  const later = await make(['budget.*'], { by: other, url: `${receiver.url}/later` })
  h.advance(120_000)
  receiver.answer((response) => response.writeHead(204).end())
  await deliver()
  await happen()
  await deliver()
  expect([at('/again').length, at('/later').length]).toEqual([1, 0])
  const rows = await inOrg(h.deps, alice.orgId, (db) =>
    db
      .selectFrom('webhook_endpoint')
      .select(['status', 'disabled_reason'])
      .where('endpoint_id', 'in', [again.webhookId, later.webhookId])
      .execute(),
  )
  expect(rows).toEqual(Array(2).fill({ status: 'disabled', disabled_reason: 'key_ended' }))
})

it('says nothing of work that was rolled back, and everything that was committed once', async () => {
  await make(['budget.*'])
  const committed: string[] = []
  const one = (type: 'budget.created', fails: boolean) =>
    inOrg(h.deps, alice.orgId, async (db) => {
      const id = await emit(h.deps, db, alice.orgId, { type, object: { type: 'budget', id: randomUUID() } })
      if (fails) throw new Error('rolled back')
      return id
    }).then(
      (id) => committed.push(id),
      () => undefined,
    )
  await Promise.all(Array.from({ length: 60 }, (_, i) => one('budget.created', i % 3 === 0)))
  await deliver()
  expect(idsOf(receiver.received).sort()).toEqual(committed.sort())
  expect(committed).toHaveLength(40)
})

it('tells of agents as they come, change their keys and go', async () => {
  await make(['agent.*'], { by: alice, url: `${receiver.url}/agents` })
  const { agent: made } = await alice.client.agents.create({ body: { name: 'short-lived', permissions: [] } })
  await alice.client.agents.regenerateApiKey({ params: { id: made.agentId } })
  await alice.client.agents.archive({ params: { id: made.agentId } })
  await deliver()
  const told = at('/agents').map(({ body }) => JSON.parse(body.toString()))
  expect(told.map(({ type, data }) => [type, data.object.id, data.object.status]).sort()).toEqual([
    ['agent.api_key_rotated', made.agentId, 'active'],
    ['agent.archived', made.agentId, 'archived'],
    ['agent.created', made.agentId, 'active'],
  ])
})
