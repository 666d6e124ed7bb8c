import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { buy, statusOf } from '../../../test/provider/license-buyer.ts'
import { withManners } from '../../../test/provider/provider-scene.ts'
import { PRICE, SHORT_MS } from '../../../test/provider/reference-provider.ts'
import { type Shop, startShop } from '../../../test/provider/shop.ts'
import { monthAfter, monthsAfter, refundOf } from '../../licenses/proration.ts'
import type { CancelOutcome } from '../../licenses/provider.ts'
import { takeLineTurn } from '../charges/turns.ts'
import { takeEndingTurn, takeExpiryTurn } from './expiry.ts'
import { takeRenewalTurn } from './renewal-turn.ts'
import { giveUpPurchase } from './review.ts'
import { MOST_UNKNOWN } from './turns.ts'

// From when until when something is paid for. Catches: days charged before anything was delivered, two periods paid at delivery, a period
// that is over when it is delivered, a turn that fails for ever over a day that no calendar has, days given back that were used before
// anybody asked for the end. Seen red: the period counted from the order; renewals counted from the order; the end not compared with the
// delivery; the day not looked at; the renewal of a short period begun at once; the day that a provider names for an end taken however
// long ago it is, with every period given back; a month paid for each hour.

const [DAY_MS, HOUR_MS] = [86_400_000, 3_600_000]
let shop: Shop
beforeAll(async () => {
  shop = await startShop()
})
/** What was bought before is looked at and renews as well, and takes the faults that are meant for another. */
beforeEach(async () => {
  await sql`update license_purchase set next_at = null`.execute(shop.h.worker.kysely)
  await sql`update license_instance set status = 'terminated'`.execute(shop.h.worker.kysely)
  await sql`update license_renewal set next_at = null`.execute(shop.h.worker.kysely)
})
afterAll(() => shop.close())

const turns = async (): Promise<void> => {
  await shop.turns()
  for (const take of [takeEndingTurn, takeRenewalTurn, takeExpiryTurn]) while (await take(shop.works()));
  while (await takeLineTurn(shop.h.deps, shop.h.worker));
}
const licenseOf = async (id: string) => {
  const found = (await shop.buyer.client.licenses.list()).data.find(({ licenseInstanceId }) => licenseInstanceId === id)
  if (!found) throw new Error('no such licence')
  return { ...found, start: new Date(found.periodStart), end: new Date(found.periodEnd ?? '') }
}
const linesOf = async (id: string) => {
  const { rows } = await shop.inDb((db) =>
    sql<{ days: number; sum: string }>`
      select count(*)::int as days, coalesce(sum(amount), 0)::text as sum from charge_line where instance_id = ${id}`.execute(
      db,
    ),
  )
  return { days: rows[0]?.days, sum: BigInt(rows[0]?.sum ?? 0) }
}
const paidFor = async (id: string): Promise<bigint> => {
  const { rows } = await shop.inDb((db) =>
    sql<{ sum: string }>`select sum(amount)::text as sum from license_period where instance_id = ${id}`.execute(db),
  )
  return BigInt(rows[0]?.sum ?? 0)
}

/** Ordered, and ready so many days later. */
async function deliveredAfter(days: number, ...faults: ('no_period' | 'short_period')[]) {
  const { purchaseId, licenseInstanceId: id } = await buy(shop.buyer, 'mail-pro')
  shop.provider.misbehave('pending')
  await shop.turns()
  shop.h.advance(days * DAY_MS)
  shop.provider.approve(purchaseId)
  shop.provider.misbehave(...faults)
  return { purchaseId, id, before: await shop.balance() }
}

it.each([10, 45])('begins to count when it is delivered, %i days after the order', async (days) => {
  const { purchaseId, id, before } = await deliveredAfter(days, 'no_period')
  await turns()
  await shop.isDelivered(purchaseId)
  const { start, end, createdAt } = await licenseOf(id)
  expect(start.getTime()).toBeGreaterThan(new Date(createdAt).getTime() - HOUR_MS)
  expect(end).toEqual(monthAfter(start))
  // One period, and the first day of it.
  expect([await paidFor(id), (await linesOf(id)).days]).toEqual([PRICE, 1])
  expect(before.posted - (await shop.balance()).posted).toBe(PRICE)
  await shop.booksAreRight()
})

it('counts months from where the first began, and comes back to its day', async () => {
  const now = shop.h.deps.now()
  shop.h.advance(Date.UTC(now.getUTCFullYear() + 1, 0, 28, 12) - now.getTime())
  const { id } = await deliveredAfter(3, 'no_period')
  await turns()
  const { start } = await licenseOf(id)
  expect(start.getUTCDate()).toBe(31)
  for (const months of [1, 2, 3]) {
    shop.h.advance(monthsAfter(start, months).getTime() - HOUR_MS - shop.h.deps.now().getTime())
    shop.provider.misbehave('no_period')
    await turns()
    expect((await licenseOf(id)).end).toEqual(monthsAfter(start, months + 1))
  }
  expect(await paidFor(id)).toBe(4n * PRICE)
  await shop.booksAreRight()
})

