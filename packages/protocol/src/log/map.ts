import { platform } from '#platform'
import { fromBase64, toBase64 } from '../encoding/base64.ts'
import { type Bytes, equalBytes } from '../encoding/bytes.ts'
import { canonicalText } from '../encoding/canonical.ts'
import { list, nullable, record, type Shape } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { base64Hash, isHash, nodeHash } from './merkle.ts'

// Section 5.2: the compressed sparse Merkle map, byte-compatible with the SmtSpec of ICS-23.
// A subtree without leaves is 32 zero bytes, a subtree with one leaf is that leaf, any other is the hash of its halves.

export const KEY_BITS = 256
const ROW_BYTES = 65

/** The root of a map without entries, and every empty subtree of any map. */
export const EMPTY_MAP_ROOT: Bytes = new Uint8Array(32)

/** A place in the map: a name, or the 32-byte key a name hashes to. */
export type MapName = string | Uint8Array
export type MapEntry = readonly [name: MapName, valueHash: Uint8Array]

export const mapKey = (name: string): Bytes => platform.sha256OfText(name)
export const mapValue = (state: unknown): Bytes => platform.sha256OfText(canonicalText(state))
export const keyOf = (name: MapName): Uint8Array => (typeof name === 'string' ? mapKey(name) : name)

/** Bit `depth` of a key, the most significant first: false goes left. */
export const goesRight = (key: Uint8Array, depth: number): boolean =>
  ((key[depth >> 3] as number) & (0x80 >> (depth & 7))) !== 0

const leafInput = new Uint8Array(ROW_BYTES)
export function mapLeaf(key: Uint8Array, valueHash: Uint8Array): Bytes {
  leafInput.set(key, 1)
  leafInput.set(valueHash, 33)
  return platform.sha256(leafInput)
}

/** All rows as 0x00 ‖ key ‖ value in one buffer, and an order of them that is sorted bit by bit while the tree is walked. */
interface Rows {
  readonly cells: Bytes
  readonly order: Uint32Array
}

function collect(entries: Iterable<MapEntry>): Rows {
  const all = Array.isArray(entries) ? (entries as readonly MapEntry[]) : [...entries]
  const cells = new Uint8Array(all.length * ROW_BYTES)
  const order = new Uint32Array(all.length)
  for (let i = 0; i < all.length; i++) {
    const [name, valueHash] = all[i] as MapEntry
    const key = keyOf(name)
    ensure(isHash(key) && isHash(valueHash), 'malformed', 'a map entry is not made of hashes')
    cells.set(key, i * ROW_BYTES + 1)
    cells.set(valueHash, i * ROW_BYTES + 33)
    order[i] = i
  }
  return { cells, order }
}

/** Moves the rows of [begin, end) that go left at `depth` before those that go right; gives the border. */
function split({ cells, order }: Rows, begin: number, end: number, depth: number): number {
  ensure(depth < KEY_BITS, 'malformed', 'a name occurs twice in a map')
  const byte = 1 + (depth >> 3)
  const mask = 0x80 >> (depth & 7)
  let left = begin
  let right = end
  while (left < right) {
    const row = order[left] as number
    if (((cells[row * ROW_BYTES + byte] as number) & mask) === 0) left++
    else {
      order[left] = order[--right] as number
      order[right] = row
    }
  }
  return left
}

function subtreeRoot(rows: Rows, begin: number, end: number, depth: number): Bytes {
  if (begin === end) return EMPTY_MAP_ROOT
  if (end - begin === 1) {
    const start = (rows.order[begin] as number) * ROW_BYTES
    return platform.sha256(rows.cells.subarray(start, start + ROW_BYTES))
  }
  const border = split(rows, begin, end, depth)
  return nodeHash(subtreeRoot(rows, begin, border, depth + 1), subtreeRoot(rows, border, end, depth + 1))
}

/** The root over all entries, whatever their order; refuses a name that occurs twice. */
export function mapRoot(entries: Iterable<MapEntry>): Bytes {
  const rows = collect(entries)
  return subtreeRoot(rows, 0, rows.order.length, 0)
}

export interface MapProof {
  /** From the root down. */
  readonly siblings: readonly Uint8Array[]
  /** The leaf found at the end of the path: the wanted one, another one, or none. */
  readonly terminal: readonly [key: Uint8Array, valueHash: Uint8Array] | null
}

/** Proves what the map holds under `name`, or that it holds nothing there. */
export function proveMap(entries: Iterable<MapEntry>, name: MapName): MapProof {
  const rows = collect(entries)
  const key = keyOf(name)
  const siblings: Bytes[] = []
  let [begin, end] = [0, rows.order.length]
  for (let depth = 0; end - begin > 1; depth++) {
    const border = split(rows, begin, end, depth)
    if (goesRight(key, depth)) {
      siblings.push(subtreeRoot(rows, begin, border, depth + 1))
      begin = border
    } else {
      siblings.push(subtreeRoot(rows, border, end, depth + 1))
      end = border
    }
  }
  if (begin === end) return { siblings, terminal: null }
  const start = (rows.order[begin] as number) * ROW_BYTES
  return {
    siblings,
    terminal: [rows.cells.slice(start + 1, start + 33), rows.cells.slice(start + 33, start + ROW_BYTES)],
  }
}

