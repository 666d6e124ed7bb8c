import { ensure } from '../errors.ts'
import { claimedKind, documentHash, type Envelope, peekDocument, verifyDocument } from '../identity/document.ts'
import { principalOf } from '../identity/identifiers.ts'
import { type CheckedKey, checkKey, mayHoldAuthority } from '../identity/key-bundle.ts'
import { isLive, type KidState, kidName, kidState, POLICY_NAME, policyState } from '../log/state.ts'
import { stateOf, type VerifiedView } from '../log/transparency.ts'
import { capsAt, checkCaps, checkEndorser, countAdmins, type DirectoryKey, type DirectorySource } from './caps.ts'
import {
  type Cap,
  type CapsSetPayload,
  capsSet,
  type GenesisPayload,
  keyAdd,
  keyRecover,
  keyRotate,
  orgGenesis,
  type Policy,
  policySet,
} from './documents.ts'

// Sections 4.3 and 4.4: from a pinned genesis to any signer, by signatures alone. The logged state can only end a key.

/** What `GET /vault/:vaultId/public-keys` delivers of the directory (4.5): signed documents, in any order. */
export interface DirectoryResponse {
  readonly genesis: Envelope
  readonly policies: readonly Envelope[]
  readonly records: readonly Envelope[]
  readonly capSets: readonly Envelope[]
}

declare const verifiedDirectory: unique symbol
/** The directory as far as it was needed and verified. Only `verifyDirectory` makes one. */
export interface VerifiedDirectory {
  readonly [verifiedDirectory]: true
  readonly view: VerifiedView
  readonly org: string
  readonly genesisHash: string
  /** The key of a signer who was live at that leaf and is not compromised now. */
  signerAt(kid: string, index: number): Promise<CheckedKey>
  /** The same for an object that has been replaced since: a later compromise does not matter. */
  formerSignerAt(kid: string, index: number): Promise<CheckedKey>
  /** For looking up signatures: undefined for keys that are not part of the answer. */
  keyOf(kid: string): Promise<CheckedKey | undefined>
  resolve(kid: string): Promise<DirectoryKey>
  capsAt(kid: string, index: number): Promise<ReadonlySet<Cap>>
  policyAt(index: number): Promise<Policy>
  /** Every key this directory was asked for, with the record that brought it in. */
  resolved(): readonly DirectoryKey[]
}

const MAX_DEPTH = 8
const MAX_DOCUMENTS = 10_000

/** Opens a directory against the genesis the client pinned; everything else is resolved when it is asked for. */
export async function verifyDirectory(
  view: VerifiedView,
  response: DirectoryResponse,
  pinnedGenesis: string,
): Promise<VerifiedDirectory> {
  const genesis = await verifyGenesis(response.genesis, pinnedGenesis, view.org)
  const documents = indexDocuments(response)
  const known = new Map<string, DirectoryKey>()
  const done = new Map<string, Promise<unknown>>()
  // A document is verified once, however many keys lean on it.
  const once: Once = (name, verify) => {
    if (!done.has(name)) done.set(name, verify())
    return done.get(name) as ReturnType<typeof verify>
  }

  async function resolve(kid: string, depth = 0): Promise<DirectoryKey> {
    const seen = known.get(kid)
    if (seen) return seen
    ensure(depth <= MAX_DEPTH, 'unknown_signer', 'a chain of endorsements is too long', { kid })
    const entry = stateOf(view, kidName(kid), kidState)
    ensure(entry && entry.kid === kid, 'unknown_signer', 'a signer is not part of the directory', { kid })
    const resolved = await verifyRecord(source(depth + 1), entry, genesis, documents.get(entry.rec))
    known.set(kid, resolved)
    return resolved
  }
  const source = (depth: number): DirectorySource => ({
    resolve: (kid) => resolve(kid, depth),
    keyOf: async (kid) => (view.states.has(kidName(kid)) ? (await resolve(kid, depth)).key : undefined),
    capsDocument: (docHash, kid, index) =>
      once(`caps ${docHash}`, () => verifyCaps(source(depth), view.org, documents.get(docHash), kid, index)),
    policyAt: (index) => policyAt(source(depth), view, genesis, response.policies, index, once),
  })
  const top = source(0)

  async function formerSignerAt(kid: string, index: number): Promise<CheckedKey> {
    const { entry, key } = await resolve(kid)
    ensure(isLive(entry, index), 'signer_not_active', 'a signer was not active at that time', { kid, index })
    return key
  }
  async function signerAt(kid: string, index: number): Promise<CheckedKey> {
    const key = await formerSignerAt(kid, index)
    ensure(
      (await resolve(kid)).entry.status !== 'compromised',
      'signer_compromised',
      'last signed by a compromised key',
      { kid },
    )
    return key
  }
  const directory = {
    view,
    org: view.org,
    genesisHash: pinnedGenesis,
    signerAt,
    formerSignerAt,
    resolve: (kid: string) => resolve(kid),
    keyOf: top.keyOf,
    capsAt: (kid: string, index: number) => capsAt(top, kid, index),
    policyAt: top.policyAt,
    resolved: () => [...known.values()],
  }
  return directory as unknown as VerifiedDirectory
}

