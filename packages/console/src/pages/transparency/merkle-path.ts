import {
  appendLeaf,
  decodeProof,
  EMPTY_FRONTIER,
  type Frontier,
  fromBase64,
  frontierRoot,
  ProtocolError,
  toBase64url,
  verifyInclusion,
} from '@strongroom/protocol'

// The way from one leaf to the root of the log, hash by hash, as the figure shows it. Whether it holds is decided by the protocol.

export interface PathStep {
  /** On which side of the path the other hash stands. */
  readonly side: 'left' | 'right'
  /** The entries that the other hash is over: from, up to and not including. */
  readonly begin: number
  readonly end: number
}

/** The largest power of two below `length`: where RFC 6962 cuts a tree in two. */
function leftWidth(length: number): number {
  let width = 1
  while (width * 2 < length) width *= 2
  return width
}

/** From the leaf up. */
export function pathOf(index: number, size: number): readonly PathStep[] {
  const steps: PathStep[] = []
  let [begin, end] = [0, size]
  while (end - begin > 1) {
    const middle = begin + leftWidth(end - begin)
    if (index < middle) {
      steps.push({ side: 'right', begin: middle, end })
      end = middle
    } else {
      steps.push({ side: 'left', begin, end: middle })
      begin = middle
    }
  }
  return steps.reverse()
}

type Hash = ReturnType<typeof fromBase64>

/** A hash as the client gives it, in base64url. */
export const hashBytes = (text: string): Hash =>
  fromBase64(`${text.replaceAll('-', '+').replaceAll('_', '/')}${'='.repeat((4 - (text.length % 4)) % 4)}`)

/** Of a node over two: a log of two subtrees has no other root. */
const joined = (left: Uint8Array, right: Uint8Array): Hash => frontierRoot({ size: 2, hashes: [left, right] }) as Hash

export interface ProvenStep extends PathStep {
  readonly sibling: string
  /** What both make. */
  readonly hash: string
}

interface Claim {
  readonly leafHash: Hash
  readonly index: number
  readonly size: number
  /** Verified before. */
  readonly root: string
  /** As the server gave them. */
  readonly hashes: unknown
}

/** Every hash between a leaf and the verified root, recomputed here; refuses what does not lead there. */
export function prove({ leafHash, index, size, root, hashes }: Claim): readonly ProvenStep[] {
  const proof = decodeProof(hashes)
  verifyInclusion({ leafHash, index, size, proof, root: hashBytes(root) })
  let hash: Uint8Array = leafHash
  return pathOf(index, size).map((step, at) => {
    const sibling = proof[at] ?? leafHash
    hash = step.side === 'left' ? joined(sibling, hash) : joined(hash, sibling)
    return { ...step, sibling: toBase64url(sibling), hash: toBase64url(hash) }
  })
}

/** What stands left of a leaf: the complete subtrees before it, largest first, from a proof for that leaf. */
export function frontierBefore(index: number, size: number, hashes: unknown): Frontier {
  if (index === 0) return EMPTY_FRONTIER
  const proof = decodeProof(hashes)
  const left = pathOf(index, size).flatMap(({ side }, at) => (side === 'left' && proof[at] ? [proof[at]] : []))
  return { size: index, hashes: left.reverse() }
}

/** That these leaves are the last ones of the log with this root, every one of them and in this order; or a refusal. */
export function ensureLastLeaves(before: Frontier, leafHashes: readonly Hash[], root: string): void {
  let frontier = before
  for (const leaf of leafHashes) frontier = appendLeaf(frontier, leaf).frontier
  if (toBase64url(frontierRoot(frontier)) !== root)
    throw new ProtocolError('bad_inclusion', 'the entries that are served are not the log that is signed')
}
