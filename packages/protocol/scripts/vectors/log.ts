import type { ProtocolErrorCode } from '../../src/errors.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { base64, consistencyPath, hex, inclusionPath, type Log, logLeaf, treeHash, utf8 } from './reference.ts'

// Section 5.1: inclusion and consistency, in small logs and in such as no machine holds.

const leafOf = (index: number): Buffer => logLeaf(utf8(`leaf ${index}`))
const SIZES = Array.from({ length: 70 }, (_, i) => i + 1)
const small: Log = { common: Buffer.alloc(32), leaves: new Map(SIZES.map((size) => [size - 1, leafOf(size - 1)])) }

const root = (log: Log, size: number): string => hex(treeHash(log, 0, size))
const inclusionOf = (log: Log, index: number, size: number) => ({
  index,
  size,
  leafHash: hex(log.leaves.get(index) ?? log.common),
  root: root(log, size),
  hashes: inclusionPath(log, index, 0, size).map(base64),
})
const consistencyOf = (log: Log, from: number, to: number) => ({
  from,
  to,
  fromRoot: root(log, from),
  toRoot: root(log, to),
  hashes: consistencyPath(log, from, 0, to).map(base64),
})

const different = (numbers: readonly number[]): number[] => [...new Set(numbers)].sort((a, b) => a - b)

const rootCases = (): VectorCase[] =>
  [0, ...SIZES].map((size) => accepts('root', `size ${size}`, { leaves: size }, { root: root(small, size) }))

const smallInclusions = (): VectorCase[] =>
  SIZES.flatMap((size) =>
    different([0, size >> 1, size - 1]).map((index) =>
      accepts('inclusion', `leaf ${index} of ${size}`, inclusionOf(small, index, size), {}),
    ),
  )

const smallConsistencies = (): VectorCase[] =>
  SIZES.flatMap((to) => {
    const power = 2 ** (31 - Math.clz32(to))
    return different([1, to >> 1, power, to - 1, to])
      .filter((from) => from > 0)
      .map((from) => accepts('consistency', `${from} to ${to}`, consistencyOf(small, from, to), {}))
  })

/** All leaves alike but one: the index decides about left and right, also where it does not fit into 16 or 32 bits. */
function largeCases(): VectorCase[] {
  const indexes: readonly (readonly [number, number])[] = [
    [65_535, 65_537],
    [65_536, 65_537],
    [65_536, 100_000],
    [2 ** 31, 2 ** 31 + 5],
    [2 ** 32 - 1, 2 ** 32],
    [2 ** 32, 2 ** 32 + 1],
    [2 ** 32 + 65_536, 2 ** 33 + 3],
    [2 ** 40 + 12_345, 2 ** 52 + 99],
    [2 ** 53 - 2, 2 ** 53 - 1],
  ]
  return indexes.flatMap(([index, size]) => {
    const log: Log = { common: logLeaf(utf8('common')), leaves: new Map([[index, logLeaf(utf8('rare'))]]) }
    const claim = inclusionOf(log, index, size)
    const from = index === size - 1 ? index : index + 1
    return [
      accepts('inclusion', `leaf ${index} of ${size}`, claim, {}),
      refuses('inclusion', `leaf ${index} of ${size}, offered as leaf ${index - 1}`, 'bad_inclusion', {
        ...claim,
        index: index - 1,
      }),
      accepts('consistency', `${from} to ${size}, leaf ${index} being another`, consistencyOf(log, from, size), {}),
    ]
  })
}

const wrapped = 2 ** 32
const flipped = (text: string): string => {
  const bytes = Buffer.from(text, 'base64')
  bytes[0] = (bytes[0] as number) ^ 1
  return base64(bytes)
}
const OTHER = hex(logLeaf(utf8('other')))

/** Every way to spoil a list of hashes. */
const spoiled = (hashes: readonly string[]): readonly (readonly [string, readonly string[]])[] => [
  ...hashes.map((hash, i) => [`hash ${i} changed`, hashes.with(i, flipped(hash))] as const),
  ...hashes.map((_, i) => [`hash ${i} left out`, hashes.toSpliced(i, 1)] as const),
  ['a hash added in front', [base64(Buffer.from(OTHER, 'hex')), ...hashes]],
  ['a hash added at the end', [...hashes, base64(Buffer.from(OTHER, 'hex'))]],
  ['no hashes', []],
]

function refusedInclusions(): VectorCase[] {
  const claim = inclusionOf(small, 37, 70)
  const no = (name: string, change: object, code: ProtocolErrorCode = 'bad_inclusion'): VectorCase =>
    refuses('inclusion', `37 of 70, ${name}`, code, { ...claim, ...change })
  return [
    ...spoiled(claim.hashes).map(([name, hashes]) => no(name, { hashes })),
    no('another leaf', { leafHash: OTHER }),
    no('another root', { root: OTHER }),
    no('another index', { index: 36 }),
    no('an index 2^32 higher', { index: 37 + wrapped }),
    no('a size 2^32 larger', { size: 70 + wrapped }),
    no('a larger size', { size: 129 }),
    no('an index outside of the log', { index: 70 }),
    no('an empty log', { size: 0, index: 0 }),
    no('a negative index', { index: -1 }),
    no('an index that is no integer', { index: 37.5 }),
    no('a leaf hash of 31 bytes', { leafHash: OTHER.slice(2) }),
    no('a proof of text that is no base64', { hashes: ['!'] }, 'malformed'),
    no('a hash of 31 bytes in the proof', { hashes: [base64(Buffer.alloc(31))] }, 'malformed'),
    no('65 hashes', { hashes: Array.from({ length: 65 }, () => base64(Buffer.alloc(32))) }, 'malformed'),
  ]
}

function refusedConsistencies(): VectorCase[] {
  const claim = consistencyOf(small, 37, 70)
  const no = (name: string, change: object, code: ProtocolErrorCode = 'log_fork'): VectorCase =>
    refuses('consistency', `37 to 70, ${name}`, code, { ...claim, ...change })
  return [
    ...spoiled(claim.hashes).map(([name, hashes]) => no(name, { hashes })),
    no('another older root', { fromRoot: OTHER }),
    no('another younger root', { toRoot: OTHER }),
    no('another older size', { from: 38 }),
    no('from size 0', { from: 0 }, 'missing_consistency'),
    no('from size 0 without hashes', { from: 0, hashes: [] }, 'missing_consistency'),
    no('a larger size than it ends in', { from: 71 }),
    no('equal sizes and two roots', { from: 70, hashes: [] }),
    no('equal sizes and hashes', { from: 70, fromRoot: claim.toRoot }),
    no('a younger size 2^32 larger', { to: 70 + wrapped }),
  ]
}

export const makeLog = (): VectorFile => ({
  vectors: 'log',
  section: '5.1',
  comment:
    'RFC 6962 with SHA-256. In roots and small logs the data of leaf i is the text "leaf i". In large ones all leaves are alike but one.',
  cases: [
    ...rootCases(),
    ...smallInclusions(),
    ...smallConsistencies(),
    ...largeCases(),
    ...refusedInclusions(),
    ...refusedConsistencies(),
  ],
})
