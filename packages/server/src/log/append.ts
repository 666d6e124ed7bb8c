import {
  appendLeaf,
  claimedKind,
  type Envelope,
  type Frontier,
  frontierRoot,
  kidName,
  type LeafType,
  type LogState,
  leafHash,
  leafOf,
  makeCheckpoint,
  mapValue,
  openPartialMap,
  type StateMap,
  type Transition,
  transition,
} from '@strongroom/protocol'
import type { Deps, TxCtx } from '../context.ts'
import type { Db } from '../db/database.ts'
import { ApiError } from '../errors.ts'
import { LOG_KEY, openLogKey, vkeyOf } from './log-key.ts'
import { openLogState } from './log-state.ts'
import * as store from './log-store.ts'
import { changeNodes, type MapNode } from './map-nodes.ts'
import { type MapPath, readPaths } from './map-store.ts'
import { refusing } from './refusals.ts'

// One act, one leaf, one checkpoint, in the caller's transaction. The rules are the protocol's own; here is only where their
// state comes from and where what they give is kept.

export interface Appended {
  readonly index: number
  readonly size: number
  readonly transition: Transition
  /** The signed note over the log up to this leaf. It must not leave the process before the transaction has committed. */
  readonly checkpoint: string
}

export interface AppendedAct {
  readonly docs: readonly Envelope[]
  /** The only leaf types the caller has a right to make; all of them if absent. */
  readonly allowed?: readonly LeafType[]
}

/** Texts that a database can hold and every client reads alike; the payload itself is checked by the protocol. */
const PLAIN = /^[\x21-\x7e]{1,1024}$/

export function ensureStorable(docs: readonly Envelope[]): void {
  const isPlain = ({ keyid, sig }: Envelope['signatures'][number]): boolean => PLAIN.test(keyid) && PLAIN.test(sig)
  if (!docs.every(({ signatures }) => signatures.every(isPlain)))
    throw new ApiError('invalid_document', { details: { rule: 'malformed' } })
}

/**
 * The rules ignore signatures by keys they do not know. Kept with the document, such a signature would be judged anew when its key
 * enters the directory, and an honest leaf could fail its audit: so nobody can leave one here.
 */
async function ensureKnownSigners(before: LogState, docs: readonly Envelope[], { updates }: Transition): Promise<void> {
  const brought = new Set(updates.map(({ name }) => name))
  for (const { keyid } of docs.flatMap(({ signatures }) => signatures)) {
    const isInvite = keyid.startsWith('invite:')
    if (isInvite || brought.has(kidName(keyid)) || (await before.get(kidName(keyid)))) continue
    throw new ApiError('invalid_signature', { details: { rule: 'unknown_signer', kid: keyid } })
  }
}

/** Takes the writer's turn before anything is read that the act depends on; it lasts until the transaction ends. */
export async function lockOrgLog({ db, principal }: TxCtx): Promise<void> {
  const log = await store.lockLog(db, principal.orgId, LOG_KEY)
  if (!log) throw new Error('the organisation has no log')
  ensureGoesOn(log, false)
}

/** The first leaf of a restored log is the statement that it was restored, and there is none of these in any other log. */
export function ensureGoesOn({ restoredAt }: store.LockedLog, isRecovery: boolean): void {
  if (restoredAt && !isRecovery) throw new ApiError('recovery_required')
  if (!restoredAt && isRecovery) throw new ApiError('recovery_not_due')
}

/**
 * Appends one act to the log of an organisation, or refuses and leaves nothing behind. The row of the log is locked until the
 * caller's transaction ends: two writers never get one index, and a size that is rolled back was never shown to anybody.
 */
export async function appendAct(
  deps: Pick<Deps, 'rootKey' | 'now'>,
  db: Db,
  orgId: string,
  { docs, allowed }: AppendedAct,
): Promise<Appended> {
  ensureStorable(docs)
  const log = await store.lockLog(db, orgId, LOG_KEY)
  if (!log) throw new Error('the organisation has no log')
  const at = leafTime(deps, log)
  const applied = await refusing(async () => {
    ensureGoesOn(
      log,
      docs.some((envelope) => claimedKind(envelope) === 'log.recover'),
    )
    const logRoot = frontierRoot(frontierOf(log))
    const before = await openLogState(db, { orgId, lastAt: log.lastAt, logRoot }, docs)
    return decideAct(before, log.size, { docs, at, ...(allowed && { allowed }) })
  })
  const root = await writeLeaf(db, { orgId, log, applied, docs, at })
  if (applied.t === 'log.recover') await store.endRestore(db, orgId)
  const checkpoint = await signCheckpoint(deps, log, root)
  await store.writeCheckpoint(db, { orgId, size: log.size + 1, note: checkpoint, at: new Date(at) })
  return { index: log.size, size: log.size + 1, transition: applied, checkpoint }
}

