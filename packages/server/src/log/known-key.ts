import {
  type CheckedKey,
  capsSet,
  checkKey,
  claimedKind,
  type Envelope,
  type KeyBundle,
  type KidState,
  keyAdd,
  keyRecover,
  keyRotate,
  kidName,
  type LogState,
  orgGenesis,
  peekDocument,
} from '@strongroom/protocol'

// What a key of the directory may do, before an act asks the protocol's own rules.

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

export interface KnownKey {
  readonly key: CheckedKey
  /** Of the directory, by the caps it was last given. */
  readonly isAdmin: boolean
  readonly isActive: boolean
}

/** A key as the log has it now; undefined for one that it does not know. */
export async function knownKey(state: LogState, kid: string): Promise<KnownKey | undefined> {
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
    isActive: entry.status === 'active',
    isAdmin: caps ? peekDocument(capsSet, caps).payload.caps.includes('dir-admin') : await inherited(),
  }
}
