import { afterAll, beforeAll, expect, it } from 'vitest'
import { buy } from '../../../test/provider/license-buyer.ts'
import { withManners } from '../../../test/provider/provider-scene.ts'
import type { Fault } from '../../../test/provider/reference-provider.ts'
import { type Shop, startShop } from '../../../test/provider/shop.ts'
import { closesAt, dayOf, monthOf } from './rules.ts'
import { takeLineTurn, takeMonthTurn } from './turns.ts'
import { fetchUsage } from './usage.ts'

// Usage that a provider reports afterwards. Catches: a line charged twice, a line that is charged anew when its amount changes, one of a
// closed month that is lost or changes it, a line without its transfer. Seen red: a line under another name each time; the transfer left
// out; the usage of what somebody else has sold; a changed amount charged again; a line written into a closed month.

let shop: Shop
let license: { readonly id: string; readonly externalId: string }
beforeAll(async () => {
  shop = await startShop()
  const { purchaseId, licenseInstanceId } = await buy(shop.buyer, 'mail-pro')
  await shop.turns()
  license = { id: licenseInstanceId, externalId: purchaseId }
})
afterAll(() => shop.close())

const today = (): string => dayOf(shop.h.deps.now())
const use = (lineId: string, amount: bigint, date = today(), month?: string): void =>
  shop.provider.use({ lineId, externalId: license.externalId, date, quantity: 3, amount: String(amount) }, month)
const fetched = (...faults: readonly Fault[]): Promise<void> => {
  shop.provider.misbehave(...faults)
  return fetchUsage(shop.works())
}
const linesOf = async () => {
  const rows = await shop.inDb((db) =>
    db
      .selectFrom('charge_line')
      .select(['kind', 'date', 'corrects_date', 'amount', 'transfer_id'])
      .where('source', 'like', 'usage:%')
      .orderBy('source')
      .execute(),
  )
  return rows.map(({ kind, date, corrects_date, amount, transfer_id }) =>
    [kind, date, corrects_date ?? '-', String(amount), transfer_id].join(' '),
  )
}
const spent = async (before: bigint): Promise<bigint> => before - (await shop.balance()).available

it('charges each line once, however often it is listed and however many ask', async () => {
  const before = (await shop.balance()).available
  for (const [i, name] of ['a', 'b', 'c'].entries()) use(name, BigInt(1000 + i))
  // Of the month before, then the first page of this one.
  await fetched('delay', 'duplicate_lines')
  await Promise.all([fetchUsage(shop.works()), fetchUsage(shop.works())])
  const day = today()
  expect(await linesOf()).toEqual([
    `usage ${day} - 1000 charge:acme:a`,
    `usage ${day} - 1001 charge:acme:b`,
    `usage ${day} - 1002 charge:acme:c`,
  ])
  expect(await spent(before)).toBe(3003n)
  await shop.booksAreRight()
})

it.each(['error_before', 'error_after_commit', 'lost_answer', 'bad_signature'] as const)(
  'charges nothing of a list that did not come, and all of it when it does: %s',
  async (fault) => {
    const [before, known] = [(await shop.balance()).available, (await linesOf()).length]
    use(`after-${fault}`, 500n)
    await fetched('delay', fault)
    expect((await linesOf()).length).toBe(known)
    await fetched()
    expect([(await linesOf()).length - known, await spent(before)]).toEqual([1, 500n])
  },
)

it('keeps to the amount that was listed first, and to orders of its own', async () => {
  const before = (await shop.balance()).available
  const known = await linesOf()
  await fetched('delay', 'wrong_amount', 'wrong_amount', 'wrong_amount', 'wrong_amount')
  shop.provider.use({ lineId: 'x', externalId: 'pur_nobodys', date: today(), quantity: 1, amount: '9' })
  await fetched()
  expect([await linesOf(), await spent(before)]).toEqual([known, 0n])
  use('sold-by-another', 9n)
  const elsewhere = withManners(shop.providers, ({ usage }) => ({ id: 'other', ...(usage && { usage }) }))
  await fetchUsage(shop.works(elsewhere))
  expect([await linesOf(), await spent(before)]).toEqual([known, 0n])
  await fetched()
  expect([(await linesOf()).length - known.length, await spent(before)]).toEqual([1, 9n])
})

it('takes what the credit does not cover when it does', async () => {
  const { available } = await shop.balance()
  const known = (await linesOf()).length
  use('too-much', available + 1n)
  use('little', 7n)
  await fetched()
  expect([(await linesOf()).length - known, await spent(available)]).toEqual([1, 7n])
  await shop.booksAreRight()
})

it('puts what comes late into the month it comes in, and leaves a closed month as it is', async () => {
  const { h } = shop
  const day = today()
  const month = monthOf(day)
  h.advance(closesAt(month).getTime() + 3_600_000 - h.deps.now().getTime())
  while (await takeLineTurn(h.deps, h.worker));
  while (await takeMonthTurn(h.deps, h.worker));
  while (await takeMonthTurn(h.deps, h.worker));
  const before = (await shop.balance()).available
  use('late', 40n, day)
  await fetched()
  await fetched()
  expect((await linesOf()).filter((line) => line.includes(':late'))).toEqual([
    `adjustment ${today()} ${day} 40 charge:acme:late`,
  ])
  expect(await spent(before)).toBe(40n)
})
