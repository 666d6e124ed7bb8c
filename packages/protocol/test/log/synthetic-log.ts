import { utf8 } from '../../src/encoding/bytes.ts'
import { leafHash, nodeHash } from '../../src/log/merkle.ts'
import type { NodeReader } from '../../src/log/merkle-proofs.ts'

const common = leafHash(utf8('common'))
const uniform: Uint8Array[] = [common]
const uniformRoot = (level: number): Uint8Array => {
  for (let next = uniform.length; next <= level; next++) {
    const below = uniform[next - 1] as Uint8Array
    uniform.push(nodeHash(below, below))
  }
  return uniform[level] as Uint8Array
}

/** A log of any size without its leaves: all are alike except those of `rare`, so left and right still matter. */
export function syntheticLog(rare: ReadonlyMap<number, Uint8Array>): NodeReader {
  return function read(level: number, index: number): Uint8Array {
    const width = 2 ** level
    const isMixed = [...rare.keys()].some((leaf) => leaf >= index * width && leaf < (index + 1) * width)
    if (!isMixed) return uniformRoot(level)
    return level === 0
      ? (rare.get(index) as Uint8Array)
      : nodeHash(read(level - 1, 2 * index), read(level - 1, 2 * index + 1))
  }
}
