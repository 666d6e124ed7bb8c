import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, utf8 } from '../../src/encoding/bytes.ts'
import {
  decodeProof,
  EMPTY_LOG_ROOT,
  encodeProof,
  leafHash,
  nodeHash,
  verifyConsistency,
  verifyInclusion,
} from '../../src/log/merkle.ts'
import {
  appendLeaf,
  EMPTY_FRONTIER,
  type Frontier,
  frontierRoot,
  type NodeReader,
  nodesForConsistency,
  nodesForInclusion,
  proveConsistency,
  proveConsistencyFrom,
  proveInclusion,
  proveInclusionFrom,
  readFrontier,
  rootOfLeaves,
} from '../../src/log/merkle-proofs.ts'
import { refusal } from './refusal.ts'
import { syntheticLog } from './synthetic-log.ts'

// Section 5.1. Seen red: `>> 1` instead of halving (all above 2^32), the rise of a last node left out, each `ensure` of the
// two verifiers switched off alone, `begin > 0` left out of consistency proofs, 0x01 as leaf prefix, a frontier joined from
// the left.

const leaf = (index: number): Uint8Array => leafHash(utf8(`leaf ${index}`))
const leaves = Array.from({ length: 10_000 }, (_, index) => leaf(index))

/** RFC 6962 section 2.1, as the text defines it and nothing cleverer. */
function treeHead(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 0) return EMPTY_LOG_ROOT
  if (hashes.length === 1) return hashes[0] as Uint8Array
  let cut = 1
  while (cut * 2 < hashes.length) cut *= 2
  return nodeHash(treeHead(hashes.slice(0, cut)), treeHead(hashes.slice(cut)))
}

/** What a server keeps: the nodes each append completed. */
function storedLog(count: number): { read: NodeReader; roots: Uint8Array[]; frontier: Frontier } {
  const nodes = new Map<string, Uint8Array>()
  const roots: Uint8Array[] = [EMPTY_LOG_ROOT]
  let frontier = EMPTY_FRONTIER
  for (let index = 0; index < count; index++) {
    const appended = appendLeaf(frontier, leafHash(utf8(`leaf ${index}`)))
    for (const node of appended.nodes) nodes.set(`${node.level}/${node.index}`, node.hash)
    roots.push(appended.root)
    frontier = appended.frontier
  }
  const read: NodeReader = (level, index) => {
    const hash = nodes.get(`${level}/${index}`)
    if (!hash) throw new Error(`node ${level}/${index} was never stored`)
    return hash
  }
  return { read, roots, frontier }
}
const stored = storedLog(10_000)
const rootAt = (size: number): Uint8Array => stored.roots[size] as Uint8Array

const flip = (hash: Uint8Array): Uint8Array => concat(Uint8Array.of((hash[0] as number) ^ 1), hash.subarray(1))

describe('roots and appending', () => {
  it('hashes leaves and nodes with different prefixes', () => {
    expect(leafHash(new Uint8Array(0))).not.toEqual(EMPTY_LOG_ROOT)
    const pair = concat(leaf(0), leaf(1))
    expect(nodeHash(leaf(0), leaf(1))).not.toEqual(leafHash(pair))
  })

  it('gives the root of RFC 6962 for every size from 0 to 70, from leaves and from appending', () => {
    for (let size = 0; size <= 70; size++) {
      const head = treeHead(leaves.slice(0, size))
      expect(rootOfLeaves(leaves.slice(0, size))).toEqual(head)
      expect(rootAt(size)).toEqual(head)
    }
  })

  it('finds the frontier again from stored nodes, for any size', () => {
    fc.assert(
      fc.property(fc.nat(10_000), (size) => {
        const frontier = readFrontier(stored.read, size)
        expect(frontierRoot(frontier)).toEqual(rootAt(size))
        expect(frontier.hashes.length).toBe(size.toString(2).replaceAll('0', '').length)
      }),
    )
    expect(readFrontier(stored.read, 10_000)).toEqual(stored.frontier)
  })

  it('refuses to append to a frontier that lacks a hash', async () => {
    expect(await refusal(() => appendLeaf({ size: 3, hashes: [leafHash(utf8('x'))] }, leafHash(utf8('y'))))).toBe(
      'malformed',
    )
  })
})