it('counts a month from the end that the provider has named, where it names no other', async () => {
  const { id } = await deliveredAfter(10)
  await turns()
  const { start, end } = await licenseOf(id)
  // The end is a month after the order, and is paid for from delivery on.
  expect(Math.round((end.getTime() - start.getTime()) / DAY_MS)).toBeLessThan(22)
  expect((await linesOf(id)).days).toBe(1)
  shop.h.advance(end.getTime() - HOUR_MS - shop.h.deps.now().getTime())
  shop.provider.misbehave('no_period')
  await turns()
  expect((await licenseOf(id)).end).toEqual(monthAfter(end))
  shop.h.advance(HOUR_MS + 1000)
  await turns()
  const { days, sum } = await linesOf(id)
  expect([await paidFor(id), sum >= PRICE && sum < 2n * PRICE, (days ?? 0) > 20]).toEqual([2n * PRICE, true, true])
})

it('pays for one period at delivery where that ends soon, and for the next one in its middle', async () => {
  const { id, purchaseId, before } = await deliveredAfter(20, 'short_period')
  await turns()
  await shop.isDelivered(purchaseId)
  expect(before.posted - (await shop.balance()).posted).toBe(PRICE)
  expect((await shop.balance()).held).toBe(before.held - PRICE)
  shop.h.advance(SHORT_MS / 2 + 60_000)
  await turns()
  expect(await paidFor(id)).toBe(2n * PRICE)
  expect((await licenseOf(id)).status).toBe('active')
})

/** Nothing is paid, and the money stays held: a human is called. */
async function isInReview(purchaseId: string, held: bigint): Promise<void> {
  expect(await statusOf(shop.buyer, purchaseId)).toMatchObject({
    ...{ status: 'in_review', statusReason: 'provider_wrong_period', nextAction: { type: 'contact_support' } },
  })
  expect([await shop.transfersOf(purchaseId), (await shop.balance()).held]).toEqual([['pending'], held])
}

it('pays nothing for a period that has ended long ago, until the provider names the right one', async () => {
  const { held } = await shop.balance()
  const { purchaseId } = await buy(shop.buyer, 'mail-pro')
  shop.provider.misbehave('past_period', 'past_period')
  await turns()
  await isInReview(purchaseId, held + PRICE)
  shop.h.advance(7 * HOUR_MS)
  await turns()
  await isInReview(purchaseId, held + PRICE)
  shop.h.advance(7 * HOUR_MS)
  await turns()
  await shop.isDelivered(purchaseId)
})

it('pays nothing for a period that was over before it was delivered, and frees the money when that is given up', async () => {
  const before = await shop.balance()
  const { purchaseId, id } = await deliveredAfter(45)
  await turns()
  await isInReview(purchaseId, before.held + PRICE)
  expect((await linesOf(id)).days).toBe(0)
  expect(await giveUpPurchase(shop.works(), shop.org.orgId, purchaseId)).toBe(true)
  await turns()
  expect((await statusOf(shop.buyer, purchaseId)).status).toBe('cancelled')
  expect(await shop.balance()).toEqual(before)
})

it.each(['impossible_day', 'impossible_time'] as const)(
  'does not understand an end with an %s, asks again, and calls a human in the end',
  async (fault) => {
    const before = await shop.balance()
    const first = await buy(shop.buyer, 'mail-pro')
    shop.provider.misbehave(fault)
    await shop.turns()
    expect(await statusOf(shop.buyer, first.purchaseId)).toMatchObject({
      ...{ status: 'provisioning', statusReason: 'provider_outcome_unknown' },
    })
    shop.h.advance(HOUR_MS)
    await shop.turns()
    await shop.isDelivered(first.purchaseId)
    const { purchaseId } = await buy(shop.buyer, 'mail-pro')
    for (let i = 0; i < MOST_UNKNOWN; i++) {
      shop.provider.misbehave(fault)
      await shop.turns()
      shop.h.advance(HOUR_MS + 1000)
    }
    expect((await statusOf(shop.buyer, purchaseId)).status).toBe('in_review')
    expect([(await shop.balance()).held, before.posted - (await shop.balance()).posted]).toEqual([
      before.held + PRICE,
      PRICE,
    ])
  },
)

it('does not understand a cancellation on an impossible day, and goes on when it does', async () => {
  const { licenseInstanceId } = await buy(shop.buyer, 'mail-pro')
  await turns()
  const before = await shop.balance()
  const { terminationId } = await shop.buyer.client.licenses.terminate({ body: { licenseInstanceId } })
  const params = { terminationId }
  for (const fault of ['impossible_day', 'impossible_time'] as const) {
    shop.provider.misbehave(fault)
    await turns()
    expect(await shop.buyer.client.licenses.terminationStatus({ params })).toMatchObject({
      ...{ status: 'cancelling', statusReason: 'provider_outcome_unknown' },
    })
    shop.h.advance(HOUR_MS)
  }
  await turns()
  const { status, refund } = await shop.buyer.client.licenses.terminationStatus({ params })
  expect([status, (await shop.balance()).available - before.available]).toEqual([
    'completed',
    BigInt(refund?.amount ?? 0),
  ])
  await shop.booksAreRight()
})

