import { money } from '@strongroom/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { codeOf } from '../../../test/people.ts'
import { buy } from '../../../test/provider/license-buyer.ts'
import { PRICE } from '../../../test/provider/reference-provider.ts'
import { type Shop, startShop } from '../../../test/provider/shop.ts'
import { dayOf } from './rules.ts'
import { fetchUsage } from './usage.ts'

// Usage in budgets. Catches: a budget that shows room where none is left, because what was used is not counted; usage that is counted twice, or
// counted and not paid; a threshold that is not told, or twice. Seen red: nothing counted; counted again with each list; thresholds left out.

let shop: Shop
let externalId: string
let budgetId: string
beforeAll(async () => {
  shop = await startShop()
  const { h, org, buyer } = shop
  const manager = await h.agent(org, ['machine.budget.all'], ['TENANT_BUDGET_MANAGER'])
  const windows = [
    { kind: 'monthly', limit: money(3n * PRICE) } as const,
    { kind: 'rolling', limit: money(100n * PRICE), duration: 'P7D' } as const,
  ]
  const body = { subjectType: 'agent', subjectId: buyer.agentId, windows } as const
  budgetId = (await manager.client.budgets.create({ body })).budgetId
  externalId = (await buy(buyer, 'mail-pro')).purchaseId
  await shop.turns()
})
afterAll(() => shop.close())

const use = (lineId: string, amount: bigint): void =>
  shop.provider.use({ lineId, externalId, date: dayOf(shop.h.deps.now()), quantity: 1, amount: String(amount) })
const windows = () =>
  shop.inDb(async (db) => {
    const rows = await db.selectFrom('budget_window').select(['reserved', 'spent']).orderBy('rule_no').execute()
    return rows.map(({ reserved, spent }) => [BigInt(reserved), BigInt(spent)])
  })
const reached = () =>
  shop.inDb(async (db) => {
    const rows = await db
      .selectFrom('outbox_event')
      .select('body')
      .where('type', '=', 'budget.threshold_reached')
      .orderBy('event_id')
      .execute()
    return rows.map(({ body }) => JSON.parse(body).data.object).map(({ id, threshold }) => [id, threshold])
  })

it('counts what was used, once, in every window that applies', async () => {
  use('a', PRICE)
  await fetchUsage(shop.works())
  await Promise.all([fetchUsage(shop.works()), fetchUsage(shop.works())])
  expect(await windows()).toEqual(Array(2).fill([0n, 2n * PRICE]))
  expect(await reached()).toEqual([[budgetId, 50]])
  await shop.booksAreRight()
})

it('is refused by no budget, and leaves no room for who asks next', async () => {
  use('b', 5n * PRICE)
  await fetchUsage(shop.works())
  expect(await windows()).toEqual(Array(2).fill([0n, 7n * PRICE]))
  expect(new Set(await reached())).toEqual(
    new Set([
      [budgetId, 50],
      [budgetId, 80],
      [budgetId, 100],
    ]),
  )
  expect(await codeOf(buy(shop.buyer, 'mail-pro'))).toBe('budget_exceeded')
  await shop.booksAreRight()
})

it('counts nothing of what the credit does not cover', async () => {
  use('too-much', (await shop.balance()).available + 1n)
  await fetchUsage(shop.works())
  expect(await windows()).toEqual(Array(2).fill([0n, 7n * PRICE]))
  await shop.booksAreRight()
})
