import { fromBase64, fromBase64url } from '../encoding/base64.ts'
import type { Json } from '../encoding/canonical.ts'
import { bool, integer, list, type Of, record, type Shape, text } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { type VerifiedCheckpoint, verifyCheckpoint } from './checkpoint.ts'
import { parseLeaf } from './leaf.ts'
import { decodeMapProof, mapProofMembers, mapValue, verifyMapProof } from './map.ts'
import { decodeProof, leafHash, proofShape, verifyConsistency, verifyInclusion } from './merkle.ts'
import { evaluateQuorum, parseWitnessPolicy } from './witness-policy.ts'

// Section 5.4: the transparency object of an answer. It proves what is current, in no round trip of its own.

const MAX_LEAF_TEXT = 87_384
const MAX_PROVEN = 20_000

const anyState: Shape<Json> = (value) => value as Json
const provenState = record({ name: text(undefined, 200), state: anyState, ...mapProofMembers })

export const transparencyShape = record(
  {
    checkpoint: text(undefined, 65_536),
    tip: record({ leaf: text(undefined, MAX_LEAF_TEXT), hashes: proofShape }),
    map: list(provenState, MAX_PROVEN),
  },
  { consistency: record({ from: integer(1), hashes: proofShape }) },
)
export type Transparency = Of<typeof transparencyShape>

/** What a client pins of a log (9.1, 9.2). */
export interface LogPin {
  readonly org: string
  readonly origin: string
  readonly logKeys: readonly string[]
  /** C2SP tlog-policy text; `NO_WITNESSES` where there are none. */
  readonly witnessPolicy: string
  /** The newest checkpoint verified so far, or the minimum a trust anchor names. */
  readonly seen: { readonly size: number; readonly root: Uint8Array } | null
  /** The newest checkpoint verified so far, where the minimum is larger: a log is only remembered if it extends both. */
  readonly behind?: LogPin['seen']
  /** The newest recovery this client knows of (9.4); absent or `''` if none. */
  readonly recovered?: string
  /** Keys seen to have ended in a part of the log that was given up since: no log says so any more. */
  readonly ended?: ReadonlyMap<string, EndedKey>
}

/** A key that a client has seen ended counts as ended from leaf `end` on, whatever a restored log says. */
export interface EndedKey {
  readonly status: 'superseded' | 'removed' | 'compromised'
  readonly end: number
}

export interface Freshness {
  readonly now: number
  readonly maxStaleMs: number
}

declare const verifiedView: unique symbol
/** The state of the log at one size, as far as the answer proved it. Only `verifyTransparency` makes one. */
export interface VerifiedView {
  readonly [verifiedView]: true
  readonly org: string
  readonly checkpoint: VerifiedCheckpoint
  /** The older checkpoint this one was proven to extend; null if there was none to hold it against. */
  readonly since: LogPin['seen']
  readonly recovered: string
  readonly ended: ReadonlyMap<string, EndedKey>
  /** False where no witness is configured: authentic, but possibly old. */
  readonly witnessed: boolean
  /** Proven states by name; null where absence is proven. */
  readonly states: ReadonlyMap<string, Json>
}

const NONE_ENDED: ReadonlyMap<string, EndedKey> = new Map()

/** The five steps of 5.4. The caller stores the checkpoint only after everything else verified as well. */
export async function verifyTransparency(candidate: unknown, pin: LogPin, freshness: Freshness): Promise<VerifiedView> {
  const transparency = transparencyShape(candidate, 'transparency')
  const { checkpoint, witnessed } = await openCheckpoint(transparency.checkpoint, pin, freshness)
  checkHistory(checkpoint, pin, transparency.consistency)
  const root = tipRoot(checkpoint, transparency.tip)
  const states = new Map<string, Json>()
  for (const { name, state, siblings, terminal } of transparency.map) {
    const value = state === null ? null : mapValue(state)
    verifyMapProof(root, name, value, decodeMapProof({ siblings, terminal }))
    states.set(name, state)
  }
  const { org, seen: since, recovered = '', ended = NONE_ENDED } = pin
  return { org, checkpoint, since, recovered, ended, witnessed, states } as unknown as VerifiedView
}

const unchangedShape = /* @__PURE__ */ record({ checkpoint: text(undefined, 65_536), unchanged: bool })

/** The answer to `Tlog-Have` when nothing was added since: the same log, with fresh cosignatures. What was verified stays so. */
export async function verifyUnchanged(
  candidate: unknown,
  pin: LogPin,
  freshness: Freshness,
): Promise<VerifiedCheckpoint> {
  const { checkpoint: note, unchanged } = unchangedShape(candidate, 'transparency')
  const { checkpoint } = await openCheckpoint(note, pin, freshness)
  ensure(
    unchanged && pin.seen?.size === checkpoint.size,
    'log_rollback',
    'the log is not as it was, and the answer says it is',
  )
  checkHistory(checkpoint, pin, undefined)
  return checkpoint
}

/** Step 1: pinned origin and log key, witness quorum, freshness. */
export async function openCheckpoint(
  note: string,
  pin: LogPin,
  { now, maxStaleMs }: Freshness,
): Promise<{ checkpoint: VerifiedCheckpoint; witnessed: boolean }> {
  const policy = parseWitnessPolicy(pin.witnessPolicy)
  const checkpoint = await verifyCheckpoint(note, { origin: pin.origin, logKeys: pin.logKeys, cosigners: policy })
  const { witnessed } = evaluateQuorum(policy, checkpoint.cosignatures, { now, maxStaleMs })
  return { checkpoint, witnessed }
}

/** Step 2: the log only grows. */
export function checkHistory(
  { size, root }: VerifiedCheckpoint,
  { seen }: LogPin,
  consistency: Transparency['consistency'],
): void {
  if (!seen || seen.size === 0) return
  ensure(size >= seen.size, 'log_rollback', 'the log is shorter than one already seen', { seen: seen.size, now: size })
  if (size > seen.size) {
    ensure(consistency?.from === seen.size, 'missing_consistency', 'the log grew without a proof that it only grew', {
      seen: seen.size,
      now: size,
    })
  }
  const proof = size === seen.size ? [] : decodeProof(consistency?.hashes)
  verifyConsistency({ from: seen.size, fromRoot: seen.root, to: size, toRoot: root, proof })
}

/** Step 3: the last leaf proves the current root of the state map. An empty log has none: leaf -1 is outside of it. */
function tipRoot({ size, root }: VerifiedCheckpoint, tip: Transparency['tip']): Uint8Array {
  const leaf = fromBase64(tip.leaf)
  verifyInclusion({ leafHash: leafHash(leaf), index: size - 1, size, proof: decodeProof(tip.hashes), root })
  return fromBase64url(parseLeaf(leaf).r)
}

/** A proven state in its shape; undefined where it was not delivered or proven absent. */
export function stateOf<T>(view: VerifiedView, name: string, shape: Shape<T>): T | undefined {
  const state = view.states.get(name)
  return state === undefined || state === null ? undefined : shape(state, name)
}
