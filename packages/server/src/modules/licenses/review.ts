import { inOrg } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { nextPurchase } from './purchase-machine.ts'
import { purchase } from './purchase-store.ts'
import { happen, type Works } from './purchase-turn.ts'

export interface InReview {
  readonly purchaseId: string
  readonly name: string
  readonly provider: string
  /** In micro-units. */
  readonly amount: string
  readonly reason: string | null
  readonly since: Date
}

/** Those that wait for a human, the oldest first. */
export const purchasesInReview = (db: Db, orgId: string): Promise<readonly InReview[]> =>
  db
    .selectFrom('license_purchase')
    .select(['purchase_id as purchaseId', 'name', 'provider', 'amount', 'reason', 'updated_at as since'])
    .where('org_id', '=', orgId)
    .where('state', '=', 'in_review')
    .orderBy('updated_at')
    .orderBy('purchase_id')
    .execute()

/**
 * What a human decides about a purchase that nobody could find out about: nothing comes of it. What the provider may have is cancelled by
 * the next turns, and only then is the money free. False if there is nothing to decide.
 */
export async function giveUpPurchase(
  works: Works,
  orgId: string,
  purchaseId: string,
  /** In the transaction of the decision. */
  also?: (db: Db) => Promise<void>,
): Promise<boolean> {
  const row = await inOrg({ database: works.worker }, orgId, (db) => purchase(db, orgId, purchaseId))
  if (row?.state !== 'in_review' || !nextPurchase(row.state, 'given_up')) return false
  await happen(works, row, { event: 'given_up', reason: 'given_up_by_operator', ...(also && { also }) })
  return true
}
