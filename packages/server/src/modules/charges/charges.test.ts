import { money } from '@strongroom/contract'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { differenceIn, steps } from '../../../test/money/charge-model.ts'
import { endLicense, giveLicense, takeChargeTurns } from '../../../test/money/charge-world.ts'
import { codeOf } from '../../../test/people.ts'
import { inOrg } from '../../context.ts'
import { monthAfter } from '../../licenses/proration.ts'
import { dayOf, endOf, monthOf } from './rules.ts'
import { takeLineTurn, takeMonthTurn } from './turns.ts'

// Catches: a month that changes after it was closed, a day that is charged twice or never, charges of others, sums that are not those of
// the lines. Seen red: a month closed before its last lines; late lines put into their old month; the buyer not looked at; the filter on
// the tenant left out; two workers that take the same period.

const DAY_MS = 86_400_000
let h: Harness
let acme: { orgId: string; tenantId: string }
let agent: TestAgent
beforeAll(async () => {
  h = await startHarness()
  acme = await h.org('acme')
  agent = await h.agent(acme, ['machine.billing.read'])
})
afterAll(() => h.close())

const read = (who: Pick<TestAgent, 'client'>, query: Record<string, string | number | boolean> = {}) =>
  who.client.billing.distributorCharges({ query })
const own = (orgId: string, tenantId: string, buyer: string, amount: bigint, startsAt = h.deps.now()) =>
  giveLicense(h, { orgId, tenantId, buyer, startsAt, endsAt: monthAfter(startsAt), amount })
/** The first of the next month, in the middle of the day: a month lies ahead. */
function toNextMonth(): Date {
  const end = endOf(monthOf(dayOf(h.deps.now())))
  h.advance(end.getTime() + DAY_MS / 2 - h.deps.now().getTime())
  return h.deps.now()
}
const turns = () => takeChargeTurns(h)

it('shows a month with subtotals and a line for each day that has begun', async () => {
  const org = await h.org('daily')
  const who = await h.agent(org, ['machine.billing.read'])
  const from = toNextMonth()
  const id = await own(org.orgId, org.tenantId, `agent:${who.agentId}`, 31_000_003n)
  const once = await giveLicense(h, {
    ...{ ...org, buyer: `agent:${who.agentId}`, startsAt: from, endsAt: null, amount: 5_000_000n },
  })
  await turns()
  h.advance(2 * DAY_MS)
  await turns()
  const month = monthOf(dayOf(from))
  const shown = await read(who, { month, includeLines: true })
  expect(shown).toMatchObject({ month, status: 'open' })
  const [first, second] = shown.licenses.toSorted(
    (a, b) => Number(a.licenseInstanceId === once) - Number(b.licenseInstanceId === once),
  )
  expect(first?.lines?.map(({ date, kind, state }) => `${date} ${kind} ${state}`)).toEqual(
    [0, 1, 2].map((days) => `${dayOf(new Date(from.getTime() + days * DAY_MS))} recurring estimated`),
  )
  expect(second?.lines?.map(({ kind, amount }) => `${kind} ${amount.amount}`)).toEqual(['setup 5000000'])
  const total = shown.licenses.reduce((sum, { subtotal }) => sum + BigInt(subtotal.amount), 0n)
  expect(shown.total).toEqual(money(total))
  expect(first?.breakdown.recurring).toEqual(first?.subtotal)
  expect(second?.breakdown).toMatchObject({ setup: money(5_000_000n), recurring: money(0n) })
  const plain = await read(who)
  expect(plain.licenses.map((one) => 'lines' in one)).toEqual([false, false])
  const page = await read(who, { page: 2, limit: 1 })
  expect([page.licenses.length, page.meta, page.total]).toEqual([
    1,
    { total: 2, page: 2, limit: 1, totalPages: 2 },
    shown.total,
  ])
  const filtered = await read(who, { licenseInstanceId: id })
  expect([filtered.licenses.length, filtered.total]).toEqual([1, first?.subtotal])
  expect(await read(who, { licenseInstanceId: 'lic_of_nobody' })).toMatchObject({ licenses: [], total: money(0n) })
})

it('shows everybody only what they may see, and nothing of another organisation', async () => {
  const other = await h.org('others')
  const foreign = await h.agent(other, ['machine.all'], ['TENANT_BUDGET_MANAGER'])
  const colleague = await h.agent(acme, ['machine.billing.read'])
  const manager = await h.agent(acme, ['machine.billing.read'], ['TENANT_BUDGET_MANAGER'])
  const mine = await own(acme.orgId, acme.tenantId, `agent:${agent.agentId}`, 3_000_000n)
  await own(acme.orgId, 'ten_elsewhere', 'agent:somebody', 3_000_000n)
  await turns()
  const seen = async (who: TestAgent) => (await read(who)).licenses.map(({ licenseInstanceId }) => licenseInstanceId)
  expect(await seen(agent)).toEqual([mine])
  expect(await seen(colleague)).toEqual([])
  expect(await seen(manager)).toEqual([mine])
  expect(await seen(foreign)).toEqual([])
  expect((await read(foreign, { licenseInstanceId: mine, tenantId: acme.tenantId })).total).toEqual(money(0n))
  expect((await read(manager, { tenantId: 'ten_elsewhere' })).licenses).toEqual([])
  const mute = await h.agent(acme, ['machine.license.all'])
  expect(await codeOf(read(mute))).toBe('machine_permission_denied')
  expect(await codeOf(read(agent, { month: '2026-13' }))).toBe('validation_failed')
  expect(await codeOf(read(agent, { month: monthOf(dayOf(new Date(h.deps.now().getTime() + 40 * DAY_MS))) }))).toBe(
    'invalid_month',
  )
})

