import { ensure, ProtocolError } from '../errors.ts'
import {
  claimedKind,
  documentHash,
  type Envelope,
  peekDocument,
  type VerifiedDocument,
  verifyDocument,
} from '../identity/document.ts'
import { type CheckedKey, checkKey, mayHoldAuthority } from '../identity/key-bundle.ts'
import { isLive, type KidState, kidName, kidState, POLICY_NAME, policyState } from '../log/state.ts'
import { stateOf, type VerifiedView } from '../log/transparency.ts'
import { capsAt, countAdmins, type DirectoryKey } from './caps.ts'
import { type Cap, type CapsSetPayload, capsSet, keyRotate, orgGenesis, type Policy, policySet } from './documents.ts'
import { type Genesis, keysBefore, type RecordSource, verifyRecord } from './records.ts'
import { ensureUntainted, isSound, isUntainted } from './taint.ts'

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
  /** The key of a signer who was live at that leaf; neither the key nor who vouched for it is compromised now. */
  signerAt(kid: string, index: number): Promise<CheckedKey>
  /** The same for an object that has been replaced since: a later compromise does not matter. */
  formerSignerAt(kid: string, index: number): Promise<CheckedKey>
  /** For looking up signatures: undefined for keys that are not part of the answer. */
  keyOf(kid: string): Promise<CheckedKey | undefined>
  /** Refuses a key that is not in the directory, or that a compromised key vouched for. */
  resolve(kid: string): Promise<DirectoryKey>
  /** For whoever reviews: did no compromised key vouch for it that the quorum has not confirmed since? */
  isUntainted(kid: string): Promise<boolean>
  /** Were its caps given by a quorum that is sound? By a compromised key they count for nothing, until another caps.set replaces them. */
  hasSoundCaps(kid: string): Promise<boolean>
  capsAt(kid: string, index: number): Promise<ReadonlySet<Cap>>
  policyAt(index: number): Promise<Policy>
  /** Every key this directory was asked for, with the record that brought it in. */
  resolved(): readonly DirectoryKey[]
  /** The newest policy; null where the answer does not prove it. */
  readonly policy: Policy | null
  /** 4.4: what a compromised key signed last, or one that it vouched for, is taken all the same, for whoever reviews it and signs it anew. */
  readonly isReviewing?: boolean | undefined
}

const MAX_DEPTH = 8
const MAX_DOCUMENTS = 10_000

