import { rotateKey } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identityOf } from '../../../test/actors.ts'
import { operatorOf } from '../../../test/operator-seed.ts'
import { codeOf } from '../../../test/people.ts'
import { type Dying, dyingAt } from '../../../test/provider/dying.ts'
import { type Buyer, buy, makeBuyer, statusOf, takeDelivery } from '../../../test/provider/license-buyer.ts'
import { withManners } from '../../../test/provider/provider-scene.ts'
import type { Fault } from '../../../test/provider/reference-provider.ts'
import { PRICE } from '../../../test/provider/reference-provider.ts'
import { type Shop, startShop } from '../../../test/provider/shop.ts'
import { giveUp, listReview } from '../../operator/licenses.ts'
import { takePurchaseTurn } from './purchase-turn.ts'
import { takeTerminationTurn } from './termination-turn.ts'
import { MOST_UNKNOWN } from './turns.ts'

// Processes that die between two steps, or come back late; and a buyer who has another key meanwhile. Catches: a second order, a second
// capture, a purchase that nobody goes on with, a credential that nobody can open.
// Seen red: the lease left out; a state changed without its version; the new key not taken; the old sealed credential kept; what a
// provider does not give again asked for without an end, and without a word to anybody.

let shop: Shop
let buyer: Buyer
beforeAll(async () => {
  shop = await startShop()
  buyer = shop.buyer
})
afterAll(() => shop.close())

it('seals anew to the key that the buyer has now, without a second order', async () => {
  const old = await makeBuyer(shop.h, shop.org, 'bob')
  const { purchaseId } = await buy(old, 'mail-pro')
  await shop.turns()
  const params = { purchaseId }
  const waiting = await statusOf(old, purchaseId)
  // The same key: nothing is to be done.
  const same = await old.client.licenses.resumePurchase({ params, query: { reseal: true } })
  expect(same.handoff).toEqual(waiting.handoff)
  const next = await identityOf('carol', `agent:${old.agentId}`)
  const { event } = await rotateKey({ org: old.orgId, at: Date.now(), held: [] }, old.identity, next)
  await old.client.keys.register({ body: { event } })
  const renewed: Buyer = { ...old, identity: next }
  await expect(takeDelivery(shop.h, renewed, purchaseId)).rejects.toThrow(/another recipient/)
  expect(await codeOf(shop.org.founder.client.licenses.resumePurchase({ params, query: { reseal: true } }))).toBe(
    'handoff_not_ready',
  )
  const sealing = await renewed.client.licenses.resumePurchase({ params, query: { reseal: true } })
  expect([sealing.status, sealing.nextAction.type, 'handoff' in sealing]).toEqual(['awaiting_handoff', 'poll', false])
  await shop.turns()
  expect((await statusOf(renewed, purchaseId)).handoff?.recipientKeyId).toBe(next.kid)
  expect((await takeDelivery(shop.h, renewed, purchaseId)).answer.purchase.status).toBe('completed')
  expect(shop.ordersOf(purchaseId)).toHaveLength(1)
  expect(await shop.transfersOf(purchaseId)).toEqual(['pending', 'post'])
})

it('calls a human when the provider does not give again what is to be sealed anew, and seals it when it does', async () => {
  const { orgId } = shop.org
  const old = await makeBuyer(shop.h, shop.org, 'dave')
  const { purchaseId, licenseInstanceId } = await buy(old, 'mail-pro')
  await shop.turns()
  const next = await identityOf('hybrid', `agent:${old.agentId}`)
  const { event } = await rotateKey({ org: old.orgId, at: Date.now(), held: [] }, old.identity, next)
  await old.client.keys.register({ body: { event } })
  const renewed: Buyer = { ...old, identity: next }
  await renewed.client.licenses.resumePurchase({ params: { purchaseId }, query: { reseal: true } })
  const silent = withManners(shop.providers, () => ({
    getOrder: async () => ({ kind: 'unknown', cause: 'no_answer' }),
  }))
  await shop.turns(silent)
  const reason = { status: 'awaiting_handoff', statusReason: 'provider_outcome_unknown' }
  expect(await statusOf(renewed, purchaseId)).toMatchObject({ ...reason, nextAction: { type: 'poll' } })
  await shop.goOn(MOST_UNKNOWN, silent)
  expect(await statusOf(renewed, purchaseId)).toMatchObject({ ...reason, nextAction: { type: 'contact_support' } })
  const operator = { ...operatorOf(shop.h), now: shop.h.deps.now }
  expect(await listReview(operator, orgId)).toMatchObject([{ purchaseId, reason: 'provider_outcome_unknown' }])
  await expect(giveUp(operator, orgId, purchaseId)).rejects.toThrow(/was delivered and paid for/)
  await expect(giveUp(operator, orgId, purchaseId)).rejects.toMatchObject({
    nextStep: expect.stringContaining(`strongroom license terminate ${licenseInstanceId}`),
  })
  // It is asked on, only more seldom.
  shop.h.advance(7 * 3_600_000)
  await shop.turns()
  expect(await statusOf(renewed, purchaseId)).toMatchObject({
    statusReason: null,
    handoff: { recipientKeyId: next.kid },
  })
  expect(await listReview(operator, orgId)).toEqual([])
  await takeDelivery(shop.h, renewed, purchaseId)
})

