import { sql } from 'kysely'
import { inOrg } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { nextPurchase } from './purchase-machine.ts'
import { type PurchaseRow, purchase } from './purchase-store.ts'
import { happen, MOST_UNKNOWN, type Works } from './purchase-turn.ts'
import { nextRenewal } from './renewal-machine.ts'
import { renewal } from './renewal-store.ts'
import { renewalHappens } from './renewal-turn.ts'

// What waits for a human: nobody could find out what a provider has done, or it has not cancelled what was given up.

export interface InReview {
  /** Of the purchase, or of the renewal: what is decided about. */
  readonly purchaseId: string
  readonly name: string
  readonly provider: string
  /** In micro-units. */
  readonly amount: string
  readonly reason: string | null
  readonly since: Date
}

/** Purchases and renewals, the oldest first. */
export async function purchasesInReview(db: Db, orgId: string): Promise<readonly InReview[]> {
  const { rows } = await sql<InReview>`
    select purchase_id as "purchaseId", name, provider, amount::text as amount, reason, updated_at as since
    from license_purchase where org_id = ${orgId}
      and (state = 'in_review' or state = 'compensating' and money = 'held' and attempts >= ${MOST_UNKNOWN})
    union all
    select r.renewal_id, i.name, i.provider, r.amount::text, r.reason, r.updated_at
    from license_renewal r join license_instance i on i.org_id = r.org_id and i.instance_id = r.instance_id
    where r.org_id = ${orgId} and r.state = 'in_review'
    order by since, "purchaseId"`.execute(db)
  return rows
}

/** In the transaction of the decision. */
type Also = (db: Db) => Promise<void>

/** It could not be cancelled either, for long enough. Captured money is none of it: that waits for a termination. */
const staysUnclear = ({ state, money, attempts }: PurchaseRow): boolean =>
  state === 'compensating' && money === 'held' && attempts >= MOST_UNKNOWN

/**
 * What a human decides about a purchase that nobody could find out about: nothing comes of it. What the provider may have is cancelled by
 * the next turns, and only then is the money free; decided once more where that has stayed unclear, it is free at once. False if there is
 * nothing to decide.
 */
export async function giveUpPurchase(works: Works, orgId: string, purchaseId: string, also?: Also): Promise<boolean> {
  const row = await inOrg({ database: works.worker }, orgId, (db) => purchase(db, orgId, purchaseId))
  const waits = row && (row.state === 'in_review' || staysUnclear(row))
  const next = waits && nextPurchase(row.state, 'given_up')
  if (!next) return false
  const changes = next.to === 'cancelled' ? { next_at: null } : {}
  await happen(works, row, { event: 'given_up', reason: 'given_up_by_operator', changes, ...(also && { also }) })
  return true
}

/**
 * What a human decides about a renewal: the provider has not renewed it. The money is free at once, and the licence ends with the period that
 * was paid for. False if there is nothing to decide.
 */
export async function giveUpRenewal(works: Works, orgId: string, renewalId: string, also?: Also): Promise<boolean> {
  const row = await inOrg({ database: works.worker }, orgId, (db) => renewal(db, orgId, renewalId))
  if (!row || !nextRenewal(row.state, 'given_up')) return false
  await renewalHappens(works, row, { event: 'given_up', reason: 'given_up_by_operator', ...(also && { also }) })
  return true
}
