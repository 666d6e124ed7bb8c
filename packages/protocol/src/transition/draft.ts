import { capsAt, type DirectoryKey, type DirectorySource, isPrivileged, type RecordPayload } from '../directory/caps.ts'
import { type Cap, capsSet, orgGenesis, type Policy, policySet, RECORD_KINDS } from '../directory/documents.ts'
import { ensureUntainted } from '../directory/taint.ts'
import type { JsonObject } from '../encoding/canonical.ts'
import type { Shape } from '../encoding/shape.ts'
import { ensure, ProtocolError } from '../errors.ts'
import {
  claimedKind,
  type Envelope,
  type Kind,
  peekDocument,
  type VerifiedDocument,
  verifyDocument,
} from '../identity/document.ts'
import { type CheckedKey, checkKey } from '../identity/key-bundle.ts'
import {
  grantState,
  inviteState,
  type KidState,
  kidName,
  kidState,
  POLICY_NAME,
  policyState,
  projectState,
  recoveryState,
  vaultState,
} from '../log/state.ts'
import type { Awaitable } from '../platform/platform.ts'

// Section 5.7: what a transition reads and writes. The server backs it with a database, the auditor with its own replay.

export interface LiveGrant {
  readonly vaultId: string
  readonly kid: string
  readonly dekVersion: number
}

/** The state before a leaf. Documents it gives were accepted by this same function, so their signatures are not checked again. */
export interface LogState {
  readonly org: string
  /** The time of the last leaf; 0 before the first. */
  lastAt(): Awaitable<number>
  /** The root of the log before the leaf. */
  logRoot(): Awaitable<Uint8Array>
  get(name: string): Awaitable<JsonObject | undefined>
  /** A document of an earlier leaf; undefined for any other. */
  document(docHash: string): Awaitable<Envelope | undefined>
  /** Every key id ever added for a principal. */
  kidsOf(principal: string): Awaitable<readonly string[]>
  /** Grants that are not tombstones. */
  grantsOfVault(vaultId: string): Awaitable<readonly LiveGrant[]>
  grantsOfKid(kid: string): Awaitable<readonly LiveGrant[]>
  /** The tombstones among the grants of a key: vault keys it held once. */
  endedGrantsOfKid(kid: string): Awaitable<readonly LiveGrant[]>
}

export interface StateUpdate {
  readonly name: string
  readonly state: JsonObject
}

/** One leaf in the making: reads see what was written before them in the same leaf. */
export interface Draft {
  readonly before: LogState
  readonly index: number
  readonly at: number
  readonly directory: DirectorySource
  read<T>(name: string, shape: Shape<T>): Promise<T | undefined>
  write(name: string, state: object): void
  updates(): readonly StateUpdate[]
}

