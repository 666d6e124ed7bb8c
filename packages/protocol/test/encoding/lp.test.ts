// Seen red: a length left out, so that parts could be cut elsewhere; the count left out; text that is no Unicode accepted, so
// that two texts gave one encoding.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readU32be, toHex, u64be, utf8 } from '../../src/encoding/bytes.ts'
import { type LpPart, lp } from '../../src/encoding/lp.ts'
import { codeOf } from './refused.ts'

it('encodes the worked example of section 2.2', () => {
  const expected =
    '00000005 00000011 7661756c742e76332f6974656d2d6b6579 00000008 6f72675f61636d65 00000008 766c745f70726f64 ' +
    '00000006 69746d5f6462 00000008 0000000000000001'
  const encoded = lp('vault.v3/item-key', 'org_acme', 'vlt_prod', 'itm_db', 1)
  expect(toHex(encoded)).toBe(expected.replaceAll(' ', ''))
})

it('counts the bytes of a text, not its characters', () => {
  expect(toHex(lp('é', '\u{1f600}'))).toBe('0000000200000002c3a900000004f09f9880')
})

it('encodes exactly the bytes of a part of a larger buffer', () => {
  expect(lp('a', Uint8Array.of(1, 2, 3, 4).subarray(1, 3))).toEqual(lp('a', Uint8Array.of(2, 3)))
})

const text = fc.string({ unit: 'binary', maxLength: 20 })
const part: fc.Arbitrary<LpPart> = fc.oneof(text, fc.maxSafeNat(), fc.uint8Array({ maxLength: 20 }))
const bytesOf = (one: LpPart): Uint8Array =>
  typeof one === 'string' ? utf8(one) : typeof one === 'number' ? u64be(one) : one

/** Reads an encoding back: what can be read back in one way only was encoded injectively. */
function readBack(encoded: Uint8Array): string[] {
  const parts: string[] = []
  let at = 4
  for (let left = readU32be(encoded, 0); left > 0; left--) {
    const end = at + 4 + readU32be(encoded, at)
    parts.push(toHex(encoded.subarray(at + 4, end)))
    at = end
  }
  expect(at).toBe(encoded.length)
  return parts
}

it('can be read back in one way only, whatever label and parts', () => {
  fc.assert(
    fc.property(text, fc.array(part, { maxLength: 8 }), (label, parts) => {
      expect(readBack(lp(label, ...parts))).toEqual([label, ...parts].map((one) => toHex(bytesOf(one))))
    }),
    { numRuns: 500 },
  )
})

it('encodes long parts, and short ones after them, without a trace of one another', () => {
  const long = 'ä'.repeat(3000)
  expect(readBack(lp('a', long, new Uint8Array(5000)))).toEqual(['61', toHex(utf8(long)), '00'.repeat(5000)])
  const [first, second] = [lp('a', 'first part'), lp('b')]
  expect(readBack(first)).toEqual(['61', toHex(utf8('first part'))])
  expect(readBack(second)).toEqual(['62'])
})

it('gives other bytes if the same text is cut elsewhere', () => {
  fc.assert(
    fc.property(text, text, text, (a, b, c) => {
      fc.pre(b !== '')
      const cuts = [lp(a, b, c), lp(a + b, c), lp(a, b + c), lp(a, b, c, ''), lp(a + b + c)]
      expect(new Set(cuts.map(toHex)).size).toBe(cuts.length)
    }),
  )
})

it('does not tell a number from the eight bytes that encode it: the place of a part says what it is', () => {
  expect(lp('a', 7)).toEqual(lp('a', u64be(7)))
  expect(lp('a', 'b')).toEqual(lp('a', utf8('b')))
})

it.each([-1, 1.5, 2 ** 53])('refuses the number %d', (value) => {
  expect(codeOf(() => lp('a', value))).toBe('malformed')
})

it('refuses text with a lone surrogate, which would be encoded like any other lone surrogate', () => {
  expect(codeOf(() => lp('a', '\ud800'))).toBe('malformed')
  expect(codeOf(() => lp('\udfff', 'b'))).toBe('malformed')
})