/** How many leading bits two keys share. */
export function sharedBits(a: Uint8Array, b: Uint8Array): number {
  let depth = 0
  while (depth < KEY_BITS && goesRight(a, depth) === goesRight(b, depth)) depth++
  return depth
}

/** The root of a path: `node` at its end, `siblings` beside it. */
function rootOfPath(key: Uint8Array, siblings: readonly Uint8Array[], node: Uint8Array): Uint8Array {
  let hash = node
  for (let depth = siblings.length - 1; depth >= 0; depth--) {
    const sibling = siblings[depth] as Uint8Array
    hash = goesRight(key, depth) ? nodeHash(sibling, hash) : nodeHash(hash, sibling)
  }
  return hash
}

declare const proven: unique symbol
/** What a map holds under a name, `null` for nothing. Only `verifyMapProof` makes one. */
export interface ProvenEntry {
  readonly [proven]: true
  readonly name: MapName
  readonly valueHash: Uint8Array | null
}

/** Refuses with `bad_map_proof` unless the map of this root holds exactly `valueHash` under `name`, or nothing for `null`. */
export function verifyMapProof(
  root: Uint8Array,
  name: MapName,
  valueHash: Uint8Array | null,
  proof: MapProof,
): ProvenEntry {
  const key = keyOf(name)
  const { siblings, terminal } = proof
  ensure(siblings.length <= KEY_BITS, 'bad_map_proof', 'a map proof is longer than a key')
  ensure(
    siblings.every(isHash) && (terminal === null || terminal.every(isHash)),
    'bad_map_proof',
    'a map proof is not made of hashes',
  )
  if (valueHash) {
    ensure(terminal && equalBytes(terminal[0], key), 'bad_map_proof', 'a state is not in the state map')
    ensure(equalBytes(terminal[1], valueHash), 'bad_map_proof', 'a state is not the one in the state map')
  } else if (terminal) {
    ensure(!equalBytes(terminal[0], key), 'bad_map_proof', 'a state that must not exist is in the state map')
    ensure(
      sharedBits(terminal[0], key) >= siblings.length,
      'bad_map_proof',
      'a leaf stands where its key does not lead',
    )
  }
  const node = terminal ? mapLeaf(...terminal) : EMPTY_MAP_ROOT
  ensure(equalBytes(rootOfPath(key, siblings, node), root), 'bad_map_proof', 'a map proof does not lead to the root')
  return { name, valueHash } as ProvenEntry
}

/** The root after one change, from the path alone: the same path with the new leaf, or a split where another leaf was found. */
export function updateMapRoot(
  root: Uint8Array,
  name: MapName,
  oldValueHash: Uint8Array | null,
  newValueHash: Uint8Array,
  proof: MapProof,
): Uint8Array {
  verifyMapProof(root, name, oldValueHash, proof)
  const key = keyOf(name)
  const leaf = mapLeaf(key, newValueHash)
  const { siblings, terminal } = proof
  if (oldValueHash !== null || terminal === null) return rootOfPath(key, siblings, leaf)
  const empty = new Array<Bytes>(sharedBits(terminal[0], key) - siblings.length).fill(EMPTY_MAP_ROOT)
  return rootOfPath(key, [...siblings, ...empty, mapLeaf(...terminal)], leaf)
}

const terminalShape: Shape<readonly [string, string]> = (value, path) => {
  const pair = list(base64Hash, 2)(value, path)
  ensure(pair.length === 2, 'malformed', `${path} is not a key and a value`)
  return pair as readonly [string, string]
}

/** The members of a map proof in section 5.4, for records that carry more than the proof. */
export const mapProofMembers: {
  readonly siblings: Shape<readonly string[]>
  readonly terminal: Shape<readonly [string, string] | null>
} = {
  siblings: list(base64Hash, KEY_BITS),
  terminal: nullable(terminalShape),
}
const mapProofShape = record(mapProofMembers)

export interface MapProofText {
  readonly siblings: readonly string[]
  readonly terminal: readonly [string, string] | null
}

export const encodeMapProof = ({ siblings, terminal }: MapProof): MapProofText => ({
  siblings: siblings.map(toBase64),
  terminal: terminal && [toBase64(terminal[0]), toBase64(terminal[1])],
})

/** Strict: exactly the two members. A record that carries more gives them here alone. */
export function decodeMapProof(candidate: unknown): MapProof {
  const { siblings, terminal } = mapProofShape(candidate, 'proof')
  return {
    siblings: siblings.map(fromBase64),
    terminal: terminal && [fromBase64(terminal[0]), fromBase64(terminal[1])],
  }
}