export function openDraft(before: LogState, index: number, at: number): Draft {
  const written = new Map<string, JsonObject>()
  async function read<T>(name: string, shape: Shape<T>): Promise<T | undefined> {
    const state = written.get(name) ?? (await before.get(name))
    return state === undefined ? undefined : shape(state, name)
  }
  return {
    before,
    index,
    at,
    directory: acceptedDirectory(before),
    read,
    write: (name, state) => {
      ensureReadable(name, state)
      written.set(name, state as JsonObject)
    },
    updates: () => [...written].map(([name, state]) => ({ name, state })).sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

const STATE_SHAPES: Readonly<Record<string, Shape<unknown>>> = {
  policy: policyState,
  kid: kidState,
  vault: vaultState,
  grant: grantState,
  project: projectState,
  recovery: recoveryState,
  invite: inviteState,
}

/** A history in a state is bounded. What nobody could read any more is not written, or the vault or key would be lost. */
function ensureReadable(name: string, state: object): void {
  const shape = STATE_SHAPES[name.split('/', 1)[0] as string] as Shape<unknown>
  try {
    shape(state, name)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    ensure(false, 'limit_exceeded', 'a state would outgrow what a state may hold', { name })
  }
}

/** The directory as this log has accepted it. The state before the leaf stands still, so each key is looked up once. */
function acceptedDirectory(before: LogState): DirectorySource {
  const known = new Map<string, Promise<DirectoryKey | undefined>>()
  async function load(kid: string): Promise<DirectoryKey | undefined> {
    const state = await before.get(kidName(kid))
    if (state === undefined) return undefined
    const entry = kidState(state, kid)
    const { record, vouchers } = await acceptedRecord(before, entry)
    return { entry, key: checkKey(kid, bundleOf(record, kid)), record, vouchers }
  }
  function find(kid: string): Promise<DirectoryKey | undefined> {
    const found = known.get(kid) ?? load(kid)
    known.set(kid, found)
    return found
  }
  return {
    resolve: async (kid) => {
      const found = await find(kid)
      ensure(found, 'unknown_signer', 'a signer is not in the directory', { kid })
      return found
    },
    keyOf: async (kid) => (await find(kid))?.key,
    capsDocument: async (docHash) => peekDocument(capsSet, await accepted(before, docHash)).payload,
    policyAt: (index) => acceptedPolicy(before, index),
  }
}

async function accepted(before: LogState, docHash: string): Promise<Envelope> {
  const envelope = await before.document(docHash)
  ensure(envelope, 'bad_transition', 'an accepted document is missing', { docHash })
  return envelope
}

async function acceptedRecord(
  before: LogState,
  entry: KidState,
): Promise<{ record: RecordPayload; vouchers: readonly string[] }> {
  const envelope = await accepted(before, entry.rec)
  const kind = claimedKind(envelope)
  ensure(Object.hasOwn(RECORD_KINDS, kind), 'wrong_type', 'the record of a key is not a record', { kid: entry.kid })
  const record = peekDocument(RECORD_KINDS[kind as keyof typeof RECORD_KINDS] as Kind<string, unknown>, envelope)
    .payload as RecordPayload
  return { record, vouchers: await vouchersOf(before, entry, record, envelope) }
}

/** Who vouched: the one author, or everybody who was in the directory before and signed where a quorum was needed. */
async function vouchersOf(
  before: LogState,
  { added }: KidState,
  record: RecordPayload,
  { signatures }: Envelope,
): Promise<readonly string[]> {
  if (record.t === 'org.genesis') return []
  if (record.t === 'key.rotate' || (record.t === 'key.add' && !isPrivileged(record))) return [record.by]
  const vouchers: string[] = []
  for (const { keyid } of signatures) {
    const state = await before.get(kidName(keyid))
    if (state && kidState(state, keyid).added < added) vouchers.push(keyid)
  }
  return vouchers
}

const bundleOf = (record: RecordPayload, kid: string): unknown =>
  record.t === 'org.genesis' ? record.admins.find((admin) => admin.kid === kid)?.key : record.key

/** The policy in force before leaf `index`. */
async function acceptedPolicy(before: LogState, index: number): Promise<Policy> {
  const state = await before.get(POLICY_NAME)
  ensure(state, 'bad_transition', 'the log has no genesis yet')
  const { policyHash, indexes } = policyState(state, POLICY_NAME)
  let docHash = policyHash
  for (const from of indexes.slice(1).reverse()) {
    const { policy, prev } = peekDocument(policySet, await accepted(before, docHash)).payload
    if (from < index) return policy
    docHash = prev
  }
  return peekDocument(orgGenesis, await accepted(before, docHash)).payload.policy
}

export const currentPolicy = (before: LogState): Promise<Policy> => acceptedPolicy(before, Number.POSITIVE_INFINITY)

/** Reads an accepted document again, as a plain payload. */
export async function acceptedPayload<N extends string, P>(draft: Draft, kind: Kind<N, P>, docHash: string) {
  return peekDocument(kind, await accepted(draft.before, docHash)).payload
}

/** Verifies a new document under the state before the leaf; `extra` is a key the document itself brings in. */
export function accept<N extends string, P>(
  draft: Draft,
  kind: Kind<N, P>,
  envelope: Envelope,
  extra?: CheckedKey,
): Promise<VerifiedDocument<Kind<N, P>>> {
  return verifyDocument(kind, envelope, draft.before.org, (kid) =>
    kid === extra?.kid ? extra : draft.directory.keyOf(kid),
  )
}

/** The key of somebody who may act on the directory in this leaf. */
export async function activeSigner(draft: Draft, kid: string): Promise<CheckedKey> {
  const { entry, key } = await draft.directory.resolve(kid)
  ensure(entry.status === 'active', 'signer_not_active', 'a signer is not active', { kid })
  return key
}

/** For where readers refuse a tainted key (4.3): what it signs for vaults and projects never gets into the log. */
export async function untaintedSigner(draft: Draft, kid: string): Promise<CheckedKey> {
  const key = await activeSigner(draft, kid)
  await ensureUntainted(draft.directory, kid)
  return key
}

export const capsNow = (draft: Draft, kid: string): Promise<ReadonlySet<Cap>> =>
  capsAt(draft.directory, kid, draft.index)

/** The active keys of a principal, this leaf's changes included. */
export async function activeKids(draft: Draft, principal: string): Promise<readonly string[]> {
  const active: string[] = []
  for (const kid of await draft.before.kidsOf(principal)) {
    if ((await draft.read(kidName(kid), kidState))?.status === 'active') active.push(kid)
  }
  return active
}
