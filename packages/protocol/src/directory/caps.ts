import { ensure } from '../errors.ts'
import { type Kid, parseKid, principalOf } from '../identity/identifiers.ts'
import { type CheckedKey, mayHoldAuthority } from '../identity/key-bundle.ts'
import type { KidState } from '../log/state.ts'
import type {
  Cap,
  CapsSetPayload,
  GenesisPayload,
  KeyAddPayload,
  KeyRecoverPayload,
  KeyRotatePayload,
  Policy,
} from './documents.ts'

// Sections 4.1 and 4.3: which caps a key had at a leaf. Server, auditor and client share these rules and differ only in
// where a record comes from: the client verifies it first, the log's own replay has verified it when it was appended.

export type RecordPayload = GenesisPayload | KeyAddPayload | KeyRotatePayload | KeyRecoverPayload

/** A key of the directory: its state, its checked bundle, and the record that brought it in. */
export interface DirectoryKey {
  readonly entry: KidState
  readonly key: CheckedKey
  readonly record: RecordPayload
  /** The keys that were in the directory before and signed the record. */
  readonly vouchers: readonly string[]
}

export interface DirectorySource {
  /** Refuses a key that is not in the directory. */
  resolve(kid: string): Promise<DirectoryKey>
  /** For looking up signatures: undefined for a key that is not in the directory. */
  keyOf(kid: string): Promise<CheckedKey | undefined>
  capsDocument(docHash: string, kid: string, index: number): Promise<CapsSetPayload>
  /** The policy in force before leaf `index`. */
  policyAt(index: number): Promise<Policy>
}

const baseCap = (kid: string): Cap => (parseKid(kid).type === 'agent' ? 'agent' : 'member')

/**
 * The caps a key held for leaf `index`: from its last caps.set before that leaf, else from its record. An RSA-only key holds no authority,
 * whoever signed that it does (3.5): its signature counts for nothing that asks for some.
 */
export async function capsAt(source: DirectorySource, kid: string, index: number): Promise<ReadonlySet<Cap>> {
  const { entry, record, key } = await source.resolve(kid)
  const latest = entry.capSets.findLast((set) => set.index < index)
  const caps = latest
    ? (await source.capsDocument(latest.docHash, kid, latest.index)).caps
    : await capsOfRecord(source, record, entry)
  return new Set(mayHoldAuthority(key) ? caps : [...caps].filter((cap) => !AUTHORITY.includes(cap)))
}

async function capsOfRecord(source: DirectorySource, record: RecordPayload, entry: KidState): Promise<Iterable<Cap>> {
  switch (record.t) {
    case 'org.genesis':
      return ['dir-admin', baseCap(entry.kid)]
    case 'key.add':
      return record.caps
    case 'key.rotate':
      // A rotated key inherits the caps of its predecessor at that moment.
      return capsAt(source, record.oldKid, entry.added)
    case 'key.recover':
      // Whoever recovers starts without authority; a caps.set gives it back visibly.
      return [baseCap(entry.kid)]
  }
}

const AUTHORITY: readonly Cap[] = ['dir-admin', 'agent-manager']

/** May these caps stand on this key at all? RSA-only keys hold no authority (3.5). */
export function checkCaps(key: CheckedKey, caps: readonly Cap[]): void {
  const other: Cap = baseCap(key.kid) === 'agent' ? 'member' : 'agent'
  ensure(
    caps.includes(baseCap(key.kid)) && !caps.includes(other),
    'not_authorised',
    'caps do not fit the type of the principal',
    { kid: key.kid },
  )
  const ordinary = !caps.some((cap) => AUTHORITY.includes(cap))
  ensure(ordinary || mayHoldAuthority(key), 'not_authorised', 'an RSA-only key cannot hold authority', { kid: key.kid })
}

/** Does a registration ask for more than membership? */
export const isPrivileged = ({ kid, caps }: KeyAddPayload): boolean => caps.length !== 1 || caps[0] !== baseCap(kid)

export type Liveness = (entry: KidState, index: number) => boolean

/** A key.add as it is judged: who signed it besides the new key, and at which leaf. */
export interface Endorsement {
  readonly record: KeyAddPayload
  readonly vouchers: readonly string[]
  readonly index: number
}

/**
 * 4.1: a dir-admin endorses any key, an agent-manager only agents that hold nothing but `agent`. A key that brings caps
 * of its own needs the quorum of caps.set: otherwise one dir-admin could endorse the rest of a quorum into being.
 */
export async function checkEndorser(
  source: DirectorySource,
  { record, vouchers, index }: Endorsement,
  live: Liveness,
): Promise<void> {
  const { by, kid } = record
  const caps = await capsAt(source, by, index)
  const plainAgent = parseKid(kid).type === 'agent' && !isPrivileged(record)
  const entitled = caps.has('dir-admin') || (caps.has('agent-manager') && plainAgent)
  ensure(entitled, 'endorser_not_admin', 'a key was endorsed without the right to do so', { kid, by })
  if (!isPrivileged(record)) return
  const { dirQuorum } = await source.policyAt(index)
  const found = await countAdmins(source, vouchers, index, live)
  ensure(found >= dirQuorum, 'endorser_not_admin', 'too few directory admins endorsed a key with caps', {
    kid,
    needed: dirQuorum,
    found,
  })
}

/** How many different people with cap `dir-admin`, live at `index`, are among the signers. */
export async function countAdmins(
  source: DirectorySource,
  signers: Iterable<string>,
  index: number,
  live: Liveness,
): Promise<number> {
  const principals = new Set<string>()
  for (const kid of signers) {
    const { entry } = await source.resolve(kid)
    if (live(entry, index) && (await capsAt(source, kid, index)).has('dir-admin'))
      principals.add(principalOf(kid as Kid))
  }
  return principals.size
}
