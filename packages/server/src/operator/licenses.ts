import { inOrg, outsideOrgs } from '../context.ts'
import type { Db } from '../db/database.ts'
import { rotateIssuerKey } from '../licenses/issuer-ring.ts'
import { giveUpPurchase, giveUpRenewal, type InReview, purchasesInReview } from '../modules/licenses/review.ts'
import { listOrgs, type OperatorDeps, recordOperator } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'

// What of licences only whoever runs the server can decide: about purchases that nobody could find out about, and the key of the issuer.

export const listReview = (deps: OperatorDeps, orgId: string): Promise<readonly InReview[]> =>
  inOrg(deps, orgId, (db) => purchasesInReview(db, orgId))

/**
 * Nothing comes of it. What the provider may have of a purchase is cancelled when the server works again, and only then is the money free; that
 * of a renewal, or of a purchase that could not be cancelled, is free at once.
 */
export async function giveUp(deps: OperatorDeps, orgId: string, purchaseId: string): Promise<void> {
  const works = { deps, worker: deps.database, providers: new Map() }
  const recorded = (action: string, type: string) => (db: Db) =>
    recordOperator(deps, db, orgId, { action, targets: [{ type, id: purchaseId }] })
  const isGivenUp =
    (await giveUpPurchase(works, orgId, purchaseId, recorded('operator.give-up-purchase', 'license_purchase'))) ||
    (await giveUpRenewal(works, orgId, purchaseId, recorded('operator.give-up-renewal', 'license_renewal')))
  if (isGivenUp) return
  throw new OperatorError(
    'purchase_not_in_review',
    `there is no purchase ${purchaseId} that waits for a decision`,
    'list them: strongroom admin license-review list',
  )
}

/** Licences that were signed before stay valid: every key of the ring is published. */
export async function nextIssuerKey(deps: OperatorDeps): Promise<{ readonly kid: string }> {
  const kid = await rotateIssuerKey(deps)
  await outsideOrgs(deps, async (db) => {
    for (const orgId of await listOrgs(db))
      await recordOperator(deps, db, orgId, { action: 'operator.rotate-issuer-key', metadata: { kid } })
  })
  return { kid }
}
