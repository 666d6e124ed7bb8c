import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestAgent } from '../../../test/harness.ts'
import { seedUser } from '../../../test/people.ts'
import {
  type Buyer,
  buy,
  giveCredit,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
  takeDelivery,
  takeTurns,
} from '../../../test/provider/license-buyer.ts'
import { type ProviderScene, startProviderScene } from '../../../test/provider/provider-scene.ts'
import { PRICE } from '../../../test/provider/reference-provider.ts'
import { inOrg } from '../../context.ts'
import { type EventScope, heardBy } from '../../outbox/listeners.ts'

// Who hears of purchases, licences and budgets is who could read them. Catches: somebody of the same tenant who hears what others buy, or how
// full the budget of somebody else is; the buyer, or who manages the money, hearing nothing; a budget of everybody told to the tenant of who
// spent. Seen red: licences told to the tenant; the buyer left out at the beginning, of a licence, of a termination; budgets of one principal
// told to the tenant, and to nobody who manages them; thresholds told to the tenant of who spent; a hold told as a bare number.

let scene: ProviderScene
let org: LicenseOrg
let buyer: Buyer
let colleague: Buyer
let manager: TestAgent
beforeAll(async () => {
  scene = await startProviderScene()
  org = await makeLicenseOrg(scene.h, 'acme')
  buyer = await makeBuyer(scene.h, org)
  colleague = await makeBuyer(scene.h, org, 'deployNext')
  manager = await scene.h.agent(org, ['machine.all'], ['TENANT_BUDGET_MANAGER'])
  await giveCredit(scene.h, org.orgId, 1000n * PRICE)
})
afterAll(async () => {
  await scene.provider.close()
  await scene.h.close()
})

const inDb = <T>(work: Parameters<typeof inOrg<T>>[2]) => inOrg(scene.h.deps, org.orgId, work)
const eventsLike = (pattern: string): Promise<EventScope[]> =>
  inDb(async (db) => {
    const { rows } = await sql<EventScope>`
      select type, tenant_id as "tenantId", vault_id as "vaultId", principal from outbox_event
      where type like ${pattern} order by seq`.execute(db)
    return rows
  })
const heard = async (principal: string, pattern: string): Promise<string[]> => {
  const { rows } = await inDb((db) =>
    sql<{ keyId: string }>`
      select key_id as "keyId" from api_key where org_id = ${org.orgId} and 'agent:' || agent_id = ${principal}`.execute(
      db,
    ),
  )
  const owner = { principal, keyId: rows[0]?.keyId ?? null }
  const events = await eventsLike(pattern)
  const told = await inDb((db) => heardBy(db, org.orgId, owner, events, scene.h.deps.now()))
  return told.map(({ type }) => type)
}
const MONEY = { currency: 'USD', scale: 6, amount: expect.stringMatching(/^-?[0-9]+$/) }
const agentOf = ({ agentId }: { readonly agentId: string }): string => `agent:${agentId}`

it('tells of what was bought its buyer, and who manages the money, and nobody else of the tenant', async () => {
  const { purchaseId, licenseInstanceId } = await buy(buyer, 'mail-pro')
  await takeTurns(scene.h, scene.providers)
  await takeDelivery(scene.h, buyer, purchaseId)
  await buyer.client.licenses.terminate({ body: { licenseInstanceId } })
  await takeTurns(scene.h, scene.providers)
  const types = (await eventsLike('license.%')).map(({ type }) => type)
  expect(types).toEqual(
    expect.arrayContaining([
      ...['license.purchase.reserved', 'license.activated', 'license.purchase.completed'],
      ...['license.termination.requested', 'license.termination.completed', 'license.terminated'],
    ]),
  )
  const { userId } = await seedUser(scene.h, org, { orgRoles: ['ORG_BILLING_MANAGER'] })
  expect(await heard(agentOf(buyer), 'license.%')).toEqual(types)
  expect(await heard(`user:${userId}`, 'license.%')).toEqual(types)
  expect(await heard(agentOf(colleague), 'license.%')).toEqual([])
  expect(await heard(agentOf(manager), 'license.%')).toEqual([])
})

it('says amounts as the API does: with their currency and scale', async () => {
  const { rows } = await inDb((db) =>
    sql<{ type: string; amount: unknown }>`
      select type, body::jsonb -> 'data' -> 'object' -> 'amount' as amount from outbox_event
      where body::jsonb -> 'data' -> 'object' ? 'amount' order by seq`.execute(db),
  )
  expect(rows.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['billing.hold.created', 'billing.charge.posted']),
  )
  for (const { type, amount } of rows) expect([type, amount]).toEqual([type, expect.objectContaining(MONEY)])
})

it('tells of a budget whom it binds and who manages it, whoever spends', async () => {
  const windows = [{ kind: 'total', limit: money(2n * PRICE) } as const]
  const make = (subjectType: 'agent' | 'org', subjectId: string, limit = windows) =>
    org.founder.client.budgets.create({ body: { subjectType, subjectId, windows: limit } })
  await make('agent', buyer.agentId)
  await buy(buyer, 'mail-pro')
  const own = ['budget.created', 'budget.threshold_reached']
  for (const who of [buyer, manager]) expect(await heard(agentOf(who), 'budget.%')).toEqual(own)
  expect(await heard(agentOf(colleague), 'budget.%')).toEqual([])
  // Of everybody: those of another tenant see it as well.
  const { tenantId } = await org.founder.client.tenants.create({ body: { name: 'next door' } })
  const neighbour = await scene.h.agent({ orgId: org.orgId, tenantId }, ['machine.all'])
  await make('org', org.orgId)
  await buy(buyer, 'mail-pro')
  expect(await heard(agentOf(neighbour), 'budget.threshold_reached')).toEqual(['budget.threshold_reached'])
  await expect(buy(colleague, 'mail-pro').then(() => buy(colleague, 'mail-pro'))).rejects.toMatchObject({
    code: 'budget_exceeded',
  })
  expect(await heard(agentOf(neighbour), 'budget.exceeded')).toEqual(['budget.exceeded'])
})