/** Opens a directory against the genesis the client pinned; everything else is resolved when it is asked for. */
export async function verifyDirectory(
  view: VerifiedView,
  response: DirectoryResponse,
  pinnedGenesis: string,
  isReviewing?: boolean,
): Promise<VerifiedDirectory> {
  const genesis = await verifyGenesis(response.genesis, pinnedGenesis, view.org)
  const documents = indexDocuments(response)
  const once = makeOnce()
  const entryOf = (kid: string): KidState | undefined => remembered(stateOf(view, kidName(kid), kidState), view.ended)
  const isAnyCompromised = [...view.states.keys()].some(
    (name) => name.startsWith(kidName('')) && entryOf(name.slice(kidName('').length))?.status === 'compromised',
  )
  const known = { current: new Map<string, DirectoryKey>(), past: new Map<string, DirectoryKey>() }

  /** By signatures alone: whether a voucher was found to be compromised since is asked by `untainted`. */
  async function resolve(kid: string, isPast: boolean, depth = 0): Promise<DirectoryKey> {
    const found = isPast ? known.past : known.current
    const seen = found.get(kid)
    if (seen) return seen
    ensure(depth <= MAX_DEPTH, 'unknown_signer', 'a chain of endorsements is too long', { kid })
    for (const entry of rotationChain(kid, found)) {
      const resolved = await verifyRecord(source(isPast, depth + 1), entry, genesis, documents.get(entry.rec))
      found.set(entry.kid, resolved)
    }
    return found.get(kid) as DirectoryKey
  }
  /** A key may rotate for years: its predecessors come first, the oldest at the head, so that rotations do not nest. */
  function rotationChain(kid: string, found: ReadonlyMap<string, DirectoryKey>): KidState[] {
    const chain: KidState[] = []
    let entry = entryOf(kid)
    ensure(entry && entry.kid === kid, 'unknown_signer', 'a signer is not part of the directory', { kid })
    while (entry) {
      chain.push(entry)
      const record = documents.get(entry.rec)
      if (!record || claimedKind(record) !== 'key.rotate') break
      const { oldKid } = peekDocument(keyRotate, record).payload
      const older: KidState | undefined = found.has(oldKid) ? undefined : entryOf(oldKid)
      entry = older && older.kid === oldKid && older.added < entry.added ? older : undefined
    }
    return chain.reverse()
  }
  const source = (isPast: boolean, depth = 0): RecordSource => ({
    entryOf,
    isPast,
    resolve: (kid) => resolve(kid, isPast, depth),
    keyOf: async (kid) => (entryOf(kid) ? (await resolve(kid, isPast, depth)).key : undefined),
    // One document may be offered for several keys and leaves: what was verified is the document for this key at this leaf.
    capsDocument: (docHash, kid, index) =>
      once(`caps ${docHash} ${kid} ${index} ${isPast}`, () =>
        verifyCaps(source(isPast, depth), view.org, documents.get(docHash), { docHash, kid, index }),
      ),
    policyAt: (index) => policyAt(source(isPast, depth), view, genesis, response.policies, index, once),
  })
  // Where nobody is compromised, rights are as they were.
  const [now, then] = [source(false), source(isAnyCompromised)]
  // 4.4: whoever reviews takes rights as they were.
  const top = isReviewing ? then : now
  /** 2.1: who came before longer keys were asked for stays, and who has lost their right since has still asked for them. */
  async function ensureLong({ entry, key }: DirectoryKey): Promise<void> {
    const { minRsaBits } = await then.policyAt(entry.added)
    checkKey(entry.kid, key.bundle, minRsaBits)
  }
  /** For whoever leans on the key itself: takes what it signed, or wraps for it. */
  async function reliable(kid: string): Promise<DirectoryKey> {
    const resolved = await top.resolve(kid)
    await once(`reliable ${kid}`, async () => {
      if (!isReviewing) await ensureUntainted(top, kid)
      await ensureLong(resolved)
    })
    return resolved
  }

  /** By rights as they were: what was replaced since does not lean on them any more. */
  async function formerSignerAt(kid: string, index: number): Promise<CheckedKey> {
    const { entry, key } = await then.resolve(kid)
    ensure(isLive(entry, index), 'signer_not_active', 'a signer was not active at that time', { kid, index })
    return key
  }
  async function signerAt(kid: string, index: number): Promise<CheckedKey> {
    const key = await formerSignerAt(kid, index)
    const { entry } = await reliable(kid)
    ensure(isReviewing || entry.status !== 'compromised', 'signer_compromised', 'last signed by a compromised key', {
      kid,
    })
    return key
  }
  const directory = {
    view,
    org: view.org,
    genesisHash: pinnedGenesis,
    signerAt,
    formerSignerAt,
    resolve: reliable,
    isUntainted: (kid: string) => (isReviewing ? isAccepted(() => isUntainted(now, kid)) : isUntainted(now, kid)),
    hasSoundCaps: (kid: string) => isAccepted(async () => (await capsAt(now, kid, Number.POSITIVE_INFINITY)).size > 0),
    // Whether whoever signed had the right to is asked of the key itself.
    keyOf: then.keyOf,
    capsAt: (kid: string, index: number) => capsAt(top, kid, index),
    policyAt: top.policyAt,
    resolved: () => [...new Map([...known.past, ...known.current]).values()],
    policy: await newestPolicy(view, genesis, now),
    isReviewing,
  }
  return directory as unknown as VerifiedDirectory
}

/** False where a right was found to lean on a compromised key: there is something to be signed anew. */
async function isAccepted(judge: () => Promise<boolean>): Promise<boolean> {
  try {
    return await judge()
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'endorser_not_admin') return false
    throw error
  }
}

/** What the client has seen ended stays so: its memory can take authority away like the logged state, and give none (9.4). */
function remembered(entry: KidState | undefined, ended: VerifiedView['ended']): KidState | undefined {
  const seen = entry && ended.get(entry.kid)
  if (!seen) return entry
  const status = entry.status === 'compromised' ? entry.status : seen.status
  return { ...entry, status, end: Math.min(entry.end ?? seen.end, seen.end) }
}

