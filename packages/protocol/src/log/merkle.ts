import { platform } from '#platform'
import { fromBase64, toBase64 } from '../encoding/base64.ts'
import { type Bytes, concat, equalBytes } from '../encoding/bytes.ts'
import { list, type Shape, text } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'

// Section 5.1: RFC 6962 with SHA-256. Sizes go up to 2^53-1, so they are halved by division: shifts know 32 bits only.

const HASH_BYTES = 32
const LEAF_PREFIX = Uint8Array.of(0)

/** The root of a log without leaves. */
export const EMPTY_LOG_ROOT: Bytes = platform.sha256(new Uint8Array(0))

export const isHash = (bytes: Uint8Array): boolean => bytes.length === HASH_BYTES
const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
const half = (value: number): number => Math.floor(value / 2)
const isOdd = (value: number): boolean => value % 2 === 1

export const leafHash = (leaf: Uint8Array): Bytes => platform.sha256(concat(LEAF_PREFIX, leaf))

// One buffer for all nodes: a thousand small allocations would cost as much as the hashing. Never read between calls.
const nodeInput = new Uint8Array(1 + 2 * HASH_BYTES)
nodeInput[0] = 1

/** SHA-256(0x01 ‖ left ‖ right), of the log and of the state map alike. Both halves are 32 bytes; verifiers check that. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Bytes {
  nodeInput.set(left, 1)
  nodeInput.set(right, 1 + HASH_BYTES)
  return platform.sha256(nodeInput)
}

declare const included: unique symbol
/** A leaf that is proven to be in the log. Only `verifyInclusion` makes one. */
export interface IncludedLeaf {
  readonly [included]: true
  readonly leafHash: Uint8Array
  readonly index: number
  readonly size: number
  readonly root: Uint8Array
}

export interface InclusionClaim {
  readonly leafHash: Uint8Array
  readonly index: number
  readonly size: number
  readonly proof: readonly Uint8Array[]
  readonly root: Uint8Array
}

/** RFC 9162 section 2.1.3.2: refuses with `bad_inclusion` unless `proof` leads from the leaf at `index` to `root`. */
export function verifyInclusion({ leafHash, index, size, proof, root }: InclusionClaim): IncludedLeaf {
  ensure(isCount(index) && isCount(size) && index < size, 'bad_inclusion', 'a leaf lies outside of the log')
  ensure(
    isHash(leafHash) && isHash(root) && proof.every(isHash),
    'bad_inclusion',
    'an inclusion proof is not made of hashes',
  )
  let node = index
  let last = size - 1
  let hash = leafHash
  for (const sibling of proof) {
    ensure(last > 0, 'bad_inclusion', 'an inclusion proof is too long')
    if (isOdd(node) || node === last) {
      hash = nodeHash(sibling, hash)
      // A last node without a sibling rises unchanged to the level where it has one.
      for (; node !== 0 && !isOdd(node); node = half(node)) last = half(last)
    } else hash = nodeHash(hash, sibling)
    node = half(node)
    last = half(last)
  }
  ensure(last === 0, 'bad_inclusion', 'an inclusion proof is too short')
  ensure(equalBytes(hash, root), 'bad_inclusion', 'a leaf is not in the log', { index, size })
  return { leafHash, index, size, root } as IncludedLeaf
}

declare const consistent: unique symbol
/** Two sizes of one log, the younger of which only adds to the older. Only `verifyConsistency` makes one. */
export interface ConsistentRoots {
  readonly [consistent]: true
  readonly from: number
  readonly to: number
  readonly toRoot: Uint8Array
}

export interface ConsistencyClaim {
  readonly from: number
  readonly fromRoot: Uint8Array
  readonly to: number
  readonly toRoot: Uint8Array
  readonly proof: readonly Uint8Array[]
}

/**
 * RFC 9162 section 2.1.4.2: refuses with `log_fork` unless the log of size `to` begins with the log of size `from`.
 * From size 0 there is nothing to be consistent with: such a proof says nothing, so it is refused with
 * `missing_consistency`, and a client without memory must not ask for one.
 */
export function verifyConsistency({ from, fromRoot, to, toRoot, proof }: ConsistencyClaim): ConsistentRoots {
  ensure(isCount(from) && isCount(to) && from <= to, 'log_fork', 'a log cannot be consistent with a longer one')
  ensure(from > 0, 'missing_consistency', 'consistency with the empty log says nothing')
  if (from === to) {
    ensure(proof.length === 0, 'log_fork', 'a consistency proof between equal sizes is not empty')
    ensure(equalBytes(fromRoot, toRoot), 'log_fork', 'the log has two roots for one size', { size: to })
  } else {
    const areHashes = isHash(fromRoot) && isHash(toRoot) && proof.every(isHash)
    ensure(areHashes, 'log_fork', 'a consistency proof is not made of hashes')
    const roots = rootsOfConsistency(from, to, fromRoot, proof)
    ensure(equalBytes(roots.older, fromRoot), 'log_fork', 'the older log is not the one seen before', { from, to })
    ensure(equalBytes(roots.younger, toRoot), 'log_fork', 'the younger log does not continue the older one', {
      from,
      to,
    })
  }
  return { from, to, toRoot } as ConsistentRoots
}

function rootsOfConsistency(from: number, to: number, fromRoot: Uint8Array, proof: readonly Uint8Array[]) {
  let node = from - 1
  let last = to - 1
  for (; isOdd(node); node = half(node)) last = half(last)
  // A complete older tree is itself the first subtree, and its root is not sent. An empty proof ends as too short.
  const [seed = fromRoot, ...path] = node === 0 ? [fromRoot, ...proof] : proof
  let older = seed
  let younger = seed
  for (const sibling of path) {
    ensure(last > 0, 'log_fork', 'a consistency proof is too long')
    if (isOdd(node) || node === last) {
      older = nodeHash(sibling, older)
      younger = nodeHash(sibling, younger)
      for (; node !== 0 && !isOdd(node); node = half(node)) last = half(last)
    } else younger = nodeHash(younger, sibling)
    node = half(node)
    last = half(last)
  }
  ensure(last === 0, 'log_fork', 'a consistency proof is too short')
  return { older, younger }
}

// About 54 levels below 2^53, and one hash more where a proof of consistency starts inside.
const MAX_PROOF_HASHES = 64

/** A SHA-256 in the base64 form of sections 5.3 and 5.4. */
export const base64Hash: Shape<string> = text(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)

/** The shape of `hashes` in section 5.4. */
export const proofShape: Shape<readonly string[]> = list(base64Hash, MAX_PROOF_HASHES)

export const encodeProof = (proof: readonly Uint8Array[]): readonly string[] => proof.map(toBase64)
export const decodeProof = (candidate: unknown): readonly Bytes[] => proofShape(candidate, 'hashes').map(fromBase64)
