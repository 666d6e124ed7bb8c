import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { ApiError } from '../errors.ts'

// The book of an organisation. Whoever moves money names the transfer: asking again with the same name changes nothing.

/** `clearing:<chain>:<asset>`, `payable:<provider>` and others; `credit` is what the organisation has prepaid. */
export type Account =
  | 'credit'
  | 'margin'
  | 'rounding'
  | 'suspense'
  | 'promo'
  | 'writeoff'
  | `clearing:${string}`
  | `payable:${string}`

export const TRANSFER_CODES = [
  'funding',
  'purchase',
  'charge',
  'refund',
  'promo',
  'expiry',
  'adjustment',
  'reorg',
] as const
export type TransferCode = (typeof TRANSFER_CODES)[number]

interface Named {
  readonly id: string
  readonly group: string
  readonly code: TransferCode
  readonly refType: string
  readonly refId: string
}
interface Between {
  readonly dr: Account
  readonly cr: Account
  readonly amount: bigint
}

export type Transfer =
  | (Named & Between & { readonly phase: 'single' | 'pending' })
  /** All or a part of a hold; the rest is free again. */
  | (Named & { readonly phase: 'post'; readonly pendingId: string; readonly amount: bigint })
  | (Named & { readonly phase: 'void'; readonly pendingId: string })

export interface LedgerRefusal {
  readonly refused: string
  readonly id: string
  readonly available?: string
  readonly required?: string
  readonly shortfall?: string
}

/** As `ledger_apply` takes it. */
export const transferJson = (transfer: Transfer): object =>
  'amount' in transfer ? { ...transfer, amount: transfer.amount.toString() } : transfer

/** Too little credit; anything else that does not fit is a mistake of the caller. */
export function ledgerRefusal({ refused, id, available, required, shortfall }: LedgerRefusal): Error {
  return refused === 'insufficient'
    ? new ApiError('insufficient_credit', { details: { available, required, shortfall } })
    : new Error(`the ledger refused ${id}: ${refused}`)
}

/**
 * Applies transfers in one statement, all or none, under the locks of their accounts. Call it last in a transaction: everybody
 * takes other locks first. Refuses with `insufficient_credit`; anything else that does not fit is a mistake of the caller.
 */
export async function applyTransfers(
  db: Db,
  orgId: string,
  transfers: readonly Transfer[],
  at: Date,
): Promise<{ readonly applied: number }> {
  const { rows } = await sql<{ outcome: { readonly applied: number } | LedgerRefusal }>`
    select ledger_apply(${orgId}, ${JSON.stringify(transfers.map(transferJson))}::jsonb, ${at}) as outcome`.execute(db)
  const [{ outcome } = { outcome: { applied: 0 } }] = rows
  if ('refused' in outcome) throw ledgerRefusal(outcome)
  return outcome
}

export interface Balance {
  /** What was paid in and not spent. */
  readonly posted: bigint
  /** Of it held for purchases that are under way. */
  readonly held: bigint
  readonly available: bigint
}

export async function creditOf(db: Db, orgId: string): Promise<Balance> {
  const { rows } = await sql<{ posted: string; held: string }>`
    select (cr_posted - dr_posted)::text as posted, dr_pending::text as held
    from ledger_account where org_id = ${orgId} and account = 'credit'`.execute(db)
  const [{ posted, held } = { posted: '0', held: '0' }] = rows
  return { posted: BigInt(posted), held: BigInt(held), available: BigInt(posted) - BigInt(held) }
}

/** Accounts whose columns are not the sum of their transfers. */
export async function ledgerDifferences(db: Db, orgId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ account: string }>`select account from ledger_differences(${orgId})`.execute(db)
  return rows.map(({ account }) => account)
}
