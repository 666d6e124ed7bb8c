import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { codeOf, outcomes } from '../../../test/people.ts'
import { buy, statusOf, takeDelivery } from '../../../test/provider/license-buyer.ts'
import { withManners } from '../../../test/provider/provider-scene.ts'
import { PRICE } from '../../../test/provider/reference-provider.ts'
import { type Shop, startShop } from '../../../test/provider/shop.ts'
import type { CancelOutcome, Providers } from '../../licenses/provider.ts'
import { takeEndingTurn, takeExpiryTurn } from './expiry.ts'
import { takeRenewalTurn } from './renewal-turn.ts'
import { MOST_UNKNOWN, MOST_UNREACHABLE } from './turns.ts'

// A termination that has come to a stop. Catches: a licence that is used on unpaid because its termination failed or nobody knows of it, one
// that is renewed for who has asked for its end, an end that cannot be asked for in another way, two terminations of one licence at
// once, a second refund. Seen red: only what is active ends with its period; the failed one kept from being replaced; a replaced one
// resumed; `license.terminated` told of a licence that has expired; the purchase nobody took left behind;
// what was paid looked for among the periods that run today; the hand-off stopped for a licence that runs to the end of its period; the day a
// provider names taken however late it is; what was paid for out of reach after its end was refused; the hand-off not stopped when the end is asked
// for once more; what runs for days that were paid for ended at once, since the provider had named what comes back.

const DAY_MS = 86_400_000
let shop: Shop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.close())

const turns = async (providers?: Providers): Promise<void> => {
  await shop.turns(providers)
  for (const take of [takeEndingTurn, takeRenewalTurn, takeExpiryTurn]) while (await take(shop.works(providers)));
  await shop.turns(providers)
}
/** A licence in use, or one that nobody has taken. */
async function license({ isTaken = true } = {}) {
  const { purchaseId, licenseInstanceId: id } = await buy(shop.buyer, 'mail-pro')
  await shop.turns()
  if (isTaken) await takeDelivery(shop.h, shop.buyer, purchaseId)
  return { purchaseId, id }
}
const terminate = (
  licenseInstanceId: string,
  more: { effective?: 'immediate' | 'period_end'; fallback?: 'period_end' } = {},
) => shop.buyer.client.licenses.terminate({ body: { licenseInstanceId, ...more } })
/** Asked for, and refused by the provider. */
async function refused(id: string) {
  shop.provider.misbehave('cancel_refused')
  const { terminationId } = await terminate(id)
  await shop.turns()
  expect((await terminationOf(terminationId)).status).toBe('failed')
  return terminationId
}
const terminationOf = (terminationId: string) =>
  shop.buyer.client.licenses.terminationStatus({ params: { terminationId } })
const resume = (terminationId: string) => shop.buyer.client.licenses.resumeTermination({ params: { terminationId } })
const environment = (licenseInstanceId: string) =>
  shop.buyer.client.licenses.environment({ params: { licenseInstanceId } })
const licenseOf = async (id: string) =>
  (await shop.buyer.client.licenses.list()).data.find(({ licenseInstanceId }) => licenseInstanceId === id)
const toldOf = async (id: string): Promise<string[]> => {
  const { rows } = await shop.inDb((db) =>
    sql<{ type: string }>`
      select type from outbox_event where body::jsonb #>> '{data,object,id}' = ${id} order by occurred_at, event_id`.execute(
      db,
    ),
  )
  return rows.map(({ type }) => type)
}

