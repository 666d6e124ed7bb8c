import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { codeOf } from '../../../test/people.ts'
import {
  type Buyer,
  buy,
  giveCredit,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
  takeTurns,
} from '../../../test/provider/license-buyer.ts'
import { type ProviderScene, startProviderScene, withManners } from '../../../test/provider/provider-scene.ts'
import { PRICE } from '../../../test/provider/reference-provider.ts'
import { inOrg } from '../../context.ts'
import { creditOf, ledgerDifferences } from '../../ledger/ledger.ts'
import { monthsAfter } from '../../licenses/proration.ts'
import type { Providers } from '../../licenses/provider.ts'
import { budgetDifferences } from '../budgets/reserve.ts'
import { takeLineTurn } from '../charges/turns.ts'
import { claimEnding, insertRenewal } from './renewal-store.ts'
import type { Works } from './turns.ts'
import { makeLicenseWorker } from './work.ts'

// Catches: a period paid twice or not at all, unknown taken for failed, a licence that runs on unpaid or ends although it was paid, money
// that stays held. Seen red: an unknown answer that releases; a buyer who is gone or has expired not looked at, or nobody told of it; the end of the licence not told; a key
// that is new for each try; a termination that does not wait; the wrong amount paid; a budget without room not told of;
// a period decided about by two processes that failed in one of them; periods that end, renewals and licences that are over left out of what is
// asked before a turn.

const [DAY_MS, HOUR_MS] = [86_400_000, 3_600_000]
let scene: ProviderScene
let org: LicenseOrg
let buyer: Buyer
let poor: Buyer
let leaver: Buyer
let guest: Buyer
beforeAll(async () => {
  scene = await startProviderScene()
  org = await makeLicenseOrg(scene.h, 'acme')
  buyer = await makeBuyer(scene.h, org)
  // All of them now: the session of who endorses their keys ends long before their licences do.
  poor = await makeBuyer(scene.h, org, 'hybrid')
  leaver = await makeBuyer(scene.h, org, 'deployNext')
  guest = await makeBuyer(scene.h, org, 'bob')
  await giveCredit(scene.h, org.orgId, 100n * PRICE)
})
/** What was bought before renews as well, and takes the faults that are meant for another. */
beforeEach(async () => {
  await sql`update license_instance set status = 'terminated'`.execute(scene.h.worker.kysely)
  await sql`update license_renewal set next_at = null`.execute(scene.h.worker.kysely)
})
afterAll(async () => {
  await scene.provider.close()
  await scene.h.close()
})

const inDb = <T>(work: Parameters<typeof inOrg<T>>[2], orgId = org.orgId) => inOrg(scene.h.deps, orgId, work)
const available = async (): Promise<bigint> => (await inDb((db) => creditOf(db, org.orgId))).available
const throws = (error: unknown): never => {
  throw error
}
/** More than any of these takes. */
const STEPS = 8
/** As the background does it: where nothing is said to be due, nothing is done. */
async function workOff(works: Works): Promise<void> {
  const worker = makeLicenseWorker(works, { onFailure: throws })
  for (let i = 0; i < STEPS; i++) {
    await worker.turn()
    await worker.idle()
  }
}
const turns = async (providers: Providers = scene.providers): Promise<void> => {
  const works = { deps: scene.h.deps, worker: scene.h.worker, providers }
  await takeTurns(scene.h, providers)
  await workOff(works)
  await takeTurns(scene.h, providers)
  while (await takeLineTurn(scene.h.deps, scene.h.worker));
}
const booksAreRight = async (): Promise<void> => {
  const wrong = await inDb(async (db) => [
    ...(await ledgerDifferences(db, org.orgId)),
    ...(await budgetDifferences(db, org.orgId)),
  ])
  expect(wrong).toEqual([])
}
const licenseOf = async (id: string, who: Buyer = buyer) => {
  const found = (await who.client.licenses.list()).data.find(({ licenseInstanceId }) => licenseInstanceId === id)
  if (!found) throw new Error('no such licence')
  return found
}
const renewalsOf = async (id: string): Promise<string[]> =>
  (
    await inDb((db) =>
      sql<{ text: string }>`
        select state || ' ' || coalesce(reason, '-') as text from license_renewal where instance_id = ${id} order by period_no`.execute(
        db,
      ),
    )
  ).rows.map(({ text }) => text)
