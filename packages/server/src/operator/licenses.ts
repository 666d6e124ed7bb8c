import { type Deps, inOrg, outsideOrgs } from '../context.ts'
import { rotateIssuerKey } from '../licenses/issuer-ring.ts'
import { giveUpPurchase, type InReview, purchasesInReview } from '../modules/licenses/review.ts'
import { listOrgs, type OperatorDeps, recordOperator } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'

// What of licences only whoever runs the server can decide: about purchases that nobody could find out about, and the key of the issuer.

export const listReview = (deps: OperatorDeps, orgId: string): Promise<readonly InReview[]> =>
  inOrg(deps, orgId, (db) => purchasesInReview(db, orgId))

/** Nothing comes of it: what the provider may have is cancelled when the server works again, and only then is the money free. */
export async function giveUp(deps: OperatorDeps, orgId: string, purchaseId: string): Promise<void> {
  const works: { readonly deps: Deps; readonly worker: Deps['database'] } = { deps, worker: deps.database }
  const isGivenUp = await giveUpPurchase({ ...works, providers: new Map() }, orgId, purchaseId, (db) =>
    recordOperator(deps, db, orgId, {
      action: 'operator.give-up-purchase',
      targets: [{ type: 'license_purchase', id: purchaseId }],
    }),
  )
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
