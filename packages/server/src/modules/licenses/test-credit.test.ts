import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { outcomes } from '../../../test/people.ts'
import { seedOperator } from '../../../test/principals.ts'
import {
  type Buyer,
  giveCredit,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
  takeDelivery,
  takeTurns,
} from '../../../test/provider/license-buyer.ts'
import { withManners } from '../../../test/provider/provider-scene.ts'
import { inOrg } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ledgerDifferences } from '../../ledger/ledger.ts'
import type { LicenseProvider } from '../../licenses/provider.ts'
import { makeProviders } from '../../licenses/providers.ts'
import { budgetDifferences } from '../budgets/reserve.ts'
import { fetchUsage } from '../charges/usage.ts'
import { takeEndingTurn } from './expiry.ts'
import { takeRenewalTurn } from './renewal-turn.ts'

// What test credit pays for, where the operator sells something beside the sandbox. Catches: test credit that pays for something else, that
// becomes credit by way of a licence of the sandbox, or whose end takes what was paid in. Seen red: what is held not counted as used; licences
// from before the grant counted; those of the operator counted; nothing taken back after a release, after a refund; taken back before the
// end; the end missed where nothing was left; a resumed purchase held without ending it; more taken back than was test credit; a renewal held, or usage charged, without
// ending it.

const USD = 1_000_000n

let h: Harness
let org: LicenseOrg
let buyer: Buyer
beforeAll(async () => {
  h = await startHarness()
  const { client } = await seedOperator(h, await h.org('operator'))
  const offer = { name: 'Tool', description: '', provider: 'builtin', sku: 'T1', term: 'once', price: money(10n * USD) }
  const fields = [{ label: 'TOOL_KEY', isEnvironmentVariable: true }]
  await client.catalogue.put({ params: { licenseId: 'real-tool' }, body: { ...offer, term: 'once', fields } })
  await client.catalogue.put({ params: { licenseId: 'real-monthly' }, body: { ...offer, term: 'month', fields } })
})
afterAll(() => h.close())
beforeEach(async () => {
  org = await makeLicenseOrg(h, 'acme')
  buyer = await makeBuyer(h, org)
})

const inside = <T>(work: (db: Db) => Promise<T>): Promise<T> => inOrg(h.deps, org.orgId, work)
const fund = (amount: bigint) => giveCredit(h, org.orgId, amount * USD)
const takeGrant = () => org.founder.client.licenses.sandboxCredit()
const buy = (licenseId: string, quantity = 1) =>
  buyer.client.licenses.purchase({ body: { licenseId, quantity, vault: { mode: 'new', name: 'Licences' } } })
const usd = ({ amount }: { readonly amount: string }): string => (Number(amount) / 1e6).toFixed(2)
const balance = async (): Promise<string> => usd((await buyer.client.billing.balance()).available)
const movements = async (): Promise<string[]> =>
  (await buyer.client.billing.creditTransactions()).data.map(({ type, amount }) => `${type} ${usd(amount)}`)

async function booksAreRight(): Promise<void> {
  const wrong = await inside(async (db) => [
    ...(await ledgerDifferences(db, org.orgId)),
    ...(await budgetDifferences(db, org.orgId)),
  ])
  expect(wrong).toEqual([])
  const { rows } = await inside((db) =>
    sql<{ posted: string; pending: string }>`
      select sum(cr_posted - dr_posted)::text as posted, sum(cr_pending - dr_pending)::text as pending from ledger_account`.execute(
      db,
    ),
  )
  expect(rows).toEqual([{ posted: '0', pending: '0' }])
}

/** Bought, delivered and handed over. */
async function use(licenseId: string, quantity: number): Promise<string> {
  const { purchaseId, licenseInstanceId } = await buy(licenseId, quantity)
  await takeTurns(h)
  await takeDelivery(h, buyer, purchaseId)
  return licenseInstanceId
}
/** What is left of the period is given back, or so much. */
async function terminate(licenseInstanceId: string, refundable: bigint | null = null): Promise<void> {
  await buyer.client.licenses.terminate({ body: { licenseInstanceId } })
  const cancelled = async () => ({ kind: 'cancelled', refundable, effectiveAt: h.deps.now() }) as const
  await takeTurns(
    h,
    withManners(makeProviders(h.deps), () => ({ cancel: cancelled })),
  )
}
const refuseOrders = () =>
  takeTurns(
    h,
    withManners(makeProviders(h.deps), () => ({ order: async () => ({ kind: 'rejected', code: 'no' }) })),
  )

it('pays for nothing but the sandbox, whatever was bought before the grant', async () => {
  await fund(100n)
  await buy('real-tool', 10)
  await takeGrant()
  expect(await outcomes([buy('real-tool'), buy('real-tool', 10)])).toEqual(Array(2).fill('insufficient_credit'))
  // Nothing of a refused purchase stays, not even the end of the test credit.
  expect(await balance()).toBe('100.00')
  await buy('sandbox-once')
  await giveCredit(h, org.orgId, 10n * USD, 'two')
  await buy('real-tool')
  expect(await balance()).toBe('0.00')
  expect((await movements()).slice(0, 2)).toEqual(['hold -10.00', 'expiry -98.00'])
  await booksAreRight()
})