it('ends a licence with its period when its termination has failed, and renews it for nobody', async () => {
  const { id } = await license()
  const terminationId = await refused(id)
  const before = await shop.balance()
  const { periodEnd = null } = (await licenseOf(id)) ?? {}
  shop.h.advance(20 * DAY_MS)
  await turns()
  expect((await environment(id)).license.status).toBe('terminating')
  shop.h.advance(50 * DAY_MS)
  await Promise.all([turns(), turns()])
  expect(await licenseOf(id)).toMatchObject({ status: 'expired', periodEnd, terminatedAt: periodEnd })
  expect(await toldOf(id)).toEqual(['license.activated', 'license.expired'])
  expect(await terminationOf(terminationId)).toMatchObject({
    ...{ status: 'completed', statusReason: null, effectiveAt: periodEnd },
    ...{ refund: money(0n), nextAction: { type: 'none' }, retryable: false },
  })
  expect((await toldOf(terminationId)).at(-1)).toBe('license.termination.completed')
  expect(await outcomes([environment(id), terminate(id)])).toEqual(Array(2).fill('license_terminated'))
  expect(await codeOf(resume(terminationId))).toBe('termination_not_resumable')
  expect(await shop.balance()).toEqual(before)
  await shop.booksAreRight()
})

it('ends what nobody has taken with it: the purchase is over, and nothing sealed is left', async () => {
  const { id, purchaseId } = await license({ isTaken: false })
  await refused(id)
  shop.h.advance(40 * DAY_MS)
  await turns()
  expect([(await licenseOf(id))?.status, (await statusOf(shop.buyer, purchaseId)).status]).toEqual([
    'expired',
    'cancelled',
  ])
  const sealed = await shop.inDb((db) =>
    db.selectFrom('license_sealed').selectAll().where('purchase_id', '=', purchaseId).execute(),
  )
  expect(sealed).toEqual([])
  expect(await shop.transfersOf(purchaseId)).toEqual(['pending', 'post'])
  await shop.booksAreRight()
})

const away = (): Providers =>
  withManners(shop.providers, () => ({ cancel: async () => ({ kind: 'unavailable', cause: 'refused' }) }))
/** Asked for at once, and not done: by the word of the provider, for want of one, or not before the period ends. */
const NOT_DONE = {
  'the provider refuses': refused,
  'nobody can ask the provider': async (id: string) => {
    const { terminationId } = await terminate(id)
    await shop.goOn(MOST_UNREACHABLE, away())
    return terminationId
  },
  'it ends with the period instead': async (id: string) => {
    shop.provider.misbehave('cancel_refused')
    const { terminationId } = await terminate(id, { fallback: 'period_end' })
    await shop.turns()
    return terminationId
  },
  'nobody knows whether it ends with the period': async (id: string) => {
    const { terminationId } = await terminate(id, { fallback: 'period_end' })
    const refusing = withManners(shop.providers, () => ({
      cancel: async ({ effective }) =>
        effective === 'immediate'
          ? { kind: 'refused', code: 'commitment', earliestAt: null }
          : { kind: 'unknown', cause: 'no_answer' },
    }))
    await shop.turns(refusing)
    return terminationId
  },
} as const

it.each(Object.entries(NOT_DONE))('can be taken as before where %s: it is paid for', async (_, ask) => {
  const { id, purchaseId } = await license({ isTaken: false })
  const terminationId = await ask(id)
  expect(['failed', 'cancel_pending', 'cancelling']).toContain((await terminationOf(terminationId)).status)
  const told = (await toldOf(purchaseId)).filter((type) => type === 'license.purchase.awaiting_handoff')
  expect(told).toHaveLength(2)
  await takeDelivery(shop.h, shop.buyer, purchaseId)
  expect((await environment(id)).license.status).toBe('terminating')
})

it('cannot be taken again while its end is asked for once more', async () => {
  const { id, purchaseId } = await license({ isTaken: false })
  const terminationId = await refused(id)
  shop.provider.misbehave('cancel_refused')
  await resume(terminationId)
  expect(await statusOf(shop.buyer, purchaseId)).toMatchObject({ status: 'compensating', nextAction: { type: 'poll' } })
  await shop.turns()
  expect((await statusOf(shop.buyer, purchaseId)).nextAction).toEqual({ type: 'complete_vault_item' })
  await resume(terminationId)
  await shop.turns()
  expect([(await licenseOf(id))?.status, (await statusOf(shop.buyer, purchaseId)).status]).toEqual([
    'terminated',
    'cancelled',
  ])
  await shop.booksAreRight()
})

