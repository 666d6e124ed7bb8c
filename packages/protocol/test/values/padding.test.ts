// Seen red: the next power of two in place of Padmé; the type left out of the length; unpad without the marker, without the
// bucket, or without the type check.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bucket, pad, unpad, type ValueType } from '../../src/values/padding.ts'
import { codeOf } from '../encoding/refused.ts'

it.each([
  [0, 64],
  [62, 64],
  [63, 128],
  [126, 128],
  [127, 192],
  [1022, 1024],
  [1023, 1088],
  [2000, 2048],
  [5000, 5120],
  [65_536, 67_584],
])('pads a value of %i bytes to %i (the table of section 2.4)', (length, padded) => {
  expect(bucket(length + 2)).toBe(padded)
  expect(pad(0, new Uint8Array(length)).length).toBe(padded)
})

it('never shrinks, is steady and idempotent, and wastes at most 12 % above 1 KiB', () => {
  let before = 0
  for (let length = 0; length <= 70_000; length++) {
    const padded = bucket(length)
    if (padded < length || padded < before || bucket(padded) !== padded) expect.fail(`bucket(${length}) = ${padded}`)
    if (length > 1024 && padded > length * 1.12) expect.fail(`bucket(${length}) wastes ${padded - length}`)
    before = padded
  }
  expect(before).toBe(bucket(70_000))
})

it('has few buckets: a ciphertext tells little about the length of its value', () => {
  const buckets = new Set(Array.from({ length: 65_537 }, (_, length) => bucket(length + 2)))
  expect([...buckets].filter((one) => one <= 1024).length).toBe(16)
  expect(buckets.size).toBeLessThan(120)
})

const value = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.uint8Array({ minLength: 1000, maxLength: 1100 }),
  // What looks like padding is part of the value all the same.
  fc.array(fc.constantFrom(0, 0x80), { maxLength: 200 }).map((bytes) => Uint8Array.from(bytes)),
)
const type = fc.constantFrom<ValueType>(0, 1, 2)

it('gives back exactly what was padded, also if it ends like padding', () => {
  fc.assert(
    fc.property(type, value, (one, bytes) => {
      expect(unpad(pad(one, bytes))).toEqual({ type: one, value: bytes })
    }),
    { numRuns: 500 },
  )
})

it('accepts one padding for one value: every flipped bit is refused or gives another value', () => {
  fc.assert(
    fc.property(type, value, fc.nat(), (one, bytes, place) => {
      const padded = pad(one, bytes)
      const bit = place % (padded.length * 8)
      padded[bit >> 3] = (padded[bit >> 3] as number) ^ (1 << (bit & 7))
      const code = codeOf(() => expect(unpad(padded)).not.toEqual({ type: one, value: bytes }))
      expect(['accepted', 'padding']).toContain(code)
    }),
    { numRuns: 1000 },
  )
})

const padded = (length: number, change: (bytes: Uint8Array) => void): Uint8Array => {
  const bytes = new Uint8Array(length)
  change(bytes)
  return bytes
}

it.each([
  ['nothing', new Uint8Array(0)],
  ['one byte', Uint8Array.of(0x80)],
  ['no marker', new Uint8Array(64)],
  ['a marker in place of the type', padded(64, (bytes) => bytes.set([0x80]))],
  ['another byte than the marker at the end', padded(64, (bytes) => bytes.set([1, 65, 0x81]))],
  ['the next larger bucket', padded(128, (bytes) => bytes.set([1, 65, 0x80]))],
  ['no bucket', padded(65, (bytes) => bytes.set([1, 65, 0x80]))],
  ['too few zeros', pad(1, Uint8Array.of(65)).subarray(0, 63)],
  ['type 3', padded(64, (bytes) => bytes.set([3, 65, 0x80]))],
  ['type 255', padded(64, (bytes) => bytes.set([255, 65, 0x80]))],
])('refuses %s', (_, bytes) => {
  expect(codeOf(() => unpad(bytes))).toBe('padding')
})
