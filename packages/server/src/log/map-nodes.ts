import { hash } from 'node:crypto'

// Section 5.2 of docs/reference/protocol.md from the side that keeps the map: every node has a row under its path, the bits from the root
// down as text. A change rewrites the nodes of its path and no others. What this computes is compared with the protocol's own
// root before it is stored.

const NO_LEAVES = Buffer.alloc(32)

export interface MapNode {
  /** The bits that lead to it, `''` for the root. */
  readonly path: string
  readonly hash: Buffer
  /** Of a leaf; it stands at the first place where its subtree holds no other. */
  readonly leaf: { readonly key: Buffer; readonly value: Buffer } | null
}

export interface MapChange {
  readonly name: string
  readonly value: Uint8Array
}

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer')

export const keyOfName = (name: string): Buffer => hash('sha256', name, 'buffer')
export const bitsOf = (key: Uint8Array): string => Array.from(key, (byte) => byte.toString(2).padStart(8, '0')).join('')

const leafNode = (path: string, key: Buffer, value: Buffer): MapNode => ({
  path,
  hash: sha256(Buffer.concat([Buffer.of(0), key, value])),
  leaf: { key, value },
})

/** The part of a map that was read, and what becomes of it. */
interface Draft {
  readonly nodes: Map<string, MapNode>
  /** Inner nodes to be hashed anew. */
  readonly stale: Set<string>
  readonly changed: Set<string>
}

function put({ nodes, changed }: Draft, node: MapNode): void {
  nodes.set(node.path, node)
  changed.add(node.path)
}

/** Two leaves that meet part at the first bit in which their keys differ; what was a leaf above becomes inner. */
function fork(draft: Draft, older: { key: Buffer; value: Buffer }, bits: string, leaf: { key: Buffer; value: Buffer }) {
  const olderBits = bitsOf(older.key)
  let shared = 0
  while (bits[shared] === olderBits[shared]) shared++
  for (let depth = 0; depth <= shared; depth++) draft.stale.add(bits.slice(0, depth))
  put(draft, leafNode(olderBits.slice(0, shared + 1), older.key, older.value))
  put(draft, leafNode(bits.slice(0, shared + 1), leaf.key, leaf.value))
}

function place(draft: Draft, { name, value }: MapChange): void {
  const leaf = { key: keyOfName(name), value: Buffer.from(value) }
  const bits = bitsOf(leaf.key)
  let depth = 0
  const isInner = (path: string): boolean => draft.stale.has(path) || draft.nodes.get(path)?.leaf === null
  while (isInner(bits.slice(0, depth))) draft.stale.add(bits.slice(0, depth++))
  const path = bits.slice(0, depth)
  const found = draft.nodes.get(path)?.leaf
  if (found && !found.key.equals(leaf.key)) fork(draft, found, bits, leaf)
  else put(draft, leafNode(path, leaf.key, leaf.value))
}

/**
 * The nodes to be stored after these changes, and the new root. `read` must hold every node on the way to each name and every
 * one beside it; a place that is in neither is empty.
 */
export function changeNodes(
  read: readonly MapNode[],
  changes: readonly MapChange[],
): { nodes: MapNode[]; root: Buffer } {
  const draft: Draft = { nodes: new Map(read.map((node) => [node.path, node])), stale: new Set(), changed: new Set() }
  for (const change of changes) place(draft, change)
  const hashAt = (path: string): Buffer => draft.nodes.get(path)?.hash ?? NO_LEAVES
  // Children before parents.
  for (const path of [...draft.stale].sort((a, b) => b.length - a.length))
    put(draft, {
      path,
      hash: sha256(Buffer.concat([Buffer.of(1), hashAt(`${path}0`), hashAt(`${path}1`)])),
      leaf: null,
    })
  return { nodes: [...draft.changed].map((path) => draft.nodes.get(path) as MapNode), root: hashAt('') }
}
