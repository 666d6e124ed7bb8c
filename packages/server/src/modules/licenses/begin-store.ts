import type { Envelope } from '@strongroom/protocol'
import type pg from 'pg'
import type { OpenedVaultRow } from '../../access/vaults.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerRefusal } from '../../ledger/ledger.ts'
import type { BudgetRefusal } from '../budgets/reserve.ts'
import type { PurchaseRow } from './purchase-store.ts'

// The one statement that begins a purchase (migration 0060), or several. It is a transaction by itself.

/** Over which it is decided whether somebody may buy; a document never changes. */
export interface Documents {
  readonly kid: string | null
  readonly record: string | null
  readonly policy: string | null
}

export interface Facts {
  readonly isTenantActive: boolean
  readonly documents: Documents
  /** Null where the buyer's name is not on its list, and where none was asked for. */
  readonly vault: OpenedVaultRow | null
  readonly record: Envelope | null
  readonly policy: Envelope | null
}

export interface ToldEvent {
  readonly id: string
  readonly type: string
  readonly objectType: string
  readonly body: string
}

interface Asked {
  readonly principal: string
  readonly tenantId: string | null
  readonly agentId: string | null
  readonly userId: string | null
  readonly at: Date
  /** Of a vault that is there. */
  readonly vaultId: string | null
  readonly request: { readonly keyHash: string; readonly requestHash: string; readonly status: number } | null
}

/** What is written if everything is as it was when this was made. */
export interface Begun {
  readonly documents: Documents
  readonly purchase: Omit<PurchaseRow, 'subjects'>
  readonly events: readonly ToldEvent[]
  readonly audit: object
  readonly transfers: readonly object[]
  /** The amount of the test credit that ends with this purchase; null where it is of the sandbox, and test credit may pay for it. */
  readonly endsGrant: string | null
  readonly apiVersion: string
}

export type BeginAsk = Asked & (Begun | { readonly documents: null })

export type Outcome =
  | { readonly begun: true }
  /** Of an earlier request with the same key. */
  | { readonly stored: { readonly requestHash: string; readonly body: unknown } }
  | { readonly inProgress: true }
  /** Something is missing, or was decided over other documents; nothing was written. */
  | { readonly facts: Facts }
  | { readonly budget: BudgetRefusal; readonly isTold: boolean }
  | { readonly ledger: LedgerRefusal }

const BEGIN = { name: 'begin_purchase', text: 'select begin_purchase($1, $2, $3) as outcome' } as const
const BEGIN_SEVERAL = { name: 'begin_purchases', text: 'select begin_purchases($1, $2) as outcome' } as const

async function outcomeOf<T>({ pool }: Pick<Database, 'pool'>, statement: pg.QueryConfig): Promise<T> {
  const { rows } = await pool.query<{ outcome: T }>(statement)
  const [only] = rows
  if (!only) throw new Error('a function of the database gave nothing')
  return only.outcome
}

/** `answer` is what is stored under the key of the request; null where it is not known yet. */
export const beginPurchase = (
  database: Pick<Database, 'pool'>,
  orgId: string,
  ask: BeginAsk,
  answer: object | null,
): Promise<Outcome> =>
  outcomeOf(database, { ...BEGIN, values: [orgId, JSON.stringify(ask), answer && JSON.stringify(answer)] })

/** Begins all of them in one transaction (migration 0068), or none and says no. */
export const beginPurchases = (
  database: Pick<Database, 'pool'>,
  orgId: string,
  asks: readonly (BeginAsk & { readonly answer: object })[],
): Promise<boolean> => outcomeOf(database, { ...BEGIN_SEVERAL, values: [orgId, JSON.stringify(asks)] })