it('lets what ends with its period be taken until then: it is paid for', async () => {
  const { id, purchaseId } = await license({ isTaken: false })
  const { terminationId } = await terminate(id, { effective: 'period_end' })
  await turns()
  expect((await terminationOf(terminationId)).status).toBe('cancel_pending')
  expect((await statusOf(shop.buyer, purchaseId)).nextAction).toEqual({ type: 'complete_vault_item' })
  await takeDelivery(shop.h, shop.buyer, purchaseId)
  expect((await environment(id)).license.status).toBe('terminating')
  const untaken = await license({ isTaken: false })
  await terminate(untaken.id, { effective: 'period_end' })
  shop.h.advance(40 * DAY_MS)
  await turns()
  const ends = [await statusOf(shop.buyer, purchaseId), await statusOf(shop.buyer, untaken.purchaseId)]
  expect(ends.map(({ status }) => status)).toEqual(['completed', 'cancelled'])
  expect(await shop.inDb((db) => db.selectFrom('license_sealed').selectAll().execute())).toEqual([])
  expect([(await licenseOf(id))?.status, (await licenseOf(untaken.id))?.status]).toEqual(Array(2).fill('terminated'))
  expect(await shop.turns()).toBe(0)
  await shop.booksAreRight()
})

it.each([
  { kind: 'scheduled', effectiveAt: new Date('9999-12-31T00:00:00Z') },
  { kind: 'cancelled', effectiveAt: new Date('9999-12-31T00:00:00Z'), refundable: null },
] as const)('ends a licence with what was paid, however late a provider says: $kind', async (outcome) => {
  const { id } = await license()
  const late = withManners(shop.providers, () => ({ cancel: async () => outcome }))
  const { terminationId } = await terminate(id)
  await turns(late)
  const { periodEnd = null } = (await licenseOf(id)) ?? {}
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'cancel_pending', effectiveAt: periodEnd })
  shop.h.advance(40 * DAY_MS)
  await turns(late)
  expect([(await licenseOf(id))?.status, (await terminationOf(terminationId)).refund]).toEqual([
    'terminated',
    money(0n),
  ])
})

const saying = (outcome: CancelOutcome) => withManners(shop.providers, () => ({ cancel: async () => outcome }))

it('ends a licence with its period while nobody knows of its termination, and settles the money when they do', async () => {
  const { id } = await license()
  const silent = withManners(shop.providers, () => ({ cancel: async () => ({ kind: 'unknown', cause: 'no_answer' }) }))
  const { terminationId } = await terminate(id)
  await shop.goOn(MOST_UNKNOWN + 1, silent)
  expect((await terminationOf(terminationId)).status).toBe('in_review')
  const { periodStart = '', periodEnd = null } = (await licenseOf(id)) ?? {}
  shop.h.advance(40 * DAY_MS)
  await turns(silent)
  expect([(await licenseOf(id))?.status, (await terminationOf(terminationId)).status]).toEqual(['expired', 'in_review'])
  const before = await shop.balance()
  shop.h.advance(DAY_MS)
  // It had ended at once, and all of it is given back.
  await turns(saying({ kind: 'cancelled', effectiveAt: new Date(periodStart), refundable: PRICE }))
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'completed', refund: money(PRICE) })
  expect((await shop.balance()).available - before.available).toBe(PRICE)
  expect(await licenseOf(id)).toMatchObject({ status: 'expired', terminatedAt: periodEnd })
  expect(await toldOf(id)).toEqual(['license.activated', 'license.expired'])
  await shop.booksAreRight()
})