/** The process dies at this point: what it was about to do is not done, and its lease is left. */
class Died extends Error {}
const die = async (): Promise<never> => {
  throw new Died()
}

it.each([
  ['before it has asked', () => ({ order: die, getOrder: die })],
  [
    'after the provider has answered',
    (provider: Parameters<Parameters<typeof withManners>[1]>[0]) => ({
      order: async (order: Parameters<typeof provider.order>[0]) => provider.order(order).then(die),
      getOrder: async (order: Parameters<typeof provider.order>[0]) => provider.getOrder(order).then(die),
    }),
  ],
] as const)('has one order and one capture when a process dies %s', async (_, change) => {
  const { purchaseId } = await buy(buyer, 'mail-pro')
  const dying = withManners(shop.providers, change)
  await takePurchaseTurn(shop.works(dying))
  await expect(takePurchaseTurn(shop.works(dying))).rejects.toThrow(Died)
  // Nobody else takes it while the lease lasts; then somebody does.
  expect(await takePurchaseTurn(shop.works())).toBe(false)
  shop.h.advance(61_000)
  await expect(takePurchaseTurn(shop.works(dying))).rejects.toThrow(Died)
  shop.h.advance(61_000)
  await shop.turns()
  await shop.isDelivered(purchaseId)
})

it('gives one licence when a lease ran out and two finish the same step', async () => {
  const { purchaseId } = await buy(buyer, 'mail-pro')
  await takePurchaseTurn(shop.works())
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const slow = withManners(shop.providers, (provider) => ({
    order: async (order) => {
      const outcome = await provider.order(order)
      await gate
      return outcome
    },
  }))
  const first = takePurchaseTurn(shop.works(slow))
  await expect.poll(() => shop.ordersOf(purchaseId).length).toBe(1)
  shop.h.advance(61_000)
  await shop.turns()
  open()
  await first
  await shop.isDelivered(purchaseId)
})

it('takes every purchase that is due once, with many workers at a time', async () => {
  const ids = (await Promise.all(Array.from({ length: 6 }, () => buy(buyer, 'mail-once')))).map((one) => one.purchaseId)
  for (let i = 0; i < 4; i++) await Promise.all(Array.from({ length: 9 }, () => takePurchaseTurn(shop.works())))
  for (const id of ids) await shop.isDelivered(id)
})

/** Takes turns until nothing is due, or until it dies. */
async function workAndDie({ works, hasDied }: Dying): Promise<boolean> {
  try {
    while ((await takePurchaseTurn(works)) || (await takeTerminationTurn(works)));
  } catch (error) {
    if (!hasDied()) throw error
  }
  return hasDied()
}

/** With one death more at a later point each time, until nobody dies any more. */
async function atEveryPoint(
  begin: () => Promise<string>,
  faults: readonly Fault[],
  end: (id: string) => Promise<void>,
) {
  let points = 0
  for (let died = true; died; ) {
    const id = await begin()
    shop.provider.misbehave(...faults)
    died = await workAndDie(dyingAt(points, shop.works()))
    // The lease of who died runs out.
    shop.h.advance(61_000)
    await shop.goOn(1)
    await end(id)
    if (died) points += 1
  }
  return points
}

it.each([[[]], [['lost_answer']]] as [Fault[]][])(
  'has one order, one capture and one licence wherever a process dies in a purchase: %j',
  async (faults) => {
    const begin = async (): Promise<string> => (await buy(buyer, 'mail-pro')).purchaseId
    expect(await atEveryPoint(begin, faults, shop.isDelivered)).toBeGreaterThan(15)
  },
)

it('ends a licence once, and pays back once, wherever a process dies in a termination', async () => {
  const before = (await shop.balance()).available
  const begin = async (): Promise<string> => {
    const bought = await buy(buyer, 'mail-pro')
    await shop.turns()
    const { licenseInstanceId } = bought
    return (await buyer.client.licenses.terminate({ body: { licenseInstanceId } })).terminationId
  }
  let kept = 0n
  const points = await atEveryPoint(begin, ['lost_answer'], async (terminationId) => {
    const ended = await buyer.client.licenses.terminationStatus({ params: { terminationId } })
    expect(ended.status).toBe('completed')
    kept += PRICE - BigInt(ended.refund?.amount ?? 0)
    expect(await shop.transfersOf(terminationId)).toEqual(['single'])
    expect((await shop.balance()).available).toBe(before - kept)
    await shop.booksAreRight()
  })
  expect(points).toBeGreaterThan(20)
})
