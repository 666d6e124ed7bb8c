import { ensure } from '../errors.ts'
import { claimedKind, type Envelope, type KeyOf, peekDocument, verifyDocument } from '../identity/document.ts'
import { principalOf } from '../identity/identifiers.ts'
import { type CheckedKey, checkKey } from '../identity/key-bundle.ts'
import { isLive, type KidState } from '../log/state.ts'
import { checkCaps, checkEndorser, countAdmins, type DirectoryKey, type DirectorySource, isPrivileged } from './caps.ts'
import { type GenesisPayload, keyAdd, keyRecover, keyRotate } from './documents.ts'

// Section 4.3, steps 2 to 5: the record that brings a key into the directory. Whoever vouches was there before, so a record leans
// on strictly older ones only, and verifying it comes to an end.

export interface Genesis {
  readonly hash: string
  readonly payload: GenesisPayload
}

export interface RecordSource extends DirectorySource {
  /** The proven state of a key; undefined where the answer proves none. It can end a key and nothing else. */
  entryOf(kid: string): KidState | undefined
  /** Judges rights as they were then: who was found to be compromised since had them all the same. */
  readonly isPast: boolean
}

/** Looks up the keys that were in the directory before leaf `index`; signatures by later ones do not count. */
export const keysBefore =
  (source: RecordSource, index: number): KeyOf =>
  async (kid) => {
    const entry = source.entryOf(kid)
    return entry && entry.added < index ? (await source.resolve(kid)).key : undefined
  }

export async function verifyRecord(
  source: RecordSource,
  entry: KidState,
  genesis: Genesis,
  envelope: Envelope | undefined,
): Promise<DirectoryKey> {
  if (entry.rec === genesis.hash) return founder(entry, genesis)
  ensure(envelope, 'unknown_signer', 'the record of a signer is missing', { kid: entry.kid })
  const { org } = genesis.payload
  switch (claimedKind(envelope)) {
    case 'key.add':
      return verifyAdded(source, entry, envelope, org)
    case 'key.rotate':
      return verifyRotated(source, entry, envelope, org)
    case 'key.recover':
      return verifyRecovered(source, entry, envelope, org)
    default:
      ensure(false, 'wrong_type', 'the record of a signer is not a record', { kid: entry.kid })
  }
}

function founder(entry: KidState, { payload }: Genesis): DirectoryKey {
  const admin = payload.admins.find(({ kid }) => kid === entry.kid)
  ensure(admin && entry.added === 0, 'endorser_not_admin', 'a key claims to be of the founders and is not', {
    kid: entry.kid,
  })
  return { entry, key: checkKey(admin.kid, admin.key), record: payload, vouchers: [] }
}

async function verifyAdded(
  source: RecordSource,
  entry: KidState,
  envelope: Envelope,
  org: string,
): Promise<DirectoryKey> {
  const { kid } = entry
  const { payload: claimed } = peekDocument(keyAdd, envelope)
  const key = keyOfRecord(entry, claimed)
  ensureEarlier(source, claimed.by, entry)
  const before = keysBefore(source, entry.added)
  // One endorser is enough for a plain key; what else is on it is not looked at.
  const counts = (signer: string): boolean => signer === claimed.by || isPrivileged(claimed)
  const document = await verifyDocument(keyAdd, envelope, org, (signer) =>
    signer === kid ? key : counts(signer) ? before(signer) : undefined,
  )
  ensure(document.signers.has(kid), 'missing_signature', 'a key did not sign its own registration', { kid })
  const vouchers = [...document.signers].filter((signer) => signer !== kid)
  const record = document.payload
  await checkEndorser(source, { record, vouchers, index: entry.added }, isLive)
  checkCaps(key, record.caps)
  return { entry, key, record, vouchers }
}

async function verifyRotated(
  source: RecordSource,
  entry: KidState,
  envelope: Envelope,
  org: string,
): Promise<DirectoryKey> {
  const { kid } = entry
  const { oldKid, ...claimed } = peekDocument(keyRotate, envelope).payload
  const key = keyOfRecord(entry, claimed)
  ensure(principalOf(oldKid) === key.principal, 'key_substitution', 'a rotation changes the principal', { kid })
  ensure(claimed.by === oldKid, 'missing_signature', 'a rotation is not made by the old key', { kid })
  ensureEarlier(source, oldKid, entry)
  const old = await source.resolve(oldKid)
  const document = await verifyDocument(keyRotate, envelope, org, (signer) =>
    signer === kid ? key : signer === oldKid ? old.key : undefined,
  )
  ensure(document.signers.has(kid), 'missing_signature', 'the new key did not sign its rotation', { kid })
  // A rotation ends the old key in its own leaf: whoever steals that key later has nothing left to hand over.
  const isEnd = old.entry.end === entry.added + 1
  ensure(isEnd, 'signer_not_active', 'a key was rotated that had ended otherwise', { kid, by: oldKid })
  return { entry, key, record: document.payload, vouchers: [oldKid] }
}

async function verifyRecovered(
  source: RecordSource,
  entry: KidState,
  envelope: Envelope,
  org: string,
): Promise<DirectoryKey> {
  const { kid } = entry
  const { payload: claimed } = peekDocument(keyRecover, envelope)
  const key = keyOfRecord(entry, claimed)
  ensure(claimed.principal === key.principal, 'key_substitution', 'a recovery changes the principal', { kid })
  const before = keysBefore(source, entry.added)
  const document = await verifyDocument(keyRecover, envelope, org, (signer) => (signer === kid ? key : before(signer)))
  ensure(document.signers.has(kid), 'missing_signature', 'the new key did not sign its recovery', { kid })
  const vouchers = [...document.signers].filter((signer) => signer !== kid)
  const { recoverQuorum } = await source.policyAt(entry.added)
  const admins = await countAdmins(source, vouchers, entry.added, isLive)
  ensure(admins >= recoverQuorum, 'endorser_not_admin', 'too few directory admins signed a recovery', { kid })
  return { entry, key, record: document.payload, vouchers }
}

function keyOfRecord(entry: KidState, payload: { readonly kid: string; readonly key: unknown }): CheckedKey {
  ensure(payload.kid === entry.kid, 'key_substitution', 'a record is of another key', { kid: entry.kid })
  return checkKey(entry.kid, payload.key)
}

/** Whoever vouches must have been in the directory before, and live: chains end at the genesis and never loop. */
function ensureEarlier(source: RecordSource, by: string, { kid, added }: KidState): void {
  const voucher = source.entryOf(by)
  ensure(voucher, 'unknown_signer', 'the endorser of a signer is not part of the directory', { kid, by })
  ensure(
    voucher.added < added && isLive(voucher, added),
    'signer_not_active',
    'a key was endorsed by one that was not active',
    { kid, by },
  )
}
