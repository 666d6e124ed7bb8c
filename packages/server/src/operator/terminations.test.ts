import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { operatorOf } from '../../test/operator-seed.ts'
import { buy, takeDelivery } from '../../test/provider/license-buyer.ts'
import { withManners } from '../../test/provider/provider-scene.ts'
import { PRICE } from '../../test/provider/reference-provider.ts'
import { type Shop, startShop } from '../../test/provider/shop.ts'
import { inOrg } from '../context.ts'
import type { CancelOutcome } from '../licenses/provider.ts'
import { takeExpiryTurn } from '../modules/licenses/expiry.ts'
import { MOST_UNKNOWN } from '../modules/licenses/turns.ts'
import { listReview, settleTermination } from './licenses.ts'

// What an operator decides about a termination that nobody could find out about. Catches: one of another organisation, one that needs no
// decision, more given back than was paid, money that comes back twice, a licence that ends before the period it was to end with, a
// decision without a record. Seen red: the state not asked; the most not compared; the end taken as of today, so that nothing of a period
// that is over comes back; the record left out; a licence that was to end with its period ended at once.

const DAY_MS = 86_400_000
let shop: Shop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.close())

const operator = () => ({ ...operatorOf(shop.h), now: shop.h.deps.now })
const settle = (terminationId: string, refund: bigint | string) =>
  settleTermination(operator(), shop.org.orgId, { terminationId, refund: refund.toString() })
const answering = (outcome: CancelOutcome) => withManners(shop.providers, () => ({ cancel: async () => outcome }))
const statusOf = (terminationId: string) => shop.buyer.client.licenses.terminationStatus({ params: { terminationId } })
const licenseOf = async (id: string) =>
  (await shop.buyer.client.licenses.list()).data.find(({ licenseInstanceId }) => licenseInstanceId === id)
const waiting = async () => (await listReview(operator(), shop.org.orgId)).map(({ purchaseId }) => purchaseId)
const told = async (id: string): Promise<string[]> => {
  const { rows } = await shop.inDb((db) =>
    sql<{ type: string }>`
      select type from outbox_event where body::jsonb #>> '{data,object,id}' = ${id} order by occurred_at, event_id`.execute(
      db,
    ),
  )
  return rows.map(({ type }) => type)
}
const recorded = (terminationId: string) =>
  inOrg(shop.h.deps, shop.org.orgId, async (db) => {
    const rows = await db
      .selectFrom('audit_event')
      .selectAll()
      .where('action', '=', 'operator.settle-termination')
      .execute()
    return rows.filter(({ targets }) => JSON.stringify(targets).includes(terminationId))
  })

/** A licence in use, whose end nobody knows of. */
async function inReview(effective: 'immediate' | 'period_end' = 'immediate') {
  const { purchaseId, licenseInstanceId } = await buy(shop.buyer, 'mail-pro')
  await shop.turns()
  await takeDelivery(shop.h, shop.buyer, purchaseId)
  const { terminationId } = await shop.buyer.client.licenses.terminate({ body: { licenseInstanceId, effective } })
  await shop.goOn(MOST_UNKNOWN + 1, answering({ kind: 'unknown', cause: 'no_answer' }))
  expect((await statusOf(terminationId)).status).toBe('in_review')
  return { licenseInstanceId, terminationId }
}

it('is listed with the most that can come back, and settled once with what the provider gives back', async () => {
  const { licenseInstanceId, terminationId } = await inReview()
  const [one] = await listReview(operator(), shop.org.orgId)
  expect(one).toMatchObject({
    ...{ kind: 'termination', purchaseId: terminationId, provider: 'acme', amount: PRICE.toString() },
    reason: 'provider_outcome_unknown',
  })
  const before = await shop.balance()
  const back = PRICE / 2n
  await settle(terminationId, back)
  await expect(settle(terminationId, back)).rejects.toMatchObject({ code: 'termination_not_in_review' })
  expect([await shop.balance(), await waiting()]).toEqual([before, []])
  expect(await recorded(terminationId)).toMatchObject([
    { actor_type: 'operator', metadata: { refund: back.toString() }, outcome: 'success' },
  ])
  // The provider is not asked again: what it would say now changes nothing.
  await shop.goOn(3, answering({ kind: 'cancelled', refundable: PRICE, effectiveAt: shop.h.deps.now() }))
  expect(await statusOf(terminationId)).toMatchObject({
    ...{ status: 'completed', refund: money(back), statusReason: null, nextAction: { type: 'none' } },
    transitions: [{}, {}, { to: 'in_review' }, { cause: 'decided', to: 'settling' }, { to: 'completed' }],
  })
  expect((await shop.balance()).available - before.available).toBe(back)
  expect(await told(terminationId)).toEqual([
    'license.termination.requested',
    'license.termination.in_review',
    'license.termination.completed',
  ])
  expect((await told(licenseInstanceId)).at(-1)).toBe('license.terminated')
  await shop.booksAreRight()
})

