import {
  appendLeaf,
  auditLeaf,
  documentsOf,
  EMPTY_FRONTIER,
  type Envelope,
  type Frontier,
  frontierRoot,
  leafHash,
  makeLedger,
  ProtocolError,
  parseLeaf,
  type TrustAnchor,
  updatesOf,
  type VerifiedCheckpoint,
  verifyCheckpoint,
} from '@strongroom/protocol'
import type { LogSource, ServedLeaf } from './log-source.ts'
import { FalseLeaf, LeavesDiffer, Unproven } from './refusals.ts'

// Section 5.5 of docs/reference/protocol.md: every leaf from the first, by the protocol's own transition function. A leaf is judged only after
// it was hashed into a checkpoint that the log signed: what the server merely says proves nothing against the log.

export interface Replay {
  /** So many leaves are replayed and found true. */
  size(): number
  root(): Uint8Array
  /**
   * Replays the leaves up to a checkpoint of the log. `passing` is told the root of each size on the way, before its leaf is
   * judged and after a signed checkpoint is known to be over it.
   */
  upTo(checkpoint: VerifiedCheckpoint, source: LogSource, passing: Passing): Promise<void>
}

export type Passing = (size: number, root: Uint8Array, checkpoint: VerifiedCheckpoint) => void

/** Documents are fetched for so many leaves together. */
const BATCH = 64

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.from(a).equals(b)

export const trustOf = ({ origin, logVkeys }: TrustAnchor) => ({ origin, logKeys: logVkeys })

interface Page {
  readonly leaves: readonly ServedLeaf[]
  /** The log after each of them. */
  readonly after: readonly Frontier[]
  readonly checkpoint: VerifiedCheckpoint
}

/** Leaves that a checkpoint signed by the log is known to be over. */
async function readPage(
  anchor: TrustAnchor,
  from: Frontier,
  target: VerifiedCheckpoint,
  source: LogSource,
): Promise<Page> {
  const leaves = await source.leaves(from.size, target.size)
  const after: Frontier[] = []
  for (const { leaf } of leaves) after.push(appendLeaf(after.at(-1) ?? from, leafHash(leaf)).frontier)
  const end = after.at(-1) as Frontier
  const checkpoint =
    end.size === target.size
      ? target
      : await verifyCheckpoint(await source.checkpointOf(end.size), trustOf(anchor)).catch(notTheLog)
  if (checkpoint.size !== end.size || !sameBytes(checkpoint.root, frontierRoot(end)))
    throw new LeavesDiffer(`the leaves ${from.size} to ${end.size - 1} that are served are not those the log signed`)
  return { leaves, after, checkpoint }
}

function notTheLog(error: unknown): never {
  throw error instanceof ProtocolError ? new Unproven(`a checkpoint is refused: ${error.code}`) : error
}

/** The documents a leaf names, or the rule it breaks by itself. A list that was not served is no fault of the leaf. */
function documentsNamedBy({ leaf: bytes, documents, updates }: ServedLeaf): readonly string[] | ProtocolError {
  try {
    const leaf = parseLeaf(bytes)
    const isWithheld = ('hash' in leaf.documents && !documents) || ('hash' in leaf.updates && !updates)
    if (isWithheld) throw new Unproven('a list that a leaf names by its hash is withheld')
    updatesOf(leaf, updates)
    return documentsOf(leaf, documents)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    if (error.code === 'bad_inclusion') throw new Unproven(error.message)
    return error
  }
}

interface Accused {
  readonly index: number
  readonly served: ServedLeaf
  readonly docs: readonly Envelope[]
  readonly checkpoint: VerifiedCheckpoint
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

function falseLeaf(
  { org }: TrustAnchor,
  { index, served, docs, checkpoint }: Accused,
  error: ProtocolError,
): FalseLeaf {
  return new FalseLeaf({
    version: 1,
    kind: 'false-leaf',
    org,
    origin: checkpoint.origin,
    leafIndex: index,
    rule: error.code,
    message: error.message,
    details: error.details,
    checkpoint: checkpoint.note,
    leaf: base64(served.leaf),
    documents: docs,
    ...(served.documents && { documentList: base64(served.documents) }),
    ...(served.updates && { updateList: base64(served.updates) }),
  })
}

export function makeReplay(anchor: TrustAnchor): Replay {
  const ledger = makeLedger(anchor.org)
  let frontier: Frontier = EMPTY_FRONTIER

  async function judge({ leaf, documents, updates }: ServedLeaf, docs: readonly Envelope[]): Promise<void> {
    const isFirst = ledger.size() === 0
    const { d } = await auditLeaf(ledger, {
      leaf,
      docs,
      ...(updates && { updates }),
      ...(documents && { documents }),
    })
    if (isFirst && d[0] !== anchor.genesis)
      throw new ProtocolError('genesis_mismatch', 'the log begins with another organisation', {})
  }

  async function replayBatch(page: Page, begin: number, source: LogSource): Promise<void> {
    const batch = page.leaves.slice(begin, begin + BATCH)
    const named = batch.map(documentsNamedBy)
    const hashes = new Set(named.flatMap((one) => (one instanceof ProtocolError ? [] : one)))
    const found = await source.documents([...hashes])
    for (const [i, served] of batch.entries()) {
      const one = named[i] as readonly string[] | ProtocolError
      const docs = one instanceof ProtocolError ? [] : one.map((hash) => found.get(hash) as Envelope)
      try {
        if (one instanceof ProtocolError) throw one
        await judge(served, docs)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        throw falseLeaf(anchor, { index: frontier.size, served, docs, checkpoint: page.checkpoint }, error)
      }
      frontier = page.after[begin + i] as Frontier
    }
  }

  return {
    size: () => frontier.size,
    root: () => frontierRoot(frontier),
    upTo: async (target, source, passing) => {
      while (frontier.size < target.size) {
        const page = await readPage(anchor, frontier, target, source)
        for (const after of page.after) passing(after.size, frontierRoot(after), page.checkpoint)
        for (let i = 0; i < page.leaves.length; i += BATCH) await replayBatch(page, i, source)
      }
    },
  }
}