it('closes a month two days after its end, once, and puts what comes later into the month it comes in', async () => {
  const org = await h.org('closing')
  const who = await h.agent(org, ['machine.all'])
  const buyer = `agent:${who.agentId}`
  const from = toNextMonth()
  const month = monthOf(dayOf(from))
  const id = await own(org.orgId, org.tenantId, buyer, 30_000_000n)
  // Nobody works until the month is over: what is due is written before it is closed.
  h.advance(endOf(month).getTime() + 3 * DAY_MS - h.deps.now().getTime())
  while (await takeMonthTurn(h.deps, h.worker));
  expect((await read(who, { month })).status).toBe('closing')
  await Promise.all([turns(), turns()])
  h.advance(2 * 60_000)
  await Promise.all([turns(), turns()])
  const closed = await read(who, { month, includeLines: true })
  expect(closed.status).toBe('final')
  expect(new Set(closed.licenses[0]?.lines?.map(({ state }) => state))).toEqual(new Set(['final']))
  // It was ended in the month that is closed, and a day of another licence comes late.
  await endLicense(h, org.orgId, id, { until: new Date(from.getTime() + 9 * DAY_MS), refund: 20_000_000n })
  await own(org.orgId, org.tenantId, buyer, 40_000_000n, new Date(from.getTime() + 5 * DAY_MS))
  await turns()
  expect(await read(who, { month, includeLines: true })).toEqual({ ...closed, asOf: expect.any(String) })
  const now = await read(who, { includeLines: true })
  const late = now.licenses.flatMap(({ lines = [] }) => lines).filter(({ correctsDate }) => correctsDate !== null)
  expect(new Set(late.map(({ kind }) => kind))).toEqual(new Set(['adjustment', 'credit']))
  expect(
    late.every(({ date, correctsDate }) => date === dayOf(h.deps.now()) && String(correctsDate).startsWith(month)),
  ).toBe(true)
  const { rows } = await inOrg(h.deps, org.orgId, (db) =>
    sql<{ told: string }>`
      select type as told from outbox_event where org_id = ${org.orgId} and type = 'billing.month.closed'
      union all select action from audit_event where org_id = ${org.orgId} and action = 'billing.month.close'
      union all select to_state from license_transition where org_id = ${org.orgId} and object_id = ${`month:${month}`}`.execute(
      db,
    ),
  )
  expect(rows.map(({ told }) => told).sort()).toEqual([
    'billing.month.close',
    'billing.month.closed',
    'closing',
    'final',
  ])
})

it('keeps lines and closed months from being changed by anybody', async () => {
  const refusedBy = (statement: ReturnType<typeof sql>) =>
    h.worker.kysely
      .transaction()
      .execute((db) => statement.execute(db))
      .then(
        () => 'changed',
        (error: Error) => error.message,
      )
  expect(await refusedBy(sql`update charge_line set amount = 0`)).toMatch(/permission denied/)
  expect(await refusedBy(sql`update charge_month set state = 'open', closed_at = null where state = 'final'`)).toMatch(
    /never changed/,
  )
  expect(
    await refusedBy(sql`insert into charge_line (org_id, line_id, month, date, instance_id, kind, quantity, amount, source, transfer_id, created_at)
      select org_id, 'chg_x', month, date, instance_id, kind, 1, 1, 'x', 'x', now() from charge_line l
      where exists (select 1 from charge_month m where m.org_id = l.org_id and m.month = l.month and m.state = 'final') limit 1`),
  ).toMatch(/is closed/)
})

it('undoes a turn that dies in the middle, and the next one takes it whole', async () => {
  const org = await h.org('dying')
  await own(org.orgId, org.tenantId, 'agent:x', 1_000_000n)
  const dying = { ...h.deps, newId: (prefix: string): string => (prefix === 'evt' ? fail() : h.deps.newId(prefix)) }
  await expect(takeLineTurn(dying, h.worker)).rejects.toThrow('died')
  const count = () =>
    inOrg(h.deps, org.orgId, (db) =>
      db.selectFrom('charge_line').select('line_id').where('org_id', '=', org.orgId).execute(),
    )
  expect(await count()).toEqual([])
  await turns()
  expect(await count()).toHaveLength(1)
  expect([await takeLineTurn(h.deps, h.worker), await takeMonthTurn(h.deps, h.worker)]).toEqual([false, false])
})
const fail = (): never => {
  throw new Error('died')
}

it('agrees with a second book, whatever happens in whatever order', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      expect(await differenceIn({ h, ...(await h.org('model')) }, sequence)).toBeUndefined()
    }),
    { numRuns: 12, endOnFailure: true },
  )
})