const told = async (id: string): Promise<string[]> =>
  (
    await inDb((db) =>
      sql<{ type: string }>`
        select type from outbox_event where body::jsonb #>> '{data,object,id}' = ${id} order by occurred_at, event_id`.execute(
        db,
      ),
    )
  ).rows.map(({ type }) => type)

/** A licence that is used, and the clock shortly before its period ends. */
async function nearEnd(who: Buyer = buyer, hours = 12) {
  const { purchaseId, licenseInstanceId: id } = await buy(who, 'mail-pro')
  await turns()
  const { periodEnd, periodStart } = await licenseOf(id, who)
  const end = new Date(periodEnd ?? '')
  scene.h.advance(end.getTime() - hours * HOUR_MS - scene.h.deps.now().getTime())
  return { id, purchaseId, end, start: new Date(periodStart) }
}
const advanceTo = (at: Date): void => scene.h.advance(at.getTime() + 1000 - scene.h.deps.now().getTime())
const orderOf = (purchaseId: string) => scene.provider.orders.get(purchaseId)

it('pays for the next period once, keeps the credential, and goes on charging day by day', async () => {
  const { id, purchaseId, end, start } = await nearEnd()
  const before = await available()
  await Promise.all([turns(), turns()])
  expect(await renewalsOf(id)).toEqual(['renewed -'])
  expect(before - (await available())).toBe(PRICE)
  expect(orderOf(purchaseId)?.renewals.size).toBe(1)
  const { status, periodEnd, periodStart } = await licenseOf(id)
  expect([status, periodStart]).toEqual(['active', end.toISOString()])
  expect(Math.abs(new Date(periodEnd ?? '').getTime() - monthsAfter(start, 2).getTime())).toBeLessThan(5 * HOUR_MS)
  expect(await told(id)).toEqual(['license.activated', 'license.renewed'])
  advanceTo(new Date(end.getTime() + 3 * DAY_MS))
  await turns()
  const lines = await inDb((db) =>
    sql<{ transfer: string; sum: string; days: number }>`
      select transfer_id as transfer, sum(amount)::text as sum, count(*)::int as days from charge_line
      where instance_id = ${id} group by transfer_id order by min(date)`.execute(db),
  )
  expect(lines.rows[0]?.sum).toBe(String(PRICE))
  expect(lines.rows[1]?.days).toBeGreaterThanOrEqual(4)
  await booksAreRight()
})

it('gives back every day of both periods that was not used when it is ended', async () => {
  const { id } = await nearEnd()
  await turns()
  const before = await available()
  const { terminationId } = await buyer.client.licenses.terminate({ body: { licenseInstanceId: id } })
  await turns()
  const { refund, status } = await buyer.client.licenses.terminationStatus({ params: { terminationId } })
  // The next period has not begun: all of it comes back.
  expect(status).toBe('completed')
  expect(BigInt(refund?.amount ?? 0)).toBeGreaterThanOrEqual(PRICE)
  expect((await available()) - before).toBe(BigInt(refund?.amount ?? 0))
  const { rows } = await inDb((db) =>
    sql<{ sum: string }>`select sum(amount)::text as sum from charge_line where instance_id = ${id}`.execute(db),
  )
  expect(BigInt(rows[0]?.sum ?? 0)).toBe(2n * PRICE - BigInt(refund?.amount ?? 0))
  await booksAreRight()
})