/** For those who remember it. A read that needs no policy is not refused for one that cannot be verified. */
async function newestPolicy(view: VerifiedView, genesis: Genesis, source: RecordSource): Promise<Policy | null> {
  const state = stateOf(view, POLICY_NAME, policyState)
  if (!state || state.policyHash === genesis.hash) return state ? genesis.payload.policy : null
  return source.policyAt(Number.POSITIVE_INFINITY).catch((error: unknown) => {
    if (error instanceof ProtocolError) return null
    throw error
  })
}

type Once = <T>(name: string, verify: () => Promise<T>) => Promise<T>

/** Something is verified once, however many keys lean on it. Records lean on older ones only, so nothing waits for itself. */
function makeOnce(): Once {
  const done = new Map<string, Promise<unknown>>()
  return (name, verify) => {
    if (!done.has(name)) done.set(name, verify())
    return done.get(name) as ReturnType<typeof verify>
  }
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

interface Quorum {
  readonly signers: Iterable<string>
  readonly index: number
  readonly needed: number
  readonly what: string
  /** 4.4: what is current must not lean on a key found to be compromised since; what was replaced may. */
  readonly isCurrent: boolean
}

async function ensureQuorum(source: RecordSource, { signers, index, needed, what, isCurrent }: Quorum): Promise<void> {
  const found = await countAdmins(source, signers, index, isCurrent && !source.isPast ? isSound : isLive)
  ensure(found >= needed, 'endorser_not_admin', `too few directory admins signed ${what}`, { index, needed, found })
}

/** A caps.set counts if the quorum in force signed it and it follows the one before. */
async function verifyCaps(
  source: RecordSource,
  org: string,
  envelope: Envelope | undefined,
  { docHash, kid, index }: { docHash: string; kid: string; index: number },
): Promise<CapsSetPayload> {
  ensure(envelope, 'unknown_signer', 'a caps.set of a signer is missing', { kid })
  const { payload, signers } = await verifyDocument(capsSet, envelope, org, keysBefore(source, index))
  ensure(payload.kid === kid, 'endorser_not_admin', 'a caps.set is of another key', { kid })
  const sets = source.entryOf(kid)?.capSets ?? []
  const position = sets.findIndex((set) => set.docHash === docHash && set.index === index)
  const before = sets[position - 1]?.docHash ?? ''
  ensure(payload.prev === before, 'endorser_not_admin', 'a caps.set does not follow its predecessor', { kid })
  const { dirQuorum } = await source.policyAt(index)
  const isCurrent = position === sets.length - 1
  await ensureQuorum(source, { signers, index, needed: dirQuorum, what: 'a caps.set', isCurrent })
  return payload
}

/** The policy in force before leaf `index`: walked from the genesis, each step signed by the quorum of the step before. */
async function policyAt(
  source: RecordSource,
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
    const before = { hash, version: step + 1 }
    const next = await once(`policy ${step} ${source.isPast}`, () =>
      verifyPolicy(source, genesis.payload.org, envelope, before, at),
    )
    const isCurrent = step === policies.length - 1
    const quorum = { signers: next.signers, index: at, needed: policy.dirQuorum, what: 'a policy', isCurrent }
    await once(`quorum ${step} ${source.isPast}`, () => ensureQuorum(source, quorum))
    policy = next.payload.policy
    hash = next.hash
  }
  ensure(hash === state.policyHash, 'bad_map_proof', 'the policy chain does not end in the logged policy')
  return policy
}

/** Its place and its signatures; whether those are enough is asked by `policyAt`. */
async function verifyPolicy(
  source: RecordSource,
  org: string,
  envelope: Envelope,
  before: { readonly hash: string; readonly version: number },
  at: number,
): Promise<VerifiedDocument<typeof policySet>> {
  const document = await verifyDocument(policySet, envelope, org, keysBefore(source, at))
  const { prev, policyVersion } = document.payload
  ensure(
    prev === before.hash && policyVersion === before.version + 1,
    'bad_map_proof',
    'a policy does not follow its predecessor',
  )
  return document
}
