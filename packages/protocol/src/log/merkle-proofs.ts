import type { Bytes } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import { EMPTY_LOG_ROOT, nodeHash } from './merkle.ts'

// Section 5.1, the side that holds the log: roots, proofs and appending. Verifiers need nothing from here.

/** The root over the 2^level leaves that start at leaf index·2^level; such nodes never change, so they can be stored. */
export interface NodePlace {
  readonly level: number
  readonly index: number
}
export interface StoredNode extends NodePlace {
  readonly hash: Uint8Array
}
/** Gives a stored node. A server reads the places of `nodesForInclusion` or `nodesForConsistency` beforehand, in one query. */
export type NodeReader = (level: number, index: number) => Uint8Array

/** Leaves from `begin` up to, not including, `end`. */
type Range = readonly [begin: number, end: number]

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** The largest power of two below `length`: where RFC 6962 cuts a tree in two. */
function leftWidth(length: number): number {
  let width = 1
  while (width * 2 < length) width *= 2
  return width
}

/** A range of RFC 6962 as complete subtrees, from left to right, ever smaller. */
function placesOf([begin, end]: Range): NodePlace[] {
  const places: NodePlace[] = []
  for (let at = begin; at < end; ) {
    let level = 0
    let width = 1
    for (; width * 2 <= end - at; width *= 2) level++
    places.push({ level, index: at / width })
    at += width
  }
  return places
}

const joinFromRight = (hashes: readonly Uint8Array[]): Uint8Array =>
  hashes.reduceRight((right, left) => nodeHash(left, right))

const readRange = (read: NodeReader, range: Range): Uint8Array =>
  joinFromRight(placesOf(range).map(({ level, index }) => read(level, index)))

/** RFC 6962 PATH(m, D[n]) as ranges, from the leaf up. */
function inclusionRanges(index: number, size: number): Range[] {
  ensure(isCount(size) && isCount(index) && index < size, 'malformed', 'a leaf lies outside of the log')
  const ranges: Range[] = []
  let [begin, end] = [0, size]
  while (end - begin > 1) {
    const middle = begin + leftWidth(end - begin)
    ranges.push(index < middle ? [middle, end] : [begin, middle])
    if (index < middle) end = middle
    else begin = middle
  }
  return ranges.reverse()
}

/** RFC 6962 PROOF(m, D[n]) as ranges, in the order of the proof. */
function consistencyRanges(from: number, to: number): Range[] {
  ensure(
    isCount(from) && isCount(to) && from > 0 && from <= to,
    'malformed',
    'there is no consistency proof for these sizes',
  )
  const ranges: Range[] = []
  let [begin, end] = [0, to]
  while (end > from) {
    const middle = begin + leftWidth(end - begin)
    ranges.push(from <= middle ? [middle, end] : [begin, middle])
    if (from <= middle) end = middle
    else begin = middle
  }
  // What is left is the last complete part of the older tree; a verifier knows it only if it is the whole older tree.
  if (begin > 0) ranges.push([begin, end])
  return ranges.reverse()
}

export const nodesForInclusion = (index: number, size: number): NodePlace[] =>
  inclusionRanges(index, size).flatMap(placesOf)
export const nodesForConsistency = (from: number, to: number): NodePlace[] =>
  consistencyRanges(from, to).flatMap(placesOf)

export const proveInclusionFrom = (read: NodeReader, index: number, size: number): Uint8Array[] =>
  inclusionRanges(index, size).map((range) => readRange(read, range))

/** Empty between equal sizes; refuses size 0, from which nothing can be proven. */
export const proveConsistencyFrom = (read: NodeReader, from: number, to: number): Uint8Array[] =>
  consistencyRanges(from, to).map((range) => readRange(read, range))

/** Reads nodes from leaf hashes alone, hashing each subtree anew: for tests, auditors and small logs. */
function leafReader(leafHashes: readonly Uint8Array[]): NodeReader {
  return function read(level: number, index: number): Uint8Array {
    if (level > 0) return nodeHash(read(level - 1, 2 * index), read(level - 1, 2 * index + 1))
    const leaf = leafHashes[index]
    ensure(leaf, 'malformed', 'a log has fewer leaves than a proof needs')
    return leaf
  }
}

export const rootOfLeaves = (leafHashes: readonly Uint8Array[]): Uint8Array =>
  frontierRoot(readFrontier(leafReader(leafHashes), leafHashes.length))

export const proveInclusion = (
  leafHashes: readonly Uint8Array[],
  index: number,
  size: number = leafHashes.length,
): Uint8Array[] => proveInclusionFrom(leafReader(leafHashes), index, size)

export const proveConsistency = (
  leafHashes: readonly Uint8Array[],
  from: number,
  to: number = leafHashes.length,
): Uint8Array[] => proveConsistencyFrom(leafReader(leafHashes), from, to)

/** All that appending needs: the roots of the complete subtrees of a log, largest first, one per binary one of its size. */
export interface Frontier {
  readonly size: number
  readonly hashes: readonly Uint8Array[]
}

export const EMPTY_FRONTIER: Frontier = { size: 0, hashes: [] }

export const readFrontier = (read: NodeReader, size: number): Frontier => ({
  size,
  hashes: placesOf([0, size]).map(({ level, index }) => read(level, index)),
})

export const frontierRoot = ({ hashes }: Frontier): Uint8Array =>
  hashes.length > 0 ? joinFromRight(hashes) : EMPTY_LOG_ROOT

/** Appends one leaf; `nodes` are the subtrees it completes, itself included: exactly what a server must store. */
export function appendLeaf(
  frontier: Frontier,
  leafHash: Bytes,
): { frontier: Frontier; root: Uint8Array; nodes: StoredNode[] } {
  const hashes = [...frontier.hashes]
  const nodes: StoredNode[] = []
  let hash = leafHash
  let index = frontier.size
  for (let level = 0; ; level++, index = (index - 1) / 2) {
    nodes.push({ level, index, hash })
    if (index % 2 === 0) break
    const left = hashes.pop()
    ensure(left, 'malformed', 'a frontier has fewer hashes than its size needs')
    hash = nodeHash(left, hash)
  }
  hashes.push(hash)
  const next = { size: frontier.size + 1, hashes }
  return { frontier: next, root: frontierRoot(next), nodes }
}