it('waits for money until the period has ended, says so, and then ends the licence', async () => {
  const manager = await scene.h.agent(org, ['machine.budget.all'], ['TENANT_BUDGET_MANAGER'])
  const windows = [{ kind: 'total', limit: money(PRICE + PRICE / 2n) } as const]
  const body = { subjectType: 'agent', subjectId: poor.agentId, windows } as const
  const { budgetId } = await manager.client.budgets.create({ body })
  const { id, end } = await nearEnd(poor)
  await turns()
  expect(await renewalsOf(id)).toEqual(['waiting budget_exceeded'])
  expect((await licenseOf(id, poor)).status).toBe('active')
  scene.h.advance(HOUR_MS + 1000)
  await turns()
  // However often it is tried.
  expect((await told(budgetId)).filter((type) => type === 'budget.exceeded')).toHaveLength(1)
  advanceTo(end)
  await turns()
  expect(await renewalsOf(id)).toEqual(['lapsed budget_exceeded'])
  expect((await licenseOf(id, poor)).status).toBe('expired')
  expect(await told(id)).toEqual(['license.activated', 'license.expiring', 'license.expiring', 'license.expired'])
  expect(await codeOf(poor.client.licenses.terminate({ body: { licenseInstanceId: id } }))).toBe('license_terminated')
  const environment = poor.client.licenses.environment({ params: { licenseInstanceId: id } })
  expect(await codeOf(environment)).toBe('license_terminated')
  await booksAreRight()
})

it.each([
  ['error_after_commit', 'renewed -'],
  ['lost_answer', 'renewed -'],
  ['bad_signature', 'renewed -'],
  ['error_before', 'renewed -'],
  ['rejected', 'lapsed provider_not_for_sale'],
  ['wrong_amount', 'in_review provider_wrong_amount'],
] as const)('after %s it is %s, with one period at most', async (fault, expected) => {
  const { id, purchaseId, end } = await nearEnd()
  const before = await available()
  scene.provider.misbehave(fault)
  await turns()
  if (expected === 'renewed -') expect(await renewalsOf(id)).toEqual(['renewing provider_outcome_unknown'])
  scene.h.advance(HOUR_MS)
  await turns()
  expect(await renewalsOf(id)).toEqual([expected])
  const paid = { renewed: PRICE, lapsed: 0n, in_review: PRICE }[
    expected.split(' ')[0] as 'renewed' | 'lapsed' | 'in_review'
  ]
  // In review it is held, and neither paid nor free.
  expect(before - (await available())).toBe(paid)
  expect(orderOf(purchaseId)?.renewals.size).toBe(expected.startsWith('lapsed') ? 0 : 1)
  advanceTo(end)
  await turns()
  expect((await licenseOf(id)).status).toBe(expected.startsWith('lapsed') ? 'expired' : 'active')
  await booksAreRight()
})

it('never takes unknown for failed: it is reviewed, the money stays held and the licence runs on', async () => {
  const { id, end } = await nearEnd()
  const silent = withManners(scene.providers, () => ({ renew: async () => ({ kind: 'unknown', cause: 'no_answer' }) }))
  const before = await available()
  for (let i = 0; i < 14; i++) {
    await turns(silent)
    scene.h.advance(HOUR_MS + 1000)
  }
  expect(await renewalsOf(id)).toEqual(['in_review provider_outcome_unknown'])
  advanceTo(new Date(end.getTime() + 2 * DAY_MS))
  await turns(silent)
  expect([(await licenseOf(id)).status, before - (await available())]).toEqual(['active', PRICE])
  // It could be found out after all.
  scene.h.advance(7 * HOUR_MS)
  await turns()
  expect(await renewalsOf(id)).toEqual(['renewed -'])
  await booksAreRight()
})