it('does not come back as credit with the refund of a licence of the sandbox', async () => {
  await fund(10n)
  await takeGrant()
  const licenseInstanceId = await use('sandbox-monthly', 7)
  await buy('real-tool')
  expect(await balance()).toBe('0.00')
  await terminate(licenseInstanceId)
  expect(await balance()).toBe('0.00')
  const [expiry = '', refund = ''] = await movements()
  expect([expiry.startsWith('expiry -8'), refund.startsWith('refund 8')]).toEqual([true, true])
  expect(expiry.slice('expiry -'.length)).toBe(refund.slice('refund '.length))
  await booksAreRight()
})

it('does not take what was paid in while a licence of the sandbox is only held, and goes when that is released', async () => {
  await fund(200n)
  await takeGrant()
  await buy('sandbox-monthly', 8)
  await buy('real-tool')
  expect(await balance()).toBe('190.00')
  await refuseOrders()
  // What was held for the tool has come back as well.
  expect(await balance()).toBe('200.00')
  expect((await movements()).filter((one) => one.startsWith('expiry'))).toEqual(['expiry -100.00'])
  await booksAreRight()
})

it('gives back as credit what was paid with credit, the first that comes back first', async () => {
  await fund(110n)
  await takeGrant()
  const first = await use('sandbox-once', 50)
  const second = await use('sandbox-once', 50)
  await buy('real-tool')
  expect(await balance()).toBe('0.00')
  await terminate(first, 100n * USD)
  const inBetween = await balance()
  await terminate(second, 100n * USD)
  expect([inBetween, await balance()]).toEqual(['100.00', '100.00'])
  await booksAreRight()
})

it('stays what it is while nothing else was bought', async () => {
  await takeGrant()
  await terminate(await use('sandbox-once', 50), 100n * USD)
  await buy('sandbox-once', 50)
  await refuseOrders()
  expect(await balance()).toBe('100.00')
  expect((await movements()).filter((one) => one.startsWith('expiry'))).toEqual([])
})

it('counts no licence of the sandbox that was paid for before the grant, and lets its refund be credit', async () => {
  await fund(110n)
  const early = await use('sandbox-once', 50)
  await takeGrant()
  await buy('real-tool')
  expect(await balance()).toBe('0.00')
  await terminate(early, 100n * USD)
  expect(await balance()).toBe('100.00')
  await booksAreRight()
})

it('ends also where a purchase of something else is held again', async () => {
  await fund(10n)
  const { purchaseId } = await buy('real-tool')
  await refuseOrders()
  await takeGrant()
  await buyer.client.licenses.resumePurchase({ params: { purchaseId }, query: {} })
  expect(await balance()).toBe('0.00')
  expect((await movements()).slice(0, 2)).toEqual(['hold -10.00', 'expiry -100.00'])
})

/** As of a provider that renews, and reports what is used. */
const works = (manners: Partial<LicenseProvider>) => ({
  ...{ deps: h.deps, worker: h.worker },
  providers: withManners(makeProviders(h.deps), () => manners),
})

it('pays for no renewal of what was bought before the grant, and ends with the first one', async () => {
  await fund(10n)
  const id = await use('real-monthly', 1)
  await takeGrant()
  const endsAt = async () =>
    new Date((await buyer.client.licenses.list()).data.find((one) => one.licenseInstanceId === id)?.periodEnd ?? 0)
  const before = await endsAt()
  const renewing = works({ renew: async ({ amount }) => ({ kind: 'renewed', amount, periodEnd: null }) })
  const turns = async () => {
    for (const take of [takeEndingTurn, takeRenewalTurn]) while (await take(renewing));
  }
  h.advance(before.getTime() - 12 * 3_600_000 - h.deps.now().getTime())
  await turns()
  // It waits for credit, and nothing of the try stays.
  expect([await balance(), await endsAt()]).toEqual(['100.00', before])
  await giveCredit(h, org.orgId, 15n * USD, 'two')
  h.advance(3_700_000)
  await turns()
  expect((await endsAt()) > before).toBe(true)
  expect(await balance()).toBe('5.00')
  expect((await movements()).slice(0, 3)).toEqual(['capture -10.00', 'hold -10.00', 'expiry -100.00'])
  await booksAreRight()
})

it('pays for no usage of what was bought before the grant, and ends with the first line of it', async () => {
  await fund(10n)
  const { purchaseId } = await buy('real-tool')
  await takeTurns(h)
  await takeDelivery(h, buyer, purchaseId)
  await takeGrant()
  const date = h.deps.now().toISOString().slice(0, 10)
  const line = { lineId: 'l1', account: org.orgId, externalId: purchaseId, date, quantity: 1, amount: 4n * USD }
  const reporting = works({ usage: async () => ({ kind: 'listed', lines: [line], next: null }) })
  await fetchUsage(reporting)
  expect(await balance()).toBe('100.00')
  await giveCredit(h, org.orgId, 5n * USD, 'two')
  await fetchUsage(reporting)
  expect([await balance(), (await movements()).slice(0, 2)]).toEqual(['1.00', ['charge -4.00', 'expiry -100.00']])
  await booksAreRight()
})

it('ends alike where several are begun together', async () => {
  await fund(60n)
  await takeGrant()
  await buy('sandbox-once', 10)
  const ends = await outcomes([
    ...Array.from({ length: 12 }, () => buy('real-tool')),
    ...Array.from({ length: 4 }, () => buy('sandbox-once', 100)),
  ])
  expect(ends.filter((end) => end === 'ok').length).toBe(6)
  expect(ends.slice(12)).toEqual(Array(4).fill('insufficient_credit'))
  expect(await balance()).toBe('0.00')
  expect((await movements()).filter((one) => one.startsWith('expiry'))).toEqual(['expiry -80.00'])
  await booksAreRight()
})
