import { inOrg, outsideOrgs } from '../context.ts'
import type { Db } from '../db/database.ts'
import { rotateIssuerKey } from '../licenses/issuer-ring.ts'
import {
  decideTermination,
  deliveredBy,
  giveUpPurchase,
  giveUpRenewal,
  type InReview,
  waitingForReview,
} from '../modules/licenses/review.ts'
import { listOrgs, type OperatorDeps, recordOperator } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'

// What of licences only whoever runs the server can decide: about purchases and
// terminations that nobody could find out about, and the key of the issuer.

export const listReview = (deps: OperatorDeps, orgId: string): Promise<readonly InReview[]> =>
  inOrg(deps, orgId, (db) => waitingForReview(db, orgId))

const worksOf = (deps: OperatorDeps) => ({ deps, worker: deps.database, providers: new Map() })

/**
 * Nothing comes of it. What the provider may have of a purchase is cancelled when the server works again, and only then is the money free; that
 * of a renewal, or of a purchase that could not be cancelled, is free at once.
 */
export async function giveUp(deps: OperatorDeps, orgId: string, purchaseId: string): Promise<void> {
  const works = worksOf(deps)
  const recorded = (action: string, type: string) => (db: Db) =>
    recordOperator(deps, db, orgId, { action, targets: [{ type, id: purchaseId }] })
  const isGivenUp =
    (await giveUpPurchase(works, orgId, purchaseId, recorded('operator.give-up-purchase', 'license_purchase'))) ||
    (await giveUpRenewal(works, orgId, purchaseId, recorded('operator.give-up-renewal', 'license_renewal')))
  if (isGivenUp) return
  const licenseId = await inOrg(deps, orgId, (db) => deliveredBy(db, orgId, purchaseId))
  if (licenseId !== undefined)
    throw new OperatorError(
      'purchase_not_in_review',
      `the purchase ${purchaseId} was delivered and paid for: its provider does not give the credential again for the new key of the buyer`,
      `ask the provider; or its buyer ends it, and what is left of it comes back: strongroom license terminate ${licenseId}`,
    )
  throw new OperatorError(
    'purchase_not_in_review',
    `there is no purchase ${purchaseId} that waits for a decision`,
    'list them: strongroom admin license-review list',
  )
}

const dollars = (amount: bigint): string =>
  `${amount / 1_000_000n}.${(amount % 1_000_000n)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')} USD`

/** The licence ends, and so much comes back of what was paid, in micro-units; settled when the server works again. */
export async function settleTermination(
  deps: OperatorDeps,
  orgId: string,
  { terminationId, refund }: { readonly terminationId: string; readonly refund: string },
): Promise<void> {
  const event = {
    action: 'operator.settle-termination',
    targets: [{ type: 'license_termination', id: terminationId }],
    metadata: { refund },
  }
  const decision = { terminationId, refund: BigInt(refund) }
  const decided = await decideTermination(worksOf(deps), orgId, decision, (db) =>
    recordOperator(deps, db, orgId, event),
  )
  if (decided === 'decided') return
  if (decided === 'nothing_to_decide')
    throw new OperatorError(
      'termination_not_in_review',
      `there is no termination ${terminationId} that waits for a decision`,
      'list them: strongroom admin license-review list',
    )
  throw new OperatorError(
    'refund_too_large',
    `more comes back than was paid: ${dollars(decided.most)}`,
    'say what the provider really gives back',
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
