import { afterAll, beforeAll, expect, it } from 'vitest'
import { buy, statusOf, takeDelivery } from '../../../test/provider/license-buyer.ts'
import { withManners } from '../../../test/provider/provider-scene.ts'
import { type Shop, startShop } from '../../../test/provider/shop.ts'
import { BUILT_IN } from '../../licenses/catalogue.ts'
import type { OrderOutcome } from '../../licenses/provider.ts'
import { makeLicenseWorker } from './work.ts'

// The turns of many beside each other. Catches: a provider that never answers keeping everybody waiting who has bought elsewhere, or wants a
// licence to end; steps that nobody waits for when the server is stopped.
// Seen red: each turn waited for before the next is claimed; the busy providers not told to who claims.

let shop: Shop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.close())

const throws = (error: unknown): never => {
  throw error
}

it('goes on with what was bought elsewhere while a provider does not answer', async () => {
  const { buyer } = shop
  let answer: (outcome: OrderOutcome) => void = () => undefined
  const silence = new Promise<OrderOutcome>((resolve) => {
    answer = resolve
  })
  const asked = new Set<string>()
  const silent = withManners(shop.providers, ({ id }) =>
    id === BUILT_IN
      ? {}
      : {
          order: ({ purchaseId }) => {
            asked.add(purchaseId)
            return silence
          },
        },
  )
  const worker = makeLicenseWorker(shop.works(silent), { onFailure: throws })
  const stuck: string[] = []
  for (let i = 0; i < 6; i++) stuck.push((await buy(buyer, 'mail-pro')).purchaseId)
  const turn = async <T>(what: () => T) => {
    await worker.turn()
    return what()
  }
  await expect.poll(() => turn(() => asked.size)).toBe(4)
  const { purchaseId, licenseInstanceId } = await buy(buyer, 'own-key')
  const bought = async () => (await statusOf(buyer, purchaseId)).status
  await expect.poll(() => turn(bought)).toBe('awaiting_handoff')
  await takeDelivery(shop.h, buyer, purchaseId)
  const { terminationId } = await buyer.client.licenses.terminate({ body: { licenseInstanceId } })
  const ended = async () => (await buyer.client.licenses.terminationStatus({ params: { terminationId } })).status
  await expect.poll(() => turn(ended)).toBe('completed')
  // No more than four at once, however many wait.
  expect(asked.size).toBe(4)
  answer({ kind: 'rejected', code: 'too_late' })
  await worker.idle()
  const states = (await Promise.all(stuck.map((id) => statusOf(buyer, id)))).map(({ status }) => status)
  expect(states.filter((status) => status === 'failed')).toHaveLength(4)
  await shop.booksAreRight()
})
