import {
  decodeProof,
  EMPTY_FRONTIER,
  frontierRoot,
  ProtocolError,
  peekCheckpoint,
  type VerifiedCheckpoint,
  verifyCheckpoint,
  verifyConsistency,
} from '@strongroom/protocol'
import type { Cosigner } from './cosigner.ts'
import type { Remembered, Seen, SeenRecord } from './record.ts'

// C2SP tlog-witness: cosigns a checkpoint if it only adds to the one cosigned before, and remembers it first.

export interface WitnessedLog {
  readonly origin: string
  /** Several while the log changes its key. */
  readonly vkeys: readonly string[]
}

export interface Submission {
  /** The size the submitter believes this witness to know. */
  readonly old: number
  /** base64 hashes. */
  readonly proof: readonly string[]
  readonly note: string
}

export type Verdict =
  | { readonly kind: 'cosigned'; readonly line: string; readonly size: number }
  /** `known`: the size to prove consistency from. */
  | { readonly kind: 'conflict'; readonly known: number }
  /** Two signed checkpoints that cannot both be true: proof that the log misbehaved. */
  | { readonly kind: 'fork'; readonly known: Seen; readonly note: string }
  | { readonly kind: 'unproven'; readonly reason: string }
  | { readonly kind: 'unknown-log' }
  | { readonly kind: 'untrusted'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }

export interface Witness {
  readonly cosigner: Cosigner
  /** What was cosigned last of a log; null if nothing was. */
  known(origin: string): Promise<Seen | null>
  submit(submission: Submission): Promise<Verdict>
}

const EMPTY_ROOT = toText(frontierRoot(EMPTY_FRONTIER))
function toText(root: Uint8Array): string {
  return Buffer.from(root).toString('base64')
}

/** C2SP: the client must not send more. */
const MAX_PROOF_LINES = 63

export interface WitnessOptions {
  readonly cosigner: Cosigner
  readonly logs: readonly WitnessedLog[]
  readonly record: SeenRecord
}

export function makeWitness({ cosigner, logs, record }: WitnessOptions): Witness {
  const byOrigin = new Map(logs.map((log) => [log.origin, log]))

  async function submit(submission: Submission): Promise<Verdict> {
    const opened = await openSubmission(byOrigin, submission)
    if ('kind' in opened) return opened
    const { checkpoint } = opened
    for (;;) {
      const before = await record.latest(checkpoint.origin)
      const refused = judge(before, submission, checkpoint)
      if (refused) return refused
      // The same checkpoint again is vouched for already; anything else is remembered before it is signed.
      const isKnown = before.seen?.size === checkpoint.size
      if (isKnown || (await record.advance(checkpoint.origin, before, seenOf(checkpoint))))
        return { kind: 'cosigned', line: await cosigner.cosign(checkpoint), size: checkpoint.size }
    }
  }

  return { cosigner, known: async (origin) => (await record.latest(origin)).seen, submit }
}

export const seenOf = ({ size, root, note }: VerifiedCheckpoint): Seen => ({ size, root: toText(root), note })

/** Everything that does not depend on what was seen before. */
async function openSubmission(
  logs: ReadonlyMap<string, WitnessedLog>,
  { old, proof, note }: Submission,
): Promise<{ checkpoint: VerifiedCheckpoint } | Verdict> {
  try {
    const claimed = peekCheckpoint(note)
    const log = logs.get(claimed.origin)
    if (!log) return { kind: 'unknown-log' }
    if (old > claimed.size || proof.length > MAX_PROOF_LINES)
      return { kind: 'malformed', reason: 'the old size is larger than the new one, or the proof is too long' }
    return { checkpoint: await verifyCheckpoint(note, { origin: log.origin, logKeys: log.vkeys }) }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const isUntrusted = error.code === 'log_key' || error.code === 'bad_signature'
    return { kind: isUntrusted ? 'untrusted' : 'malformed', reason: error.message }
  }
}

/** Undefined if the checkpoint may be cosigned. */
function judge({ seen }: Remembered, submission: Submission, checkpoint: VerifiedCheckpoint): Verdict | undefined {
  const { old, proof, note } = submission
  const known = seen?.size ?? 0
  if (old !== known) return { kind: 'conflict', known }
  const root = toText(checkpoint.root)
  if (seen && checkpoint.size === seen.size && root !== seen.root) return { kind: 'fork', known: seen, note }
  try {
    if (old > 0 && seen) {
      const fromRoot = Buffer.from(seen.root, 'base64')
      const claim = { from: old, fromRoot, to: checkpoint.size, toRoot: checkpoint.root }
      verifyConsistency({ ...claim, proof: decodeProof(proof) })
    } else if (proof.length > 0 || (checkpoint.size === 0 && root !== EMPTY_ROOT))
      return { kind: 'unproven', reason: 'nothing can be proven from the empty log' }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return { kind: 'unproven', reason: error.message }
  }
  return undefined
}