describe('inclusion', () => {
  it('is proven for every leaf of every size up to 40, and from leaves as from stored nodes', () => {
    for (let size = 1; size <= 40; size++) {
      for (let index = 0; index < size; index++) {
        const proof = proveInclusion(leaves, index, size)
        expect(proof).toEqual(proveInclusionFrom(stored.read, index, size))
        verifyInclusion({ leafHash: leaf(index), index, size, proof, root: rootAt(size) })
      }
    }
  })

  it('holds for the right leaf, index, size, root and hashes only, in logs of up to 10 000 leaves', async () => {
    const place = fc
      .integer({ min: 2, max: 10_000 })
      .chain((size) => fc.tuple(fc.nat(size - 1), fc.constant(size), fc.nat(30)))
    await fc.assert(
      fc.asyncProperty(place, async ([index, size, choice]) => {
        const claim = {
          leafHash: leaf(index),
          index,
          size,
          proof: proveInclusionFrom(stored.read, index, size),
          root: rootAt(size),
        }
        expect(verifyInclusion(claim)).toMatchObject({ index, size })
        const at = choice % claim.proof.length
        const altered = [
          { ...claim, leafHash: flip(claim.leafHash) },
          { ...claim, root: flip(claim.root) },
          { ...claim, index: (index + 1) % size },
          { ...claim, proof: claim.proof.map((hash, i) => (i === at ? flip(hash) : hash)) },
          { ...claim, proof: claim.proof.slice(1) },
          { ...claim, proof: claim.proof.slice(0, -1) },
          { ...claim, proof: [...claim.proof, leaf(0)] },
        ]
        for (const attempt of altered) expect(await refusal(() => verifyInclusion(attempt))).toBe('bad_inclusion')
      }),
      { numRuns: 150 },
    )
  })

  it('is proven at indexes above 2^32 up to 2^53-1, and for no other index', async () => {
    const size = fc.oneof(
      fc.integer({ min: 2 ** 32 - 2, max: 2 ** 32 + 5 }),
      fc.integer({ min: 2 ** 33, max: 2 ** 53 - 1 }),
      fc.constant(2 ** 53 - 1),
    )
    const place = size.chain((size) => fc.tuple(fc.integer({ min: 0, max: size - 1 }), fc.constant(size)))
    await fc.assert(
      fc.asyncProperty(place, async ([index, size]) => {
        const read = syntheticLog(new Map([[index, leaf(0)]]))
        const root = frontierRoot(readFrontier(read, size))
        const claim = { leafHash: leaf(0), index, size, proof: proveInclusionFrom(read, index, size), root }
        verifyInclusion(claim)
        expect(await refusal(() => verifyInclusion({ ...claim, index: index === 0 ? 1 : index - 1 }))).toBe(
          'bad_inclusion',
        )
        // The index whose lower 32 bits are the same: what a verifier with 32-bit shifts would take for equal.
        const twin = index >= 2 ** 32 ? index - 2 ** 32 : index + 2 ** 32
        if (twin < size) expect(await refusal(() => verifyInclusion({ ...claim, index: twin }))).toBe('bad_inclusion')
      }),
      { numRuns: 100 },
    )
  })

  it('is refused outside of the log, in the empty log and for numbers that are no counts', async () => {
    const claim = { leafHash: leaf(0), index: 0, size: 1, proof: [], root: leaf(0) }
    verifyInclusion(claim)
    for (const [index, size] of [
      [1, 1],
      [0, 0],
      [-1, 1],
      [0.5, 1],
      [0, 2 ** 53],
      [Number.NaN, 1],
    ] as const) {
      expect(await refusal(() => verifyInclusion({ ...claim, index, size }))).toBe('bad_inclusion')
    }
  })

  it('is refused where only the length of the proof is wrong and the root was made to fit', async () => {
    const long = { leafHash: leaf(1), index: 0, size: 1, proof: [leaf(0)], root: nodeHash(leaf(0), leaf(1)) }
    expect(await refusal(() => verifyInclusion(long))).toBe('bad_inclusion')
    const short = { leafHash: leaf(0), index: 0, size: 2, proof: [], root: leaf(0) }
    expect(await refusal(() => verifyInclusion(short))).toBe('bad_inclusion')
  })

  it('is refused for hashes that are not 32 bytes long, also where they agree', async () => {
    const bare = { leafHash: new Uint8Array(0), index: 0, size: 1, proof: [], root: new Uint8Array(0) }
    expect(await refusal(() => verifyInclusion(bare))).toBe('bad_inclusion')
    // The last byte of the sibling is overwritten in the hash input, so without the check the root would fit.
    const wide = {
      leafHash: leaf(0),
      index: 1,
      size: 2,
      proof: [concat(leaf(1), leaf(2))],
      root: nodeHash(leaf(1), leaf(0)),
    }
    expect(await refusal(() => verifyInclusion(wide))).toBe('bad_inclusion')
  })

  it('has no proof for a leaf outside of the log', async () => {
    expect(await refusal(() => proveInclusion(leaves, 3, 3))).toBe('malformed')
    expect(await refusal(() => proveInclusion(leaves.slice(0, 2), 0, 3))).toBe('malformed')
  })
})