type Once = <T>(name: string, verify: () => Promise<T>) => Promise<T>

interface Genesis {
  readonly hash: string
  readonly payload: GenesisPayload
}

/** The root: its hash is pinned, its keys certify themselves, and every founding admin signed it. */
export async function verifyGenesis(envelope: Envelope, pinned: string, org: string): Promise<Genesis> {
  const { hash, payload } = peekDocument(orgGenesis, envelope)
  ensure(hash === pinned, 'genesis_mismatch', 'the organisation is not the pinned one', { genesis: hash, pinned })
  const keys = new Map(payload.admins.map(({ kid, key }) => [kid, checkKey(kid, key, payload.policy.minRsaBits)]))
  const document = await verifyDocument(orgGenesis, envelope, org, (kid) => keys.get(kid))
  for (const [kid, key] of keys) {
    ensure(document.signers.has(kid), 'missing_signature', 'a founding admin did not sign the genesis document', {
      kid,
    })
    ensure(mayHoldAuthority(key), 'not_authorised', 'an RSA-only key cannot found an organisation', { kid })
  }
  return { hash, payload: document.payload }
}

function indexDocuments({ records, capSets }: DirectoryResponse): ReadonlyMap<string, Envelope> {
  ensure(records.length + capSets.length <= MAX_DOCUMENTS, 'limit_exceeded', 'a directory holds too many documents')
  return new Map([...records, ...capSets].map((envelope) => [documentHash(envelope), envelope]))
}

async function verifyRecord(
  source: DirectorySource,
  entry: KidState,
  genesis: Genesis,
  envelope: Envelope | undefined,
): Promise<DirectoryKey> {
  if (entry.rec === genesis.hash) return founder(entry, genesis)
  ensure(envelope, 'unknown_signer', 'the record of a signer is missing', { kid: entry.kid })
  switch (claimedKind(envelope)) {
    case 'key.add':
      return verifyAdded(source, entry, envelope, genesis.payload.org)
    case 'key.rotate':
      return verifyRotated(source, entry, envelope, genesis.payload.org)
    case 'key.recover':
      return verifyRecovered(source, entry, envelope, genesis.payload.org)
    default:
      ensure(false, 'wrong_type', 'the record of a signer is not a record', { kid: entry.kid })
  }
}

function founder(entry: KidState, { payload }: Genesis): DirectoryKey {
  const admin = payload.admins.find(({ kid }) => kid === entry.kid)
  ensure(admin && entry.added === 0, 'endorser_not_admin', 'a key claims to be of the founders and is not', {
    kid: entry.kid,
  })
  return { entry, key: checkKey(admin.kid, admin.key), record: payload }
}

/** 4.4: what a compromised key endorsed counts only if a later caps.set by the quorum confirmed it. */
function ensureNotTainted(entry: KidState, by: KidState): void {
  const confirmed = entry.capSets.some((set) => by.end !== null && set.index >= by.end)
  ensure(by.status !== 'compromised' || confirmed, 'signer_compromised', 'a key was endorsed by a compromised key', {
    kid: entry.kid,
    by: by.kid,
  })
}

async function verifyAdded(
  source: DirectorySource,
  entry: KidState,
  envelope: Envelope,
  org: string,
): Promise<DirectoryKey> {
  const { payload } = peekDocument(keyAdd, envelope)
  const key = keyOfRecord(entry, payload)
  const endorser = await source.resolve(payload.by)
  const keys = new Map([
    [entry.kid, key],
    [payload.by, endorser.key],
  ])
  const document = await verifyDocument(keyAdd, envelope, org, (kid) => keys.get(kid))
  ensure(document.signers.has(entry.kid), 'missing_signature', 'a key did not sign its own registration', {
    kid: entry.kid,
  })
  ensureEarlier(endorser.entry, entry)
  await checkEndorser(source, payload.by, document.payload, entry.added)
  checkCaps(key, document.payload.caps)
  ensureNotTainted(entry, endorser.entry)
  return { entry, key, record: document.payload }
}

async function verifyRotated(
  source: DirectorySource,
  entry: KidState,
  envelope: Envelope,
  org: string,
): Promise<DirectoryKey> {
  const { payload } = peekDocument(keyRotate, envelope)
  const key = keyOfRecord(entry, payload)
  ensure(
    principalOf(payload.oldKid) === principalOf(entry.kid),
    'key_substitution',
    'a rotation changes the principal',
    { kid: entry.kid },
  )
  ensure(payload.by === payload.oldKid, 'missing_signature', 'a rotation is not made by the old key', {
    kid: entry.kid,
  })
  const old = await source.resolve(payload.oldKid)
  const keys = new Map([
    [entry.kid, key],
    [payload.oldKid, old.key],
  ])
  const document = await verifyDocument(keyRotate, envelope, org, (kid) => keys.get(kid))
  ensure(document.signers.has(entry.kid), 'missing_signature', 'the new key did not sign its rotation', {
    kid: entry.kid,
  })
  ensureEarlier(old.entry, entry)
  ensureNotTainted(entry, old.entry)
  return { entry, key, record: document.payload }
}

