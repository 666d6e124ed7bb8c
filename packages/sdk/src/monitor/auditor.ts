import {
  ProtocolError,
  parseTrustAnchor,
  type TrustAnchor,
  type VerifiedCheckpoint,
  verifyCheckpoint,
} from '@strongroom/protocol'
import type { Cosigner } from './cosigner.ts'
import type { LogSource } from './log-source.ts'
import type { SeenRecord } from './record.ts'
import { Contradiction, FalseLeaf, keepRefusal, LeavesDiffer, refusalIn, Unproven } from './refusals.ts'
import { makeReplay, type Replay, trustOf } from './replay.ts'
import { seenOf } from './witness.ts'

// A cosigner that has replayed every leaf itself. It keeps the checkpoint it vouched for last; after a restart it replays from the
// first leaf and must come by that checkpoint again, so nothing a server says about the past is taken on trust.

export interface Cosigned {
  readonly size: number
  readonly line: string
}

export interface Auditor {
  readonly cosigner: Cosigner
  /**
   * Replays what is new and cosigns the newest checkpoint. Refuses a false leaf with `FalseLeaf`, now and ever after; a log that
   * is not the one vouched for with `Contradiction`; what it cannot decide with `Unproven`.
   */
  look(source: LogSource): Promise<Cosigned>
}

export interface AuditorOptions {
  readonly cosigner: Cosigner
  /** A trust anchor (9.2): the organisation, its genesis, the keys of its log, and the least it must have. */
  readonly anchor: string
  readonly record: SeenRecord
  /** Where the evidence against the log is kept. */
  readonly directory: string
}

interface Known {
  readonly size: number
  readonly root: string
  readonly note: string
}

/** What was vouched for, and what the anchor says, as far as they are not passed yet. */
async function knownOf(record: SeenRecord, { origin, minimum }: TrustAnchor): Promise<readonly Known[]> {
  const { seen } = await record.latest(origin)
  const root = minimum && Buffer.from(minimum.root, 'base64url').toString('base64')
  const least = minimum && root ? [{ size: minimum.size, root, note: `${origin}\n${minimum.size}\n${root}\n` }] : []
  return [...(seen ? [seen] : []), ...least]
}

type Code = 'log_fork' | 'log_rollback'

const contradiction = (code: Code, known: Known, { origin, size, note }: VerifiedCheckpoint): Contradiction =>
  new Contradiction({
    version: 1,
    kind: 'contradiction',
    code,
    origin,
    message: `the log of size ${known.size} was another one than the log of size ${size} contains`,
    known: known.note,
    served: note,
  })

const textOf = (root: Uint8Array): string => Buffer.from(root).toString('base64')

async function openNewest(anchor: TrustAnchor, source: LogSource): Promise<VerifiedCheckpoint> {
  try {
    return await verifyCheckpoint(await source.newest(), trustOf(anchor))
  } catch (error) {
    throw error instanceof ProtocolError ? new Unproven(`the checkpoint is refused: ${error.code}`) : error
  }
}

async function catchUp(replay: Replay, checkpoint: VerifiedCheckpoint, known: readonly Known[], source: LogSource) {
  const check = (size: number, root: Uint8Array, signed: VerifiedCheckpoint): void => {
    for (const one of known)
      if (one.size === size && one.root !== textOf(root)) throw contradiction('log_fork', one, signed)
  }
  for (const one of known) if (checkpoint.size < one.size) throw contradiction('log_rollback', one, checkpoint)
  if (checkpoint.size < replay.size()) throw new Unproven('an older checkpoint was served than the one before')
  await replay.upTo(checkpoint, source, check)
  check(checkpoint.size, checkpoint.root, checkpoint)
}

export function makeAuditor({ cosigner, anchor: anchorText, record, directory }: AuditorOptions): Auditor {
  const anchor = parseTrustAnchor(anchorText)
  let replay = makeReplay(anchor)

  async function look(source: LogSource): Promise<Cosigned> {
    const refused = await refusalIn(directory)
    if (refused) throw new AlreadyRefused(refused)
    const checkpoint = await openNewest(anchor, source)
    const known = await knownOf(record, anchor)
    // A recovery was accepted: what was replayed beyond it is gone.
    if (((await record.latest(anchor.origin)).seen?.size ?? 0) < replay.size()) replay = makeReplay(anchor)
    await catchUp(replay, checkpoint, known, source).catch((error: unknown) => {
      if (!(error instanceof LeavesDiffer) || replay.size() === 0) throw error
      // Where another history begins is seen from the first leaf only.
      replay = makeReplay(anchor)
      return catchUp(replay, checkpoint, known, source)
    })
    if (textOf(replay.root()) !== textOf(checkpoint.root))
      throw new Unproven('the checkpoint is not over the leaves that were served')
    const before = await record.latest(checkpoint.origin)
    const isNew = !before.seen || before.seen.size < checkpoint.size
    if (isNew && !(await record.advance(checkpoint.origin, before, seenOf(checkpoint))))
      throw new Unproven('another process of this auditor went on meanwhile')
    const isSame = isNew || (before.seen?.size === checkpoint.size && before.seen.root === textOf(checkpoint.root))
    if (!isSame) throw new Unproven('another process of this auditor has seen more')
    return { size: checkpoint.size, line: await cosigner.cosign(checkpoint) }
  }

  return {
    cosigner,
    look: async (source) => {
      try {
        return await look(source)
      } catch (error) {
        // On the disk before anybody hears of it: a restart must not forget.
        if (error instanceof FalseLeaf) await keepRefusal(directory, error.evidence)
        throw error
      }
    },
  }
}

/** A false leaf was found before. */
export class AlreadyRefused extends Error {
  override name = 'AlreadyRefused'
  constructor({ path, leafIndex, rule }: { path: string; leafIndex: unknown; rule: unknown }) {
    super(
      `leaf ${String(leafIndex)} broke the rule ${String(rule)}; nothing of this log is cosigned any more (${path})`,
    )
  }
}
