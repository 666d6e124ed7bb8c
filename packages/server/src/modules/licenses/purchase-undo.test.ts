import { afterAll, beforeAll, expect, it } from 'vitest'
import { buy, statusOf } from '../../../test/provider/license-buyer.ts'
import { withManners } from '../../../test/provider/provider-scene.ts'
import { PRICE } from '../../../test/provider/reference-provider.ts'
import { type Shop, startShop } from '../../../test/provider/shop.ts'
import type { LicenseProvider, Providers } from '../../licenses/provider.ts'
import { MOST_UNREACHABLE } from './turns.ts'

// What nobody resumes is undone. Catches: money that stays held although the provider has nothing of the order; money that is free on a word
// that is not the provider's, or before it has cancelled. Seen red: the provider not asked for the order; every answer of it taken
// for nothing; what it has refused to cancel taken for cancelled.

const [DAY_MS, HOUR_MS] = [86_400_000, 3_600_000]
let shop: Shop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.close())

const gone = { kind: 'unavailable', cause: 'not_reachable' } as const
const unreachable = (order: LicenseProvider['order'] = async () => gone): Providers =>
  withManners(shop.providers, () => ({ order, getOrder: async () => gone }))

/** Bought, not delivered as far as we know, and not resumed for a week: it is given up by the next turn. */
async function notResumed(providers: Providers = unreachable()) {
  const { purchaseId } = await buy(shop.buyer, 'mail-pro')
  await shop.goOn(MOST_UNREACHABLE, providers)
  expect(await statusOf(shop.buyer, purchaseId)).toMatchObject({ status: 'failed' })
  shop.h.advance(7 * DAY_MS)
  return purchaseId
}
const placing = (fault: 'delay' | 'rejected') => {
  const [acme] = [...shop.providers.values()].filter(({ id }) => id === 'acme')
  return unreachable(async (order) => {
    shop.provider.misbehave(fault)
    await acme?.order(order)
    return gone
  })
}
const cancelsOf = (purchaseId: string): number =>
  shop.provider.asked.filter((asked) => asked === `POST /orders/${purchaseId}/cancel`).length

it('frees the money of an order that the provider does not know, and cancels nothing there', async () => {
  const before = await shop.balance()
  const purchaseId = await notResumed()
  expect((await shop.balance()).held).toBe(before.held + PRICE)
  await shop.turns()
  expect(await statusOf(shop.buyer, purchaseId)).toMatchObject({ status: 'cancelled', nextAction: { type: 'none' } })
  expect(await shop.transfersOf(purchaseId)).toEqual(['pending', 'void'])
  expect([await shop.balance(), cancelsOf(purchaseId), shop.ordersOf(purchaseId)]).toEqual([before, 0, []])
  await shop.booksAreRight()
})

it('frees the money of an order that the provider has refused without our hearing of it', async () => {
  const before = await shop.balance()
  const purchaseId = await notResumed(placing('rejected'))
  expect(shop.ordersOf(purchaseId)).toMatchObject([{ status: 'rejected' }])
  await shop.turns()
  expect((await statusOf(shop.buyer, purchaseId)).status).toBe('cancelled')
  expect([await shop.balance(), cancelsOf(purchaseId)]).toEqual([before, 0])
  await shop.booksAreRight()
})

it('believes nothing that is not signed: the money stays held until the provider has said it', async () => {
  const before = await shop.balance()
  const purchaseId = await notResumed()
  for (const faults of [['bad_signature', 'bad_signature'] as const, ['error_before', 'lost_answer'] as const]) {
    shop.provider.misbehave(...faults)
    await shop.turns()
    expect(await statusOf(shop.buyer, purchaseId)).toMatchObject({
      ...{ status: 'compensating', statusReason: 'provider_cancel_unclear' },
    })
    expect((await shop.balance()).held).toBe(before.held + PRICE)
    shop.h.advance(HOUR_MS)
  }
  await shop.turns()
  expect((await statusOf(shop.buyer, purchaseId)).status).toBe('cancelled')
  expect(await shop.balance()).toEqual(before)
})

it('keeps the money while the provider refuses to cancel what it has, and frees it when it has cancelled', async () => {
  const before = await shop.balance()
  const purchaseId = await notResumed(placing('delay'))
  // It is asked for the order first.
  shop.provider.misbehave('delay', 'cancel_refused')
  await shop.turns()
  expect(await statusOf(shop.buyer, purchaseId)).toMatchObject({
    ...{ status: 'compensating', statusReason: 'provider_cancel_refused' },
  })
  expect((await shop.balance()).held).toBe(before.held + PRICE)
  shop.h.advance(HOUR_MS)
  await shop.turns()
  expect((await statusOf(shop.buyer, purchaseId)).status).toBe('cancelled')
  expect(shop.ordersOf(purchaseId)).toMatchObject([{ status: 'cancelled' }])
  expect([await shop.balance(), await shop.transfersOf(purchaseId)]).toEqual([before, ['pending', 'void']])
  await shop.booksAreRight()
})
