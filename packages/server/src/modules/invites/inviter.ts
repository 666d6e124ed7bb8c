import { type Envelope, invite, peekDocument, type VerifiedDocument, verifyDocument } from '@strongroom/protocol'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { knownKey } from '../../log/known-key.ts'
import { openLogState } from '../../log/log-state.ts'

// Is an invite one that its author can keep? The log decides when the key is endorsed; an invite nobody could endorse is better
// refused before somebody has accepted it.

/** The invite, verified against the directory of today: signed by an active directory admin. Throws the protocol's refusals. */
export async function verifyInvite(
  db: Db,
  orgId: string,
  envelope: Envelope,
): Promise<VerifiedDocument<typeof invite>> {
  const { by } = peekDocument(invite, envelope).payload
  const state = await openLogState(db, { orgId, lastAt: 0 }, [envelope])
  const author = await knownKey(state, by)
  const verified = await verifyDocument(invite, envelope, orgId, (kid) => (kid === by ? author?.key : undefined))
  if (!author?.isAdmin || !author.isActive)
    throw new ApiError('signer_not_authorised', { details: { rule: 'endorser_not_admin', by } })
  return verified
}

/** Has the directory ever known a key of this person? */
export const isKnownPrincipal = async (db: Db, orgId: string, principal: string): Promise<boolean> =>
  (await (await openLogState(db, { orgId, lastAt: 0 }, [])).kidsOf(principal)).length > 0