describe('consistency', () => {
  it('is proven between all sizes up to 40, and from leaves as from stored nodes', () => {
    for (let to = 1; to <= 40; to++) {
      for (let from = 1; from <= to; from++) {
        const proof = proveConsistency(leaves, from, to)
        expect(proof).toEqual(proveConsistencyFrom(stored.read, from, to))
        verifyConsistency({ from, fromRoot: rootAt(from), to, toRoot: rootAt(to), proof })
      }
    }
  })

  it('holds for the right sizes, roots and hashes only, in logs of up to 10 000 leaves', async () => {
    const sizes = fc
      .integer({ min: 2, max: 10_000 })
      .chain((to) => fc.tuple(fc.integer({ min: 1, max: to - 1 }), fc.constant(to), fc.nat(30)))
    await fc.assert(
      fc.asyncProperty(sizes, async ([from, to, choice]) => {
        const proof = proveConsistencyFrom(stored.read, from, to)
        const claim = { from, fromRoot: rootAt(from), to, toRoot: rootAt(to), proof }
        expect(verifyConsistency(claim)).toMatchObject({ from, to })
        const at = choice % proof.length
        const altered = [
          { ...claim, fromRoot: flip(claim.fromRoot) },
          { ...claim, toRoot: flip(claim.toRoot) },
          { ...claim, fromRoot: claim.toRoot, toRoot: claim.fromRoot },
          { ...claim, proof: proof.map((hash, i) => (i === at ? flip(hash) : hash)) },
          { ...claim, proof: proof.slice(1) },
          { ...claim, proof: proof.slice(0, -1) },
          { ...claim, proof: [...proof, leaf(0)] },
        ]
        for (const attempt of altered) expect(await refusal(() => verifyConsistency(attempt))).toBe('log_fork')
      }),
      { numRuns: 150 },
    )
  })

  it('is proven between sizes above 2^32 and refused if a leaf of the older log changed', async () => {
    const sizes = fc
      .integer({ min: 2 ** 32 + 1, max: 2 ** 53 - 1 })
      .chain((to) =>
        fc.tuple(fc.integer({ min: 2 ** 31, max: to - 1 }), fc.constant(to), fc.integer({ min: 0, max: 2 ** 31 - 1 })),
      )
    await fc.assert(
      fc.asyncProperty(sizes, async ([from, to, changed]) => {
        const read = syntheticLog(
          new Map([
            [from - 1, leaf(1)],
            [to - 1, leaf(2)],
          ]),
        )
        const proof = proveConsistencyFrom(read, from, to)
        const fromRoot = frontierRoot(readFrontier(read, from))
        verifyConsistency({ from, fromRoot, to, toRoot: frontierRoot(readFrontier(read, to)), proof })
        const forged = syntheticLog(
          new Map([
            [changed, leaf(0)],
            [from - 1, leaf(1)],
            [to - 1, leaf(2)],
          ]),
        )
        const toRoot = frontierRoot(readFrontier(forged, to))
        for (const attempt of [proof, proveConsistencyFrom(forged, from, to)]) {
          expect(await refusal(() => verifyConsistency({ from, fromRoot, to, toRoot, proof: attempt }))).toBe(
            'log_fork',
          )
        }
      }),
      { numRuns: 100 },
    )
  })

  it('between equal sizes needs equal roots and no hashes', async () => {
    const same = { from: 5, fromRoot: rootAt(5), to: 5, toRoot: rootAt(5), proof: [] }
    verifyConsistency(same)
    expect(await refusal(() => verifyConsistency({ ...same, toRoot: rootAt(6) }))).toBe('log_fork')
    expect(await refusal(() => verifyConsistency({ ...same, proof: [leaf(0)] }))).toBe('log_fork')
  })

  it('from size 0 is refused as saying nothing', async () => {
    const claim = { from: 0, fromRoot: EMPTY_LOG_ROOT, to: 5, toRoot: rootAt(5), proof: [] }
    expect(await refusal(() => verifyConsistency(claim))).toBe('missing_consistency')
    expect(await refusal(() => verifyConsistency({ ...claim, to: 0, toRoot: EMPTY_LOG_ROOT }))).toBe(
      'missing_consistency',
    )
    expect(await refusal(() => proveConsistency(leaves, 0, 5))).toBe('malformed')
  })

  it('with a longer log, or with no count at all, is refused', async () => {
    const proof = proveConsistency(leaves, 4, 5)
    for (const [from, to] of [
      [5, 4],
      [-1, 4],
      [4, 5.5],
      [4, 2 ** 53],
    ] as const) {
      const claim = { from, fromRoot: rootAt(4), to, toRoot: rootAt(5), proof }
      expect(await refusal(() => verifyConsistency(claim))).toBe('log_fork')
    }
    expect(await refusal(() => proveConsistency(leaves, 5, 4))).toBe('malformed')
  })

  it('is refused where only the length of the proof is wrong and the roots were made to fit', async () => {
    const [pair, third, fourth, extra] = [rootAt(2), leaf(2), leaf(3), leaf(9)] as const
    const older = nodeHash(pair, third)
    const younger = nodeHash(pair, nodeHash(third, fourth))
    const honest = { from: 3, fromRoot: older, to: 4, toRoot: younger, proof: [third, fourth, pair] }
    verifyConsistency(honest)
    const long = {
      ...honest,
      fromRoot: nodeHash(extra, older),
      toRoot: nodeHash(extra, younger),
      proof: [...honest.proof, extra],
    }
    expect(await refusal(() => verifyConsistency(long))).toBe('log_fork')
    expect(
      await refusal(() => verifyConsistency({ ...honest, from: 1, fromRoot: older, toRoot: older, proof: [] })),
    ).toBe('log_fork')
    expect(await refusal(() => verifyConsistency({ ...honest, proof: [] }))).toBe('log_fork')
  })

  it('is refused for hashes that are not 32 bytes long, even where the surplus is overwritten', async () => {
    const claim = { from: 3, fromRoot: rootAt(3), to: 4, toRoot: rootAt(4), proof: proveConsistency(leaves, 3, 4) }
    const wide = claim.proof.map((hash, i) => (i === 2 ? concat(hash, leaf(9)) : hash))
    expect(await refusal(() => verifyConsistency(claim))).toBe('accepted')
    expect(await refusal(() => verifyConsistency({ ...claim, proof: wide }))).toBe('log_fork')
  })
})

