import { money } from '@strongroom/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { outcomes } from '../../../test/people.ts'
import { buy, giveCredit, makeBuyer, makeLicenseOrg } from '../../../test/provider/license-buyer.ts'
import { inOrg } from '../../context.ts'

// What is told of a budget that had no room. Catches: nothing told, since the purchase is rolled back, and one event for each of a hundred
// refused attempts. Seen red: nothing told; the window left out of what is told once.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

it('tells once for each window that a budget had no room, to the tenant of whoever asked', async () => {
  const org = await makeLicenseOrg(h, 'acme')
  const buyer = await makeBuyer(h, org)
  await giveCredit(h, org.orgId, 1_000_000_000n)
  const manager = await h.agent(org, ['machine.budget.all'], ['TENANT_BUDGET_MANAGER'])
  const { budgetId } = await manager.client.budgets.create({
    body: { subjectType: 'agent', subjectId: buyer.agentId, windows: [{ kind: 'daily', limit: money(5n) }] },
  })
  const told = () =>
    inOrg(h.deps, org.orgId, async (db) => {
      const rows = await db
        .selectFrom('outbox_event')
        .select(['tenant_id', 'principal', 'body'])
        .where('type', '=', 'budget.exceeded')
        .orderBy('seq')
        .execute()
      return rows.map(({ body, ...scope }) => ({ ...scope, id: (JSON.parse(body) as Told).data.object.id }))
    })
  const refused = ['budget_exceeded', 'budget_exceeded', 'budget_exceeded']
  expect(await outcomes([buy(buyer), buy(buyer), buy(buyer)])).toEqual(refused)
  const once = { tenant_id: org.tenantId, principal: null, id: budgetId }
  expect(await told()).toEqual([once])
  h.advance(86_400_000)
  expect(await outcomes([buy(buyer)])).toEqual(['budget_exceeded'])
  expect(await told()).toEqual([once, once])
})

interface Told {
  readonly data: { readonly object: { readonly id: string } }
}
