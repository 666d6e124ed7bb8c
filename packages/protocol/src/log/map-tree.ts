import { equalBytes } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import {
  EMPTY_MAP_ROOT,
  goesRight,
  keyOf,
  type MapEntry,
  type MapName,
  type MapProof,
  mapLeaf,
  verifyMapProof,
} from './map.ts'
import { isHash, nodeHash } from './merkle.ts'

// Section 5.2, the map as a tree that changes: whole for auditors, partial for writers that hold some paths only.
// Nodes are never changed, so a change costs one path, and whoever kept an older root keeps the older map.

interface Empty {
  readonly kind: 'empty'
}
interface Leaf {
  readonly kind: 'leaf'
  readonly key: Uint8Array
  readonly valueHash: Uint8Array
  hash: Uint8Array | null
}
interface Inner {
  readonly kind: 'inner'
  readonly left: MapNode
  readonly right: MapNode
  /** Filled when it is first asked for: many changes in a row are hashed once. */
  hash: Uint8Array | null
}
/** A subtree of which only the hash is known: the sibling of a proven path. */
interface Unknown {
  readonly kind: 'unknown'
  readonly hash: Uint8Array
}
type MapNode = Empty | Leaf | Inner | Unknown

const EMPTY: Empty = { kind: 'empty' }
const makeLeafNode = (key: Uint8Array, valueHash: Uint8Array): Leaf => ({ kind: 'leaf', key, valueHash, hash: null })

function hashOf(node: MapNode): Uint8Array {
  switch (node.kind) {
    case 'empty':
      return EMPTY_MAP_ROOT
    case 'unknown':
      return node.hash
    case 'leaf':
      node.hash ??= mapLeaf(node.key, node.valueHash)
      return node.hash
    case 'inner':
      node.hash ??= nodeHash(hashOf(node.left), hashOf(node.right))
      return node.hash
  }
}

const inner = (key: Uint8Array, depth: number, onPath: MapNode, beside: MapNode): Inner =>
  goesRight(key, depth)
    ? { kind: 'inner', left: beside, right: onPath, hash: null }
    : { kind: 'inner', left: onPath, right: beside, hash: null }

const beside = (node: Inner, key: Uint8Array, depth: number): MapNode =>
  goesRight(key, depth) ? node.left : node.right
const onPath = (node: Inner, key: Uint8Array, depth: number): MapNode =>
  goesRight(key, depth) ? node.right : node.left

function place(node: MapNode, leaf: Leaf, depth: number): MapNode {
  switch (node.kind) {
    case 'empty':
      return leaf
    case 'leaf':
      return equalBytes(node.key, leaf.key) ? leaf : fork(node, leaf, depth)
    case 'inner':
      return inner(
        leaf.key,
        depth,
        place(onPath(node, leaf.key, depth), leaf, depth + 1),
        beside(node, leaf.key, depth),
      )
    case 'unknown':
      ensure(false, 'bad_map_proof', 'a change lies outside of what was proven of the state map')
  }
}

/** Two leaves that meet: empty neighbours down to the first bit in which their keys differ. */
function fork(older: Leaf, leaf: Leaf, depth: number): Inner {
  const apart = goesRight(older.key, depth) !== goesRight(leaf.key, depth)
  return apart ? inner(leaf.key, depth, leaf, older) : inner(leaf.key, depth, fork(older, leaf, depth + 1), EMPTY)
}

const known = (hash: Uint8Array): MapNode => (equalBytes(hash, EMPTY_MAP_ROOT) ? EMPTY : { kind: 'unknown', hash })

/** Replaces what is unknown along a verified path. What is known stays: two verified paths of one root never disagree. */
function graft(node: MapNode, key: Uint8Array, proof: MapProof, depth: number): MapNode {
  const { siblings, terminal } = proof
  const rest = (next: MapNode): MapNode => graft(next, key, proof, depth + 1)
  if (node.kind === 'inner' && depth < siblings.length)
    return inner(key, depth, rest(onPath(node, key, depth)), beside(node, key, depth))
  if (node.kind !== 'unknown') return node
  if (depth < siblings.length) return inner(key, depth, rest(node), known(siblings[depth] as Uint8Array))
  return terminal ? makeLeafNode(...terminal) : EMPTY
}

/** Walks the path of a key to its end, past the nodes beside it. */
function walk(root: MapNode, key: Uint8Array): { neighbours: MapNode[]; end: Empty | Leaf } {
  const neighbours: MapNode[] = []
  let node = root
  for (let depth = 0; node.kind === 'inner'; depth++) {
    neighbours.push(beside(node, key, depth))
    node = onPath(node, key, depth)
  }
  ensure(node.kind !== 'unknown', 'bad_map_proof', 'a name lies outside of what was proven of the state map')
  return { neighbours, end: node }
}

/** A map that changes. There is no removal: what ends gets a tombstone as its state. */
export interface StateMap {
  /** The hash of the state under `name`, `null` for none. */
  get(name: MapName): Uint8Array | null
  set(name: MapName, valueHash: Uint8Array): void
  root(): Uint8Array
  prove(name: MapName): MapProof
  /** The same map, to be changed on its own; what both have in common is held and hashed once. */
  fork(): StateMap
}

function mapOver(start: MapNode): StateMap {
  let root = start
  return {
    get: (name) => {
      const key = keyOf(name)
      const { end } = walk(root, key)
      return end.kind === 'leaf' && equalBytes(end.key, key) ? end.valueHash : null
    },
    set: (name, valueHash) => {
      const key = keyOf(name)
      ensure(isHash(key) && isHash(valueHash), 'malformed', 'a map entry is not made of hashes')
      root = place(root, makeLeafNode(key, valueHash), 0)
    },
    root: () => hashOf(root),
    fork: () => mapOver(root),
    prove: (name) => {
      const { neighbours, end } = walk(root, keyOf(name))
      return { siblings: neighbours.map(hashOf), terminal: end.kind === 'leaf' ? [end.key, end.valueHash] : null }
    },
  }
}

/** The whole map in memory: a change costs the hashes of one path. */
export function makeMap(entries: Iterable<MapEntry> = []): StateMap {
  const map = mapOver(EMPTY)
  for (const [name, valueHash] of entries) map.set(name, valueHash)
  return map
}

export interface MapClaim {
  readonly name: MapName
  /** What the map holds under the name, `null` for nothing. */
  readonly valueHash: Uint8Array | null
  readonly proof: MapProof
}

/**
 * The part of a map that verified proofs show: enough to compute the root after many changes without holding the map.
 * Refuses a proof that fails, and any name that no proof reached, with `bad_map_proof`.
 */
export function openPartialMap(root: Uint8Array, claims: Iterable<MapClaim>): StateMap {
  let node = known(root)
  for (const { name, valueHash, proof } of claims) {
    verifyMapProof(root, name, valueHash, proof)
    node = graft(node, keyOf(name), proof, 0)
  }
  return mapOver(node)
}
