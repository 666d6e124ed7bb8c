import {
  type CheckedKey,
  capsSet,
  checkKey,
  claimedKind,
  type Envelope,
  invite,
  type KeyBundle,
  type KidState,
  keyAdd,
  keyRecover,
  keyRotate,
  kidName,
  type LogState,
  orgGenesis,
  peekDocument,
  type VerifiedDocument,
  verifyDocument,
} from '@strongroom/protocol'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { openLogState } from '../../log/log-state.ts'

// Is an invite one that its author can keep? The log decides when the key is endorsed; an invite nobody could endorse is better
// refused before somebody has accepted it.

type Record = { readonly bundle: KeyBundle | undefined; readonly isAdmin: boolean | { readonly as: string } }

/** What the record of a key says of it. Records were verified when they were logged. */
function readRecord(envelope: Envelope, kid: string): Record {
  switch (claimedKind(envelope)) {
    case 'org.genesis':
      return {
        bundle: peekDocument(orgGenesis, envelope).payload.admins.find((admin) => admin.kid === kid)?.key,
        isAdmin: true,
      }
    case 'key.add': {
      const { key, caps } = peekDocument(keyAdd, envelope).payload
      return { bundle: key, isAdmin: caps.includes('dir-admin') }
    }
    case 'key.rotate': {
      const { key, oldKid } = peekDocument(keyRotate, envelope).payload
      return { bundle: key, isAdmin: { as: oldKid } }
    }
    default:
      return { bundle: peekDocument(keyRecover, envelope).payload.key, isAdmin: false }
  }
}

interface KnownKey {
  readonly key: CheckedKey
  readonly isAdmin: boolean
}

async function knownKey(state: LogState, kid: string): Promise<KnownKey | undefined> {
  // States are written by the log's own rules.
  const entry = (await state.get(kidName(kid))) as KidState | undefined
  const record = entry && (await state.document(entry.rec))
  if (!entry || !record) return undefined
  const { bundle, isAdmin } = readRecord(record, kid)
  if (!bundle) return undefined
  const latest = entry.capSets.at(-1)
  const caps = latest && (await state.document(latest.docHash))
  const inherited = async (): Promise<boolean> =>
    typeof isAdmin === 'boolean' ? isAdmin : ((await knownKey(state, isAdmin.as))?.isAdmin ?? false)
  return {
    key: checkKey(kid, bundle),
    isAdmin: caps ? peekDocument(capsSet, caps).payload.caps.includes('dir-admin') : await inherited(),
  }
}

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
  const entry = (await state.get(kidName(by))) as KidState | undefined
  if (!author?.isAdmin || entry?.status !== 'active')
    throw new ApiError('signer_not_authorised', { details: { rule: 'endorser_not_admin', by } })
  return verified
}

/** Has the directory ever known a key of this person? */
export const isKnownPrincipal = async (db: Db, orgId: string, principal: string): Promise<boolean> =>
  (await (await openLogState(db, { orgId, lastAt: 0 }, [])).kidsOf(principal)).length > 0