it('settles what the provider says when the period is over by now, and never more than was paid for it', async () => {
  const { id } = await license()
  const silent = withManners(shop.providers, () => ({ cancel: async () => ({ kind: 'unknown', cause: 'no_answer' }) }))
  const { terminationId } = await terminate(id)
  await shop.goOn(MOST_UNKNOWN + 1, silent)
  const effectiveAt = shop.h.deps.now()
  shop.h.advance(40 * DAY_MS)
  await turns(silent)
  expect((await licenseOf(id))?.status).toBe('expired')
  const before = await shop.balance()
  const giving = (refundable: bigint) => saying({ kind: 'cancelled', effectiveAt, refundable })
  shop.h.advance(DAY_MS)
  await turns(giving(PRICE + 1n))
  expect([(await terminationOf(terminationId)).status, await shop.balance()]).toEqual(['in_review', before])
  shop.h.advance(DAY_MS)
  await turns(giving(PRICE / 4n))
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'completed', refund: money(PRICE / 4n) })
  expect((await shop.balance()).available - before.available).toBe(PRICE / 4n)
  await shop.booksAreRight()
})

it('runs until the day that the provider has ended it for, and then gives back what that has named', async () => {
  const { id } = await license()
  const before = await shop.balance()
  const effectiveAt = new Date(shop.h.deps.now().getTime() + 10 * DAY_MS)
  const { terminationId } = await terminate(id)
  await shop.turns(saying({ kind: 'cancelled', effectiveAt, refundable: PRICE / 4n }))
  expect(await terminationOf(terminationId)).toMatchObject({
    ...{ status: 'cancel_pending', effectiveAt: effectiveAt.toISOString(), refund: null },
  })
  shop.h.advance(9 * DAY_MS)
  await turns()
  expect([(await environment(id)).license.status, await shop.balance()]).toEqual(['terminating', before])
  shop.h.advance(DAY_MS)
  await turns()
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'completed', refund: money(PRICE / 4n) })
  expect([(await licenseOf(id))?.status, (await shop.balance()).available - before.available]).toEqual([
    ...['terminated', PRICE / 4n],
  ])
  await shop.booksAreRight()
})

it('is asked for in another way after it has failed; the one before is over then', async () => {
  const { id } = await license()
  const first = await refused(id)
  // Asked for in the same way it is the same one, and says how to go on.
  expect(await terminate(id)).toMatchObject({ terminationId: first, nextAction: { type: 'resume' } })
  const before = await shop.balance()
  const asked = await Promise.all(Array.from({ length: 4 }, () => terminate(id, { effective: 'period_end' })))
  expect(new Set(asked.map(({ terminationId }) => terminationId)).size).toBe(1)
  const second = asked[0]?.terminationId ?? ''
  expect(second).not.toBe(first)
  expect(await terminationOf(first)).toMatchObject({
    ...{ status: 'failed', retryable: false, nextAction: { type: 'none' } },
    transitions: [{}, {}, {}, { cause: 'replaced' }],
  })
  expect(await outcomes([resume(first), terminate(id)])).toEqual([
    'termination_not_resumable',
    'termination_in_progress',
  ])
  await shop.turns()
  expect((await terminationOf(second)).status).toBe('cancel_pending')
  shop.h.advance(40 * DAY_MS)
  await turns()
  expect(await terminationOf(second)).toMatchObject({ status: 'completed', refund: money(0n) })
  expect([(await terminationOf(first)).status, (await licenseOf(id))?.status]).toEqual(['failed', 'terminated'])
  expect(await shop.balance()).toEqual(before)
  await shop.booksAreRight()
})

it('gives back once when one that was refused is resumed and another one is asked for, however they meet', async () => {
  const { id } = await license()
  const first = await refused(id)
  const before = await shop.balance()
  await Promise.allSettled([resume(first), terminate(id, { fallback: 'period_end' }), resume(first)])
  await turns()
  const { rows } = await shop.inDb((db) =>
    sql<{ state: string; refund: string | null }>`
      select state, refund::text as refund from license_termination where instance_id = ${id} and state = 'completed'`.execute(
      db,
    ),
  )
  expect(rows).toHaveLength(1)
  expect((await shop.balance()).available - before.available).toBe(BigInt(rows[0]?.refund ?? 0))
  expect((await licenseOf(id))?.status).toBe('terminated')
  await shop.booksAreRight()
})