it('stops for a licence that is being ended, and lets a termination wait for what was asked already', async () => {
  const ended = await nearEnd()
  await buyer.client.licenses.terminate({ body: { licenseInstanceId: ended.id, effective: 'period_end' } })
  await turns()
  expect(await renewalsOf(ended.id)).toEqual([])
  const { id, purchaseId } = await nearEnd()
  const gone = withManners(scene.providers, () => ({ renew: async () => ({ kind: 'unknown', cause: 'no_answer' }) }))
  await turns(gone)
  const { terminationId } = await buyer.client.licenses.terminate({ body: { licenseInstanceId: id } })
  await turns(gone)
  const waiting = await buyer.client.licenses.terminationStatus({ params: { terminationId } })
  expect([waiting.status, waiting.statusReason]).toEqual(['requested', 'renewal_in_progress'])
  for (let i = 0; i < 3; i++) {
    scene.h.advance(HOUR_MS)
    await turns()
  }
  const { status, refund } = await buyer.client.licenses.terminationStatus({ params: { terminationId } })
  expect([status, BigInt(refund?.amount ?? 0) >= PRICE, orderOf(purchaseId)?.renewals.size]).toEqual([
    'completed',
    true,
    1,
  ])
  await booksAreRight()
})

it('does not renew for a buyer who is gone', async () => {
  const { id, end } = await nearEnd(leaver, 30)
  const other = await nearEnd(buyer, 30)
  await inDb((db) => sql`update agent set status = 'archived' where agent_id = ${leaver.agentId}`.execute(db))
  scene.h.advance(8 * HOUR_MS)
  await turns()
  expect(await renewalsOf(id)).toEqual(['lapsed buyer_gone'])
  expect((await told(id)).slice(0, 2)).toEqual(['license.activated', 'license.expiring'])
  advanceTo(end)
  await turns()
  const { rows } = await inDb((db) =>
    sql<{ status: string }>`select status from license_instance where instance_id = ${id}`.execute(db),
  )
  expect(rows).toEqual([{ status: 'expired' }])
  expect((await renewalsOf(other.id))[0]).toMatch(/^renewed/)
})

it('does not renew for an agent that has expired, and says so before the licence ends', async () => {
  const { id } = await nearEnd(guest, 30)
  const before = await available()
  const expiresAt = new Date(scene.h.deps.now().getTime() + HOUR_MS)
  await inDb((db) => sql`update agent set expires_at = ${expiresAt} where agent_id = ${guest.agentId}`.execute(db))
  scene.h.advance(8 * HOUR_MS)
  await turns()
  expect([await renewalsOf(id), await available()]).toEqual([['lapsed buyer_gone'], before])
  expect(await told(id)).toEqual(['license.activated', 'license.expiring'])
  await booksAreRight()
})

it('tells a week before that a licence ends that cannot be renewed', async () => {
  const { id, end } = await nearEnd(buyer, 24 * 8)
  const unable: Providers = new Map(
    [...scene.providers].map(([name, { renew: _, ...provider }]) => [name, provider] as const),
  )
  await turns(unable)
  expect(await told(id)).toEqual(['license.activated'])
  scene.h.advance(2 * DAY_MS)
  await turns(unable)
  await turns(unable)
  expect(await told(id)).toEqual(['license.activated', 'license.expiring'])
  expect(await renewalsOf(id)).toEqual(['lapsed not_renewable'])
  advanceTo(end)
  await turns(unable)
  expect([(await licenseOf(id)).status, (await told(id)).at(-1)]).toEqual(['expired', 'license.expired'])
})

it('decides about a period once, also where two processes have seen that nothing was decided', async () => {
  const { licenseInstanceId } = await buy(buyer, 'mail-pro')
  await takeTurns(scene.h, scene.providers)
  const end = new Date((await licenseOf(licenseInstanceId)).periodEnd ?? '')
  const { deps, worker } = scene.h
  const decided = await worker.kysely.transaction().execute(async (db) => {
    const seen = await claimEnding(db, end)
    if (!seen) throw new Error('nothing ends')
    await sql`select set_config('app.org', ${seen.orgId}, true)`.execute(db)
    const made = { at: deps.now(), reason: null, state: 'waiting', nextAt: null } as const
    const insert = () => insertRenewal(db, seen, { ...made, renewalId: deps.newId('ren') })
    return [seen.instanceId, await insert(), await insert()]
  })
  expect(decided).toEqual([licenseInstanceId, true, false])
})