it('refuses what does not wait, what another organisation has, and more than was paid; nothing changes', async () => {
  const { licenseInstanceId, terminationId } = await inReview()
  const before = [await shop.balance(), await statusOf(terminationId)]
  const { orgId } = await shop.h.org('somebody else')
  const foreign = settleTermination(operator(), orgId, { terminationId, refund: '0' })
  await expect(foreign).rejects.toMatchObject({ code: 'termination_not_in_review' })
  expect(await listReview(operator(), orgId)).toEqual([])
  await expect(settle('ter_none', 0n)).rejects.toMatchObject({ code: 'termination_not_in_review' })
  for (const refund of [PRICE + 1n, -1n])
    await expect(settle(terminationId, refund)).rejects.toMatchObject({ code: 'refund_too_large' })
  expect([await shop.balance(), await statusOf(terminationId)]).toEqual(before)
  expect([await recorded(terminationId), await waiting()]).toEqual([[], [terminationId]])
  expect((await licenseOf(licenseInstanceId))?.status).toBe('terminating')
  // The server has found out by itself.
  await shop.goOn(3, answering({ kind: 'cancelled', refundable: 0n, effectiveAt: shop.h.deps.now() }))
  shop.h.advance(DAY_MS)
  await shop.turns(answering({ kind: 'cancelled', refundable: 0n, effectiveAt: shop.h.deps.now() }))
  expect((await statusOf(terminationId)).status).toBe('completed')
  await expect(settle(terminationId, PRICE)).rejects.toMatchObject({ code: 'termination_not_in_review' })
  expect(await shop.balance()).toEqual(before[0])
})

it('gives back what was paid also when the period is over by now, and nothing where nothing comes', async () => {
  const [some, none] = [await inReview(), await inReview()]
  shop.h.advance(40 * DAY_MS)
  const silent = answering({ kind: 'unknown', cause: 'no_answer' })
  await shop.turns(silent)
  while (await takeExpiryTurn(shop.works(silent)));
  expect(await waiting()).toEqual([some.terminationId, none.terminationId])
  const before = await shop.balance()
  await settle(some.terminationId, PRICE)
  await settle(none.terminationId, 0n)
  await shop.turns(silent)
  expect(await statusOf(some.terminationId)).toMatchObject({ status: 'completed', refund: money(PRICE) })
  expect(await statusOf(none.terminationId)).toMatchObject({ status: 'completed', refund: money(0n) })
  expect((await shop.balance()).available - before.available).toBe(PRICE)
  expect(await told(some.licenseInstanceId)).toEqual(['license.activated', 'license.expired'])
  await shop.booksAreRight()
})

it('ends with its period what was to end then, unless something comes back', async () => {
  const [later, now] = [await inReview('period_end'), await inReview('period_end')]
  const before = await shop.balance()
  await settle(later.terminationId, 0n)
  await settle(now.terminationId, 1n)
  await shop.turns()
  const { periodEnd } = (await licenseOf(later.licenseInstanceId)) ?? {}
  expect(await statusOf(later.terminationId)).toMatchObject({ status: 'cancel_pending', effectiveAt: periodEnd })
  expect(await statusOf(now.terminationId)).toMatchObject({ status: 'completed', refund: money(1n) })
  expect(await waiting()).toEqual([])
  shop.h.advance(40 * DAY_MS)
  await shop.turns()
  expect(await statusOf(later.terminationId)).toMatchObject({ status: 'completed', refund: money(0n) })
  expect((await shop.balance()).available - before.available).toBe(1n)
  await shop.booksAreRight()
})

it('settles once when it is decided several times at once, while the server finds out', async () => {
  const { terminationId } = await inReview()
  const before = await shop.balance()
  shop.h.advance(DAY_MS)
  const known = answering({ kind: 'cancelled', refundable: PRICE, effectiveAt: shop.h.deps.now() })
  const deciding = Array.from({ length: 6 }, () => settle(terminationId, PRICE))
  const [ended] = await Promise.all([Promise.allSettled(deciding), shop.turns(known)])
  expect(ended.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1)
  for (const one of ended)
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'termination_not_in_review' })
  await shop.turns(known)
  expect(await statusOf(terminationId)).toMatchObject({ status: 'completed', refund: money(PRICE) })
  expect((await shop.balance()).available - before.available).toBe(PRICE)
  await shop.booksAreRight()
})
