import { inOrg } from '../../context.ts'
import { nextPurchase } from './purchase-machine.ts'
import { purchase } from './purchase-store.ts'
import { happen, type Works } from './purchase-turn.ts'

/**
 * What a human decides about a purchase that nobody could find out about: nothing comes of it. What the provider may have is cancelled by
 * the next turns, and only then is the money free. False if there is nothing to decide.
 */
export async function giveUpPurchase(works: Works, orgId: string, purchaseId: string): Promise<boolean> {
  const row = await inOrg({ database: works.worker }, orgId, (db) => purchase(db, orgId, purchaseId))
  if (row?.state !== 'in_review' || !nextPurchase(row.state, 'given_up')) return false
  await happen(works, row, { event: 'given_up', reason: 'given_up_by_operator' })
  return true
}