it('pays for one period where a provider sells hours for a month, and calls a human', async () => {
  const { licenseInstanceId: id } = await buy(shop.buyer, 'mail-pro')
  await turns()
  const { end } = await licenseOf(id)
  const hourly = withManners(shop.providers, () => ({
    renew: async ({ from }) => ({ kind: 'renewed', amount: PRICE, periodEnd: new Date(from.getTime() + HOUR_MS) }),
  }))
  shop.h.advance(end.getTime() - HOUR_MS - shop.h.deps.now().getTime())
  for (let i = 0; i < 5; i++) {
    for (const take of [takeEndingTurn, takeRenewalTurn]) while (await take(shop.works(hourly)));
    shop.h.advance(HOUR_MS)
  }
  expect(await paidFor(id)).toBe(PRICE)
  const { rows } = await shop.inDb((db) =>
    sql<{ state: string; reason: string }>`select state, reason from license_renewal where instance_id = ${id}`.execute(
      db,
    ),
  )
  expect(rows).toEqual([{ state: 'in_review', reason: 'provider_wrong_period' }])
})

it('takes the beginning that a licence says itself, and not one that is over', async () => {
  const { purchaseId, licenseInstanceId: id } = await buy(shop.buyer, 'mail-pro')
  const periodStart = new Date((await statusOf(shop.buyer, purchaseId)).createdAt)
  const saying = (end: Date) =>
    withManners(shop.providers, (provider) => ({
      getOrder: async () => ({ kind: 'unknown', cause: 'no_answer' }),
      order: async (order) => {
        const outcome = await provider.order(order)
        return outcome.kind === 'active' ? { ...outcome, periodStart, periodEnd: end } : outcome
      },
    }))
  shop.h.advance(2 * DAY_MS)
  await shop.turns(saying(monthAfter(periodStart)))
  const { start, end } = await licenseOf(id)
  expect([start, end]).toEqual([periodStart, monthAfter(periodStart)])
  const late = await buy(shop.buyer, 'mail-pro')
  await shop.turns(saying(shop.h.deps.now()))
  expect((await statusOf(shop.buyer, late.purchaseId)).statusReason).toBe('provider_wrong_period')
})

/** In its second period, some days after that began. */
async function renewed() {
  const { licenseInstanceId: id } = await buy(shop.buyer, 'mail-pro')
  await turns()
  const { end: start } = await licenseOf(id)
  shop.h.advance(start.getTime() - DAY_MS / 2 - shop.h.deps.now().getTime())
  await turns()
  shop.h.advance(5 * DAY_MS)
  const { end } = await licenseOf(id)
  expect(await paidFor(id)).toBe(2n * PRICE)
  return { id, left: () => refundOf(PRICE, start, end, shop.h.deps.now()) }
}
const terminate = (licenseInstanceId: string) => shop.buyer.client.licenses.terminate({ body: { licenseInstanceId } })
const terminationOf = (terminationId: string) =>
  shop.buyer.client.licenses.terminationStatus({ params: { terminationId } })
const LONG_AGO = new Date('2020-01-01T00:00:00Z')
const saying = (outcome: CancelOutcome) => withManners(shop.providers, () => ({ cancel: async () => outcome }))

it('gives back no day before the end was asked for, however long ago a provider says it was', async () => {
  const { id, left } = await renewed()
  const before = await shop.balance()
  const { terminationId } = await terminate(id)
  const back = left()
  expect([back > 0n, back < PRICE]).toEqual([true, true])
  await shop.turns(saying({ kind: 'cancelled', effectiveAt: LONG_AGO, refundable: null }))
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'completed', refund: money(back) })
  expect((await shop.balance()).available - before.available).toBe(back)
  await shop.booksAreRight()
})

it('never gives back a period that was over when its end was asked for, whatever a provider names', async () => {
  const { id } = await renewed()
  const before = await shop.balance()
  const { terminationId } = await terminate(id)
  await shop.turns(saying({ kind: 'cancelled', effectiveAt: LONG_AGO, refundable: PRICE + 1n }))
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'in_review', refund: null })
  expect(await shop.balance()).toEqual(before)
})

it('takes no day to end on that was over before it was asked for, and goes on when the provider names another', async () => {
  const { id, left } = await renewed()
  const before = await shop.balance()
  const { terminationId } = await terminate(id)
  await shop.turns(saying({ kind: 'scheduled', effectiveAt: LONG_AGO }))
  expect(await terminationOf(terminationId)).toMatchObject({
    ...{ status: 'in_review', statusReason: 'provider_wrong_date', effectiveAt: null, refund: null },
  })
  expect(await shop.balance()).toEqual(before)
  const back = left()
  // Its clock is behind ours.
  const effectiveAt = new Date(shop.h.deps.now().getTime() - 60_000)
  shop.h.advance(DAY_MS / 4 + 1000)
  await shop.turns(saying({ kind: 'scheduled', effectiveAt }))
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'completed', refund: money(back) })
  expect((await shop.balance()).available - before.available).toBe(back)
  await shop.booksAreRight()
})