describe('what a server reads and sends', () => {
  it('names beforehand every node a proof reads, and no other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10_000 }), fc.nat(9_999), (size, choice) => {
        const reads: string[] = []
        const record: NodeReader = (level, index) => {
          reads.push(`${level}/${index}`)
          return stored.read(level, index)
        }
        const index = choice % size
        proveInclusionFrom(record, index, size)
        const from = 1 + (choice % (size - 1))
        proveConsistencyFrom(record, from, size)
        const named = [...nodesForInclusion(index, size), ...nodesForConsistency(from, size)]
        expect(reads).toEqual(named.map((node) => `${node.level}/${node.index}`))
        expect(named.length).toBeLessThan(60)
      }),
    )
  })

  it('sends proofs as base64 and reads back nothing but 64 hashes at most', async () => {
    const proof = proveInclusion(leaves, 77)
    expect(decodeProof(JSON.parse(JSON.stringify(encodeProof(proof))))).toEqual(proof)
    const [first = ''] = encodeProof(proof)
    for (const bad of [
      null,
      'x',
      [1],
      [''],
      [first.slice(0, -1)],
      [first.replace('=', '')],
      [`${first} `],
      Array(65).fill(first),
    ]) {
      expect(await refusal(() => decodeProof(bad))).toBe('malformed')
    }
  })
})
