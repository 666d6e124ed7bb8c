import { fromBase64url } from '../encoding/base64.ts'
import { equalBytes } from '../encoding/bytes.ts'
import {
  hash,
  hashOrNone,
  integer,
  list,
  literal,
  nullable,
  type Of,
  record,
  risingIntegers,
  type Shape,
  text,
  words,
} from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { id, kidText, principalText, projectIdText, vaultIdText } from '../identity/identifiers.ts'
import { peekCheckpoint } from '../log/checkpoint.ts'
import type { EndedKey, LogPin } from '../log/transparency.ts'
import { MAX_VKEY_LENGTH, type TrustAnchor } from './anchor.ts'

// Section 9.1: what a client remembers. Kept as JSON in a file or in IndexedDB; this package only computes the next one.

/** A map-like object with checked keys. Unlike documents it is never hashed, so keys may be ids. */
const dictionary =
  <T>(key: Shape<string>, value: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  (candidate, path) => {
    ensure(
      typeof candidate === 'object' && candidate !== null && !Array.isArray(candidate),
      'malformed',
      `${path} is not an object`,
    )
    for (const [name, entry] of Object.entries(candidate)) value(entry, `${path}.${key(name, path)}`)
    return candidate as Readonly<Record<string, T>>
  }

const signerPin = record(
  {
    firstIndex: integer(),
    lastIndex: integer(),
    status: literal('active', 'superseded', 'removed', 'compromised'),
    via: literal('org.genesis', 'key.add', 'key.rotate', 'key.recover'),
    verified: literal('oob', 'endorsed', 'tofu'),
    /** How many caps.set documents it had had. */
    capSets: integer(),
  },
  {
    /** The log was cut here by a recovery, and what the pin says was seen in the part that is gone (9.4). */
    cut: integer(1),
    /** The document that brought it in. */
    rec: hash,
    /** The last of its caps.set documents, if it had any. */
    capSet: record({ index: integer(), docHash: hash }),
  },
)
export const MAX_KIDS = 1024
const principalPin = record({ kids: list(kidText, MAX_KIDS), continuity: literal('ok', 'broken') })
/** `size` is that of the log in which it was so: what changes later is committed later. */
const chainPin = { adminsHash: hash, size: integer(1) }
const MAX_CHAIN = 1024
/** Every document of an admin chain with its leaf, where it stays: what a recovery keeps of a chain is told by the leaf, too. */
const chain = list(record({ index: integer(), hash }), MAX_CHAIN)
/** Version 0 is that of which nothing is known any more: it was seen in a part of the log that was given up. */
export const vaultPin = record(
  {
    headVersion: integer(),
    headHash: hashOrNone,
    dekVersion: integer(),
    dekCommit: hashOrNone,
    aclVersion: integer(),
    admins: list(principalText, 64),
    ...chainPin,
  },
  { aclHash: hash, chain, at: record({ head: integer(), epoch: integer(), acl: integer() }) },
)
const projectPin = record({ projectVersion: integer(), docHash: hashOrNone, ...chainPin }, { chain, at: integer() })
const alarm = record({ at: integer(), code: text(/^[a-z_]{1,64}$/), detail: words(1000) }, { evidence: words(1000) })

const ORG_MEMBERS = {
  genesis: hash,
  mode: literal('pinned', 'tofu'),
  origin: text(undefined, 256),
  logVkeys: list(text(undefined, MAX_VKEY_LENGTH), 8),
  tlogPolicy: text(undefined, 65_536),
  policyVersion: integer(0),
  /** The newest verified checkpoint; null before the first read. */
  checkpoint: nullable(text(undefined, 65_536)),
  checkpointAt: integer(),
  /** From the trust anchor: no log shorter than this one is the right one. */
  minimum: nullable(record({ size: integer(1), root: hash })),
  signers: dictionary(kidText, signerPin),
  principals: dictionary(principalText, principalPin),
  vaults: dictionary(vaultIdText, vaultPin),
  projects: dictionary(projectIdText, projectPin),
  alarms: list(alarm, 1000),
}
const orgTrust = record(ORG_MEMBERS, {
  /** The leaves of the policies; the hash of the newest one, if it is not that of the genesis; and its recovery quorum. */
  policyIndexes: risingIntegers(MAX_CHAIN),
  policyHash: hash,
  recoverQuorum: integer(1, 7),
  /** Every log.recover of the log (9.4); with the time it was accepted, where it gave up something that was seen. */
  recoveries: list(record({ index: integer(), docHash: hash }, { at: integer() }), MAX_CHAIN),
  /** When the log was last seen to say so: for the head of a vault and the document of a project, by its hash. */
  seenAt: dictionary(hash, integer()),
})
export type OrgTrust = Of<typeof orgTrust>
export type SignerPin = Of<typeof signerPin>
export type PrincipalPin = Of<typeof principalPin>
export type VaultPinned = Of<typeof vaultPin>
export type ProjectPinned = Of<typeof projectPin>
export type Alarm = Of<typeof alarm>

const store = record({ version: literal(1), orgs: dictionary(id, orgTrust) })
export type TrustStore = Of<typeof store>

export const EMPTY_TRUST_STORE: TrustStore = { version: 1, orgs: {} }

/** Refuses a store it does not understand; a client that cannot read its pins must not read secrets either. */
export function parseTrustStore(json: string): TrustStore {
  let candidate: unknown
  try {
    candidate = JSON.parse(json)
  } catch {
    ensure(false, 'malformed', 'the trust store is not JSON')
  }
  const version = (candidate as { version?: unknown } | null)?.version
  ensure(version === 1, 'malformed', 'the trust store is of another version than this client knows', { version })
  return store(candidate, 'trust store')
}

/** Writes nothing that `parseTrustStore` would refuse: a store that cannot be read again locks its owner out. */
export const serialiseTrustStore = (trust: TrustStore): string =>
  `${JSON.stringify(store(trust, 'trust store'), null, 2)}\n`

/**
 * Pins an organisation. A second, different anchor for a known organisation is a mismatch, not an update; one that asks for a
 * longer log raises the minimum.
 */
export function pinAnchor(trust: TrustStore, anchor: TrustAnchor, mode: OrgTrust['mode']): TrustStore {
  const known = Object.hasOwn(trust.orgs, anchor.org) ? trust.orgs[anchor.org] : undefined
  if (known) {
    ensureSameAnchor(known, anchor)
    const minimum = raisedMinimum(known, anchor.minimum)
    return minimum === known.minimum
      ? trust
      : { ...trust, orgs: { ...trust.orgs, [anchor.org]: { ...known, minimum } } }
  }
  const fresh: OrgTrust = {
    genesis: anchor.genesis,
    mode,
    origin: anchor.origin,
    logVkeys: anchor.logVkeys,
    tlogPolicy: anchor.tlogPolicy,
    policyVersion: 0,
    checkpoint: null,
    checkpointAt: 0,
    minimum: anchor.minimum ?? null,
    signers: {},
    principals: {},
    vaults: {},
    projects: {},
    alarms: [],
  }
  return { ...trust, orgs: { ...trust.orgs, [anchor.org]: fresh } }
}

/** All that is pinned: an anchor with other witnesses must not be taken for one that is in force. */
function ensureSameAnchor(known: OrgTrust, { org, genesis, origin, logVkeys, tlogPolicy }: TrustAnchor): void {
  ensure(known.genesis === genesis, 'genesis_mismatch', 'this organisation is pinned with another fingerprint', { org })
  const sameKeys = [...known.logVkeys].sort().join('\n') === [...logVkeys].sort().join('\n')
  const sameLog = known.origin === origin && sameKeys && known.tlogPolicy === tlogPolicy
  ensure(sameLog, 'genesis_mismatch', 'this organisation is pinned with another log, log key or witness policy', {
    org,
  })
}

/** Never lowered. One above the kept size of a known recovery may be of the part that was given up, and is dropped (9.4). */
function raisedMinimum(known: OrgTrust, given: TrustAnchor['minimum']): OrgTrust['minimum'] {
  const { minimum, recoveries = [] } = known
  if (!given || recoveries.some(({ index }) => index < given.size)) return minimum
  const root = fromBase64url(given.root)
  for (const seen of [readBy(known), minimumOf(known)])
    ensure(
      seen?.size !== given.size || equalBytes(seen.root, root),
      'log_fork',
      'the anchor names another log than was seen',
      { size: given.size },
    )
  return given.size > (minimum?.size ?? 0) ? given : minimum
}

export function orgTrustOf(trust: TrustStore, org: string): OrgTrust {
  const known = Object.hasOwn(trust.orgs, org) ? trust.orgs[org] : undefined
  ensure(known, 'genesis_mismatch', 'this organisation is not pinned', { org })
  return known
}

const readBy = ({ checkpoint }: OrgTrust): LogPin['seen'] => (checkpoint === null ? null : peekCheckpoint(checkpoint))

const minimumOf = ({ minimum }: OrgTrust): LogPin['seen'] =>
  minimum && { size: minimum.size, root: fromBase64url(minimum.root) }

/** The larger one of checkpoint and minimum; and the checkpoint, where that is the smaller one. */
function seenBy(trust: OrgTrust): Pick<LogPin, 'seen' | 'behind'> {
  const [read, minimum] = [readBy(trust), minimumOf(trust)]
  if (!read || !minimum || read.size >= minimum.size) return { seen: read ?? minimum }
  return { seen: minimum, behind: read }
}

/** What the next transparency object is held against; its size is the `Tlog-Have` of the request. */
export function logPinOf(org: string, trust: OrgTrust): LogPin {
  const recovered = newestRecovery(trust)
  const ended = endedKeys(trust)
  return {
    org,
    origin: trust.origin,
    logKeys: trust.logVkeys,
    witnessPolicy: trust.tlogPolicy,
    ...seenBy(trust),
    ...(recovered !== '' && { recovered }),
    ...(ended.size > 0 && { ended }),
  }
}

export const newestRecovery = ({ recoveries = [] }: Pick<OrgTrust, 'recoveries'>): string =>
  recoveries.at(-1)?.docHash ?? ''

/** The keys whose end only this store remembers. */
function endedKeys({ signers }: OrgTrust): ReadonlyMap<string, EndedKey> {
  const ended = new Map<string, EndedKey>()
  for (const [kid, { status, cut }] of Object.entries(signers))
    if (cut !== undefined && status !== 'active') ended.set(kid, { status, end: cut })
  return ended
}

const MAX_ALARMS = 1000
const MAX_DETAIL = 1000
/** Cut to what a store holds; half a character at the cut is dropped. */
export const shortened = (words: string): string => words.slice(0, MAX_DETAIL).toWellFormed()

/** An alarm is kept for people to see; it changes no pin. */
export function recordAlarm(trust: TrustStore, org: string, entry: Alarm): TrustStore {
  const known = orgTrustOf(trust, org)
  const alarms = [...known.alarms, { ...entry, detail: shortened(entry.detail) }].slice(-MAX_ALARMS)
  return { ...trust, orgs: { ...trust.orgs, [org]: { ...known, alarms } } }
}
