import { money } from '@strongroom/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { outcomes } from '../../../test/people.ts'
import { inOrg } from '../../context.ts'
import { applyTransfers, type Transfer } from '../../ledger/ledger.ts'

// Catches: credit of another organisation, a hold that is not listed, a sign or a running balance that is wrong, a readiness that says
// yes to who would be refused. Seen red: movements between others listed, a release shown as spent, a full budget not looked at, keys not looked at.

let h: Harness
let acme: { orgId: string; tenantId: string }
let agent: TestAgent
let foreign: TestAgent
beforeAll(async () => {
  h = await startHarness()
  acme = await h.org('acme')
  agent = await h.agent(acme, ['machine.billing.read'])
  foreign = await h.agent(await h.org('other'), ['machine.billing.read'])
  const about = (id: string, code: Transfer['code'], ref: string) => ({
    id,
    group: id,
    code,
    refType: 'test',
    refId: ref,
  })
  await inOrg(h.deps, acme.orgId, (db) =>
    applyTransfers(
      db,
      acme.orgId,
      [
        { ...about('fund:1', 'funding', 'fi_1'), phase: 'single', dr: 'clearing:test', cr: 'credit', amount: 1000n },
        { ...about('hold:1', 'purchase', 'pur_1'), phase: 'pending', dr: 'credit', cr: 'payable:x', amount: 400n },
        { ...about('hold:2', 'purchase', 'pur_2'), phase: 'pending', dr: 'credit', cr: 'payable:x', amount: 100n },
        { ...about('post:1', 'purchase', 'pur_1'), phase: 'post', pendingId: 'hold:1', amount: 350n },
        { ...about('void:2', 'purchase', 'pur_2'), phase: 'void', pendingId: 'hold:2' },
        { ...about('charge:1', 'charge', 'lic_1'), phase: 'single', dr: 'credit', cr: 'payable:x', amount: 50n },
        { ...about('refund:1', 'refund', 'ter_1'), phase: 'single', dr: 'payable:x', cr: 'credit', amount: 20n },
        // Between others: none of the organisation's business.
        { ...about('inner:1', 'adjustment', 'x'), phase: 'single', dr: 'payable:x', cr: 'margin', amount: 5n },
        { ...about('hold:3', 'purchase', 'pur_3'), phase: 'pending', dr: 'credit', cr: 'payable:x', amount: 20n },
      ],
      h.deps.now(),
    ),
  )
})
afterAll(() => h.close())

it('shows what was paid in, what is held and what is left', async () => {
  expect(await agent.client.billing.balance()).toEqual({
    posted: money(620n),
    held: money(20n),
    available: money(600n),
    incoming: money(0n),
  })
  expect(await foreign.client.billing.balance()).toMatchObject({ posted: money(0n), available: money(0n) })
})

it('lists every movement of the credit, newest first, with the balance after it', async () => {
  const { data, meta } = await agent.client.billing.creditTransactions()
  expect(meta).toBeUndefined()
  const rows = data.map(({ type, amount, balanceAfter, availableAfter, ref }) =>
    [type, amount.amount, balanceAfter.amount, availableAfter.amount, ref.id].join(' '),
  )
  expect(rows).toEqual([
    'hold -20 620 600 pur_3',
    'refund 20 620 620 ter_1',
    'charge -50 600 600 lic_1',
    'release 100 650 650 pur_2',
    'capture -350 650 550 pur_1',
    'hold -100 1000 500 pur_2',
    'hold -400 1000 600 pur_1',
    'funding 1000 1000 1000 fi_1',
  ])
})

it('gives pages with a truthful count, and nothing of another organisation', async () => {
  const page = await agent.client.billing.creditTransactions({ query: { page: 2, limit: 3 } })
  expect(page.data.map(({ type }) => type)).toEqual(['release', 'capture', 'hold'])
  expect(page.meta).toEqual({ total: 8, page: 2, limit: 3, totalPages: 3 })
  expect(await foreign.client.billing.creditTransactions({ query: { page: 1 } })).toMatchObject({
    data: [],
    meta: { total: 0 },
  })
})

it('says what is missing for a purchase, each with what to do', async () => {
  const { ready, checks } = await foreign.client.billing.readiness()
  expect(ready).toBe(false)
  const failed = checks.filter(({ ok }) => !ok)
  expect(failed.map(({ code }) => code)).toEqual([
    'credit_available',
    'funding_rail_configured',
    'recipient_key_registered',
  ])
  for (const { message, action } of failed)
    expect([message.length > 0, (action ?? '').length > 0]).toEqual([true, true])
  const mine = await agent.client.billing.readiness()
  expect(mine.checks.map(({ code, ok }) => `${code} ${ok}`)).toEqual([
    'credit_available true',
    'funding_rail_configured true',
    'tenant_active true',
    'budget_headroom true',
    'recipient_key_registered false',
  ])
  const manager = await h.agent(acme, ['machine.budget.all'], ['TENANT_BUDGET_MANAGER'])
  const { budgetId } = await manager.client.budgets.create({
    body: { subjectType: 'agent', subjectId: agent.agentId, windows: [{ kind: 'daily', limit: money(0n) }] },
  })
  const bound = await agent.client.billing.readiness()
  const [headroom] = bound.checks.filter(({ code }) => code === 'budget_headroom')
  expect(headroom).toMatchObject({ ok: false, message: `Budget ${budgetId} has nothing left.` })
})

it('is refused to who lacks the permission', async () => {
  const { client } = await h.agent(acme, ['machine.budget.all'])
  expect(
    await outcomes([client.billing.balance(), client.billing.creditTransactions(), client.billing.readiness()]),
  ).toEqual(Array(3).fill('machine_permission_denied'))
})
