// Seen red: u64be with `>>> 32` for the high word, or without its range check; readU32be without the view's
// offset; fromHex with parseInt alone; decodeUtf8 not fatal, or with the byte order mark taken away; equalBytes by prefix.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  compareText,
  concat,
  decodeUtf8,
  equalBytes,
  fromHex,
  readU32be,
  toHex,
  u32be,
  u64be,
  utf8,
} from '../../src/encoding/bytes.ts'
import { codeOf } from './refused.ts'

const bytes = fc.uint8Array({ maxLength: 100 })

it.each([
  [0, '0000000000000000'],
  [0xffff_ffff, '00000000ffffffff'],
  [0x1_0000_0000, '0000000100000000'],
  [0x1_0000_0005, '0000000100000005'],
  [0x12_3456_789a_bcde, '00123456789abcde'],
  [Number.MAX_SAFE_INTEGER, '001fffffffffffff'],
])('writes the integer %i in eight bytes without loss', (value, hex) => {
  expect(toHex(u64be(value))).toBe(hex)
})

it('writes every safe integer as the 64-bit integers of the platform do', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      const expected = new DataView(new ArrayBuffer(8))
      expected.setBigUint64(0, BigInt(value))
      expect(u64be(value)).toEqual(new Uint8Array(expected.buffer))
    }),
  )
})

it.each([-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY])('refuses to write %d as an integer', (value) => {
  expect(codeOf(() => u64be(value))).toBe('malformed')
})

it('reads a 32-bit integer at its place in a part of a larger buffer', () => {
  const part = concat(fromHex('ffffffff'), u32be(0x8000_0001), fromHex('ffff')).subarray(3)
  expect(readU32be(part, 1)).toBe(0x8000_0001)
})

it('reads back every byte string it has written in hex', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      expect(fromHex(toHex(value))).toEqual(value)
    }),
  )
})

it('writes exactly the bytes of a part of a larger buffer', () => {
  expect(toHex(fromHex('00112233').subarray(1, 3))).toBe('1122')
})

it.each(['0', 'AB', 'g0', '0x', ' 0', '1 ', '-1', '1.', '00\n', '０0'])('refuses the hex text %j', (text) => {
  expect(codeOf(() => fromHex(text))).toBe('malformed')
})

it.each([
  ['a byte that never occurs', 'ff'],
  ['a cut character', 'e282'],
  ['a lone continuation', '80'],
  ['an overlong form', 'c080'],
  ['an encoded surrogate', 'eda080'],
  ['a character above U+10FFFF', 'f4908080'],
])('refuses text with %s', (_, hex) => {
  expect(codeOf(() => decodeUtf8(fromHex(hex)))).toBe('malformed')
})

it('keeps a byte order mark, so that it is seen', () => {
  expect(decodeUtf8(fromHex('efbbbf41'))).toBe('\ufeffA')
})

it('reads back every well-formed text it has written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(decodeUtf8(utf8(text))).toBe(text)
    }),
  )
})

it('joins byte strings in order and in full', () => {
  fc.assert(
    fc.property(fc.array(bytes), (parts) => {
      expect(toHex(concat(...parts))).toBe(parts.map(toHex).join(''))
    }),
  )
})

it('calls byte strings equal exactly if they are', () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect(equalBytes(a, b)).toBe(toHex(a) === toHex(b))
      expect(equalBytes(a, a.slice())).toBe(true)
      expect(equalBytes(a, concat(a, Uint8Array.of(0)))).toBe(false)
    }),
  )
})

it('orders ASCII text as unsigned bytes, shorter first', () => {
  expect(['b', 'a', 'B', 'ab', '-', '_', '0'].sort(compareText)).toEqual(['-', '0', 'B', '_', 'a', 'ab', 'b'])
  expect(compareText('a', 'a')).toBe(0)
})
