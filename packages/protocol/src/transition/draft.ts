import { capsAt, type DirectoryKey, type DirectorySource, type RecordPayload } from '../directory/caps.ts'
import { type Cap, capsSet, orgGenesis, type Policy, policySet, RECORD_KINDS } from '../directory/documents.ts'
import type { JsonObject } from '../encoding/canonical.ts'
import type { Shape } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import {
  claimedKind,
  type Envelope,
  type Kind,
  peekDocument,
  type VerifiedDocument,
  verifyDocument,
} from '../identity/document.ts'
import { type CheckedKey, checkKey } from '../identity/key-bundle.ts'
import { type KidState, kidName, kidState, POLICY_NAME, policyState } from '../log/state.ts'
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
  get(name: string): Awaitable<JsonObject | undefined>
  document(docHash: string): Awaitable<Envelope | undefined>
  /** Every key id ever added for a principal. */
  kidsOf(principal: string): Awaitable<readonly string[]>
  /** Grants that are not tombstones. */
  grantsOfVault(vaultId: string): Awaitable<readonly LiveGrant[]>
  grantsOfKid(kid: string): Awaitable<readonly LiveGrant[]>
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
      written.set(name, state as JsonObject)
    },
    updates: () => [...written].map(([name, state]) => ({ name, state })).sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

/** The directory as this log has accepted it. */
function acceptedDirectory(before: LogState): DirectorySource {
  async function resolve(kid: string): Promise<DirectoryKey> {
    const state = await before.get(kidName(kid))
    ensure(state, 'unknown_signer', 'a signer is not in the directory', { kid })
    const entry = kidState(state, kid)
    const record = await acceptedRecord(before, entry)
    return { entry, key: checkKey(kid, bundleOf(record, kid)), record }
  }
  return {
    resolve,
    keyOf: async (kid) => ((await before.get(kidName(kid))) ? (await resolve(kid)).key : undefined),
    capsDocument: async (docHash) => peekDocument(capsSet, await accepted(before, docHash)).payload,
    policyAt: () => currentPolicy(before),
  }
}

async function accepted(before: LogState, docHash: string): Promise<Envelope> {
  const envelope = await before.document(docHash)
  ensure(envelope, 'bad_transition', 'an accepted document is missing', { docHash })
  return envelope
}

async function acceptedRecord(before: LogState, entry: KidState): Promise<RecordPayload> {
  const envelope = await accepted(before, entry.rec)
  const kind = claimedKind(envelope)
  ensure(Object.hasOwn(RECORD_KINDS, kind), 'wrong_type', 'the record of a key is not a record', { kid: entry.kid })
  return peekDocument(RECORD_KINDS[kind as keyof typeof RECORD_KINDS] as Kind<string, unknown>, envelope)
    .payload as RecordPayload
}

const bundleOf = (record: RecordPayload, kid: string): unknown =>
  record.t === 'org.genesis' ? record.admins.find((admin) => admin.kid === kid)?.key : record.key

export async function currentPolicy(before: LogState): Promise<Policy> {
  const state = await before.get(POLICY_NAME)
  ensure(state, 'bad_transition', 'the log has no genesis yet')
  const { policyHash, policyVersion } = policyState(state, POLICY_NAME)
  const envelope = await accepted(before, policyHash)
  return policyVersion === 1
    ? peekDocument(orgGenesis, envelope).payload.policy
    : peekDocument(policySet, envelope).payload.policy
}

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

/** The key of somebody who may act in this leaf. */
export async function activeSigner(draft: Draft, kid: string): Promise<CheckedKey> {
  const { entry, key } = await draft.directory.resolve(kid)
  ensure(entry.status === 'active', 'signer_not_active', 'a signer is not active', { kid })
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
