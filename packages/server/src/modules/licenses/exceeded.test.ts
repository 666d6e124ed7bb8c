import { money } from '@strongroom/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { outcomes, refusal } from '../../../test/people.ts'
import { buy, giveCredit, makeBuyer, makeLicenseOrg } from '../../../test/provider/license-buyer.ts'
import { inOrg } from '../../context.ts'

// What is told of a budget that had no room. Catches: nothing told, since the purchase is rolled back, and one event for each of a hundred
// refused attempts; and a budget that is shown in a refusal to who may not read budgets. Seen red: nothing told; the window left out of what
// is told once; the refusal answered as it is, where it was told of before and where not; the id of another window.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

it('tells once for each window that a budget had no room, those who see the budget', async () => {
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
  const once = { tenant_id: org.tenantId, principal: `agent:${buyer.agentId}`, id: budgetId }
  expect(await told()).toEqual([once])
  h.advance(86_400_000)
  expect(await outcomes([buy(buyer)])).toEqual(['budget_exceeded'])
  expect(await told()).toEqual([once, once])
})

it('names the budget and its window to who may read budgets, and to others only whose it is', async () => {
  const org = await makeLicenseOrg(h, 'numbers')
  await giveCredit(h, org.orgId, 1_000_000_000n)
  const readers = await makeBuyer(h, org)
  const others = await makeBuyer(h, org, 'bob', ['machine.license.all', 'machine.vault.all', 'machine.key.all'])
  const requested = '12500000'
  const windows = [
    { kind: 'daily', limit: money(5n) },
    { kind: 'rolling', duration: 'P1D', limit: money(5n) },
  ] as const
  for (const window of windows) {
    const subject = { subjectType: 'tenant', subjectId: org.tenantId } as const
    const { client } = org.founder
    const { budgetId, activeWindows } = await client.budgets.create({ body: { ...subject, windows: [window] } })
    const { windowId } = activeWindows[0] ?? {}
    // The first is told of as well, and refused on another way than the next.
    for (let i = 0; i < 2; i++)
      expect((await refusal(buy(others))).details).toEqual({ subjectType: 'tenant', requested })
    const { details } = await refusal(buy(readers))
    expect(details).toMatchObject({ ...subject, budgetId, windowId, requested, remaining: '5' })
    await client.budgets.update({ params: { id: budgetId }, body: { status: 'archived' } })
  }
  const perTransactionLimit = money(1n)
  await org.founder.client.budgets.create({
    body: { subjectType: 'org', subjectId: org.orgId, windows: [windows[0]], perTransactionLimit },
  })
  const limited = await refusal(buy(others))
  expect([limited.code, limited.details]).toEqual(['budget_transaction_limit', { subjectType: 'org', requested }])
  expect((await refusal(buy(readers))).details).toMatchObject({ subjectType: 'org', limit: '1' })
})

interface Told {
  readonly data: { readonly object: { readonly id: string } }
}