/** Several servers have several clocks; the log has one time that does not run backwards. */
export const leafTime = ({ now }: Pick<Deps, 'now'>, { lastAt }: Pick<store.LockedLog, 'lastAt'>): number =>
  Math.max(now().getTime(), lastAt)

/** What an act leads to by the rules; refuses what breaks them, and a leaf that the caller has no right to make. */
export async function decideAct(
  before: LogState,
  index: number,
  { docs, at, allowed }: AppendedAct & { readonly at: number },
): Promise<Transition> {
  const applied = await transition(before, index, { docs, at })
  await ensureKnownSigners(before, docs, applied)
  if (allowed && !allowed.includes(applied.t))
    throw new ApiError('invalid_document', { details: { rule: 'bad_transition', t: applied.t } })
  return applied
}

export interface GrownLog {
  readonly leaf: ReturnType<typeof leafOf>
  readonly grown: ReturnType<typeof appendLeaf>
  /** What of the state map was read, as it is after the leaf. */
  readonly map: StateMap
  readonly nodes: readonly MapNode[]
  readonly mapRoot: string
}

/** The part of the state map that these paths show, each of them proven. */
export const mapOf = ({ mapRoot }: store.LockedLog, paths: readonly MapPath[]): StateMap =>
  openPartialMap(Buffer.from(mapRoot, 'base64url'), paths.map(claimOf))

/**
 * The leaf of a transition, and what it makes of the tree and of the map. `paths` holds at least the names it changes. A map that is given
 * stands at the root of the log, and is changed.
 */
export function growLog(
  log: store.LockedLog,
  applied: Transition,
  paths: readonly MapPath[],
  at: number,
  map: StateMap = mapOf(log, paths),
): GrownLog {
  const leaf = leafOf(map, applied, at)
  const changes = applied.updates.map(({ name, state }) => ({ name, value: mapValue(state) }))
  const changed = new Set(changes.map(({ name }) => name))
  const { nodes, root } = changeNodes(
    paths.filter(({ name }) => changed.has(name)).flatMap((path) => path.nodes),
    changes,
  )
  // The leaf names the protocol's root. Rows that would give another one are a bug here, and nothing of it may be signed.
  if (!root.equals(map.root())) throw new Error('the stored map and the logged root would differ')
  const grown = appendLeaf(frontierOf(log), leafHash(leaf.bytes))
  return { leaf, grown, map, nodes, mapRoot: root.toString('base64url') }
}

/** The log as the next writer finds it. */
export const logAfter = (log: store.LockedLog, { grown, mapRoot }: GrownLog, at: number): store.LockedLog => ({
  ...log,
  size: grown.frontier.size,
  frontier: grown.frontier.hashes.map((hash) => Buffer.from(hash).toString('base64')),
  mapRoot,
  lastAt: at,
})

interface Pending {
  readonly orgId: string
  readonly log: store.LockedLog
  readonly applied: Transition
  readonly docs: readonly Envelope[]
  readonly at: number
}

async function writeLeaf(db: Db, { orgId, log, applied, docs, at }: Pending): Promise<Uint8Array> {
  const { updates } = applied
  const paths = await readPaths(
    db,
    orgId,
    updates.map(({ name }) => name),
  )
  const { leaf, grown, nodes, mapRoot } = growLog(log, applied, paths, at)
  await store.writeLeaf(db, { orgId, index: log.size, at, leaf, grown, docs, states: updates, nodes, mapRoot })
  return grown.root
}

const claimOf = ({ name, siblings, terminal, state }: MapPath) => ({
  name,
  valueHash: state === null ? null : mapValue(state),
  proof: { siblings, terminal },
})

export const frontierOf = ({ size, frontier }: store.LockedLog): Frontier => ({
  size,
  hashes: frontier.map((hash) => Buffer.from(hash, 'base64')),
})

/** Only the key clients have pinned signs, and nothing is shown of it before the transaction has committed. */
export async function signCheckpoint(
  deps: Pick<Deps, 'rootKey'>,
  log: store.LockedLog,
  root: Uint8Array,
): Promise<string> {
  if (!log.sealedKey) throw new Error('the log has no key')
  const signer = openLogKey(deps, log.sealedKey)
  if (vkeyOf(log.origin, signer) !== log.vkey) throw new Error('the key of the log is not the one it began with')
  return makeCheckpoint({ origin: log.origin, size: log.size + 1, root }, signer)
}
