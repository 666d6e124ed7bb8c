import fc from 'fast-check'
import { type Bytes, concat } from '../../src/encoding/bytes.ts'
import { platform as node } from '../../src/platform/node.ts'
import { platform as web } from '../../src/platform/web.ts'

// The two platforms, both of which run in Node, and inputs for them.

export const BOTH = [
  ['Node to web', node, web],
  ['web to Node', web, node],
] as const

export const bytes: fc.Arbitrary<Bytes> = fc.uint8Array({ maxLength: 200 })

export const flipped = (one: Uint8Array, at: number): Bytes => {
  const copy = concat(one)
  if (copy.length > 0) copy[at % copy.length] = (copy[at % copy.length] as number) ^ (1 << (at & 7))
  return copy
}

/** The same bytes inside a larger buffer, as parsers hand them on. */
export const inside = (one: Uint8Array): Uint8Array => concat(Uint8Array.of(9), one, Uint8Array.of(9)).subarray(1, -1)
