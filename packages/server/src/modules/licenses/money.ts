import { money } from '@strongroom/contract'
import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { applyTransfers, type Transfer } from '../../ledger/ledger.ts'
import { tellReached } from '../../outbox/budget-events.ts'
import { type DomainEvent, emit } from '../../outbox/outbox.ts'
import { reserve, type Subject, settle } from '../budgets/reserve.ts'
import type { PurchaseRow } from './purchase-store.ts'
import { endTestCredit, takeBackTestCredit } from './test-credit-store.ts'

// The money of a purchase: promised in budgets, held in the credit, taken when the provider has delivered or given back when it has not.
// Everybody takes the locks in one order: budgets, then the row of the purchase, the ledger last.

type Priced = Pick<PurchaseRow, 'orgId' | 'purchaseId' | 'holdNo' | 'amount' | 'provider' | 'tenantId' | 'subjects'>
type Maker = Pick<Deps, 'now' | 'newId'>

/** Whoever reserves is asked for once; another round reserves under another name. */
export const ownerOf = ({ purchaseId, holdNo }: Pick<Priced, 'purchaseId' | 'holdNo'>): string =>
  holdNo === 1 ? `purchase:${purchaseId}` : `purchase:${purchaseId}.${holdNo}`

/** What the provider knows an order by: a round that it has refused is never mistaken for the next. */
export const externalIdOf = ({ purchaseId, holdNo }: Pick<Priced, 'purchaseId' | 'holdNo'>): string =>
  holdNo === 1 ? purchaseId : `${purchaseId}-${holdNo}`

export const subjectIn = (text: string): Subject => {
  const at = text.indexOf(' ')
  return { type: text.slice(0, at) as Subject['type'], id: text.slice(at + 1) }
}

const named = ({ purchaseId, holdNo }: Priced, what: 'hold' | 'capture' | 'release') => ({
  id: `${what}:${purchaseId}:${holdNo}`,
  group: `purchase:${purchaseId}`,
  code: 'purchase' as const,
  refType: 'license_purchase',
  refId: purchaseId,
})

/** The transfer that pays for what was bought. */
export const captureId = (priced: Pick<Priced, 'purchaseId' | 'holdNo'>): string =>
  `capture:${priced.purchaseId}:${priced.holdNo}`

/** In every budget that applies, or refuses. Before the row of the purchase is touched. */
export async function promise(maker: Maker, db: Db, priced: Priced): Promise<void> {
  const { orgId, amount, subjects } = priced
  const reservation = { owner: ownerOf(priced), amount: BigInt(amount), subjects: subjects.map(subjectIn) }
  await tellReached(maker, db, orgId, await reserve(db, orgId, reservation, maker.now()))
}

export const holdEvent = ({ purchaseId, amount, tenantId }: Priced, ended: boolean): DomainEvent => ({
  type: ended ? 'billing.hold.released' : 'billing.hold.created',
  object: { type: 'hold', id: purchaseId, amount: money(amount) },
  tenantId,
})

export const holdTransfer = (priced: Priced): Transfer => ({
  ...named(priced, 'hold'),
  ...{ dr: 'credit', cr: `payable:${priced.provider}`, amount: BigInt(priced.amount), phase: 'pending' },
})

/** Of the credit, after everything else of the transaction. */
export async function hold(maker: Maker, db: Db, priced: Priced): Promise<void> {
  const { orgId } = priced
  await emit(maker, db, orgId, holdEvent(priced, false))
  await endTestCredit(db, priced, maker.now())
  await applyTransfers(db, orgId, [holdTransfer(priced)], maker.now())
}

/** The budgets first: call these before the row is changed, and the ones of the ledger after. */
export const settlePromise = (maker: Maker, db: Db, priced: Priced, spent: bigint): Promise<void> =>
  settle(db, priced.orgId, ownerOf(priced), spent, maker.now())

export async function capture({ now }: Maker, db: Db, priced: Priced): Promise<void> {
  const pendingId = named(priced, 'hold').id
  const all = { phase: 'post', pendingId, amount: BigInt(priced.amount) } as const
  await applyTransfers(db, priced.orgId, [{ ...named(priced, 'capture'), ...all }], now())
}

export async function release(maker: Maker, db: Db, priced: Priced): Promise<void> {
  await emit(maker, db, priced.orgId, holdEvent(priced, true))
  const pendingId = named(priced, 'hold').id
  await applyTransfers(db, priced.orgId, [{ ...named(priced, 'release'), phase: 'void', pendingId }], maker.now())
  await takeBackTestCredit(db, priced, BigInt(priced.amount), maker.now())
}