async function verifyRecovered(
  source: DirectorySource,
  entry: KidState,
  envelope: Envelope,
  org: string,
): Promise<DirectoryKey> {
  const { payload } = peekDocument(keyRecover, envelope)
  const key = keyOfRecord(entry, payload)
  ensure(payload.principal === principalOf(entry.kid), 'key_substitution', 'a recovery changes the principal', {
    kid: entry.kid,
  })
  const document = await verifyDocument(keyRecover, envelope, org, (kid) =>
    kid === entry.kid ? key : source.keyOf(kid),
  )
  ensure(document.signers.has(entry.kid), 'missing_signature', 'the new key did not sign its recovery', {
    kid: entry.kid,
  })
  const others = [...document.signers].filter((kid) => kid !== entry.kid)
  for (const kid of others) ensureEarlier((await source.resolve(kid)).entry, entry)
  const { recoverQuorum } = await source.policyAt(entry.added)
  const admins = await countAdmins(source, others, entry.added, isLive)
  ensure(admins >= recoverQuorum, 'endorser_not_admin', 'too few directory admins signed a recovery', {
    kid: entry.kid,
  })
  return { entry, key, record: document.payload }
}

function keyOfRecord(entry: KidState, payload: { readonly kid: string; readonly key: unknown }): CheckedKey {
  ensure(payload.kid === entry.kid, 'key_substitution', 'a record is of another key', { kid: entry.kid })
  return checkKey(entry.kid, payload.key)
}

/** Whoever vouches must have been in the directory before, and live: chains end at the genesis and never loop. */
function ensureEarlier(voucher: KidState, entry: KidState): void {
  ensure(
    voucher.added < entry.added && isLive(voucher, entry.added),
    'signer_not_active',
    'a key was endorsed by one that was not active',
    {
      kid: entry.kid,
      by: voucher.kid,
    },
  )
}

/** A caps.set counts if the quorum in force signed it. */
async function verifyCaps(
  source: DirectorySource,
  org: string,
  envelope: Envelope | undefined,
  kid: string,
  index: number,
): Promise<CapsSetPayload> {
  ensure(envelope, 'unknown_signer', 'a caps.set of a signer is missing', { kid })
  const document = await verifyDocument(capsSet, envelope, org, source.keyOf)
  ensure(document.payload.kid === kid, 'endorser_not_admin', 'a caps.set is of another key', { kid })
  const { dirQuorum } = await source.policyAt(index)
  const admins = await countAdmins(source, document.signers, index, isLive)
  ensure(admins >= dirQuorum, 'endorser_not_admin', 'too few directory admins signed a caps.set', { kid })
  return document.payload
}

/** The policy in force before leaf `index`: walked from the genesis, each step signed by the quorum of the step before. */
async function policyAt(
  source: DirectorySource,
  view: VerifiedView,
  genesis: Genesis,
  policies: readonly Envelope[],
  index: number,
  once: Once,
): Promise<Policy> {
  const state = stateOf(view, POLICY_NAME, policyState)
  ensure(state, 'bad_map_proof', 'the policy state is not proven')
  ensure(
    state.indexes.length === state.policyVersion && policies.length === state.policyVersion - 1,
    'bad_map_proof',
    'the policy chain is incomplete',
  )
  let policy = genesis.payload.policy
  let hash = genesis.hash
  for (const [step, envelope] of policies.entries()) {
    const at = state.indexes[step + 1] as number
    if (at >= index) return policy
    const before = { policy, hash, version: step + 1 }
    const next = await once(`policy ${step}`, () => verifyPolicy(source, genesis.payload.org, envelope, before, at))
    policy = next.policy
    hash = next.hash
  }
  ensure(hash === state.policyHash, 'bad_map_proof', 'the policy chain does not end in the logged policy')
  return policy
}

interface PolicyStep {
  readonly policy: Policy
  readonly hash: string
  readonly version: number
}

async function verifyPolicy(
  source: DirectorySource,
  org: string,
  envelope: Envelope,
  before: PolicyStep,
  at: number,
): Promise<PolicyStep> {
  const { payload, hash, signers } = await verifyDocument(policySet, envelope, org, source.keyOf)
  ensure(
    payload.prev === before.hash && payload.policyVersion === before.version + 1,
    'bad_map_proof',
    'a policy does not follow its predecessor',
  )
  const admins = await countAdmins(source, signers, at, isLive)
  ensure(admins >= before.policy.dirQuorum, 'endorser_not_admin', 'too few directory admins signed a policy')
  return { policy: payload.policy, hash, version: payload.policyVersion }
}
