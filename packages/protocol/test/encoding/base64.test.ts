// Seen red: left-over bits not checked; a foreign alphabet accepted; padding optional; the script path with another last
// character than the Buffer path; fromBase32 without its length rule; the Buffer path without encoding again.
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import * as native from '../../src/encoding/base64.ts'
import { fromHex, toHex, utf8 } from '../../src/encoding/bytes.ts'
import { codeOf } from './refused.ts'

type Base64 = typeof native

/** A second copy of the module that finds no Buffer when it starts: what browsers run. */
async function importWithoutBuffer(): Promise<Base64> {
  const copy = '../../src/encoding/base64.ts?without-buffer'
  vi.stubGlobal('Buffer', undefined)
  try {
    return await import(/* @vite-ignore */ copy)
  } finally {
    vi.unstubAllGlobals()
  }
}

let script: Base64
beforeAll(async () => {
  script = await importWithoutBuffer()
})
afterEach(() => vi.restoreAllMocks())

const bytes = fc.uint8Array({ maxLength: 100 })
/** Mostly texts that are nearly base64, so that the last character and the padding matter. */
const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom('A', 'B', 'Q', 'w', '8', '+', '/', '-', '_', '='), maxLength: 12 }),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
)

it('has two copies to compare, of which one uses Buffer and one does not', () => {
  const from = vi.spyOn(Buffer, 'from')
  script.toBase64(Uint8Array.of(1, 2, 3))
  script.fromBase64url('AQID')
  expect(from).not.toHaveBeenCalled()
  native.fromBase64url('AQID')
  expect(from).toHaveBeenCalled()
})

describe.each([
  ['Buffer', () => native],
  ['script', () => script],
] as const)('base64 by %s', (_, codec) => {
  it.each([
    ['', '', ''],
    ['f', 'Zg==', 'Zg'],
    ['fo', 'Zm8=', 'Zm8'],
    ['foo', 'Zm9v', 'Zm9v'],
    ['foob', 'Zm9vYg==', 'Zm9vYg'],
    ['fooba', 'Zm9vYmE=', 'Zm9vYmE'],
    ['foobar', 'Zm9vYmFy', 'Zm9vYmFy'],
    ['\u00fb\u00ff', 'w7vDvw==', 'w7vDvw'],
  ])('writes %j as RFC 4648 does, and reads it back', (text, padded, urlSafe) => {
    expect(codec().toBase64(utf8(text))).toBe(padded)
    expect(codec().toBase64url(utf8(text))).toBe(urlSafe)
    expect(codec().fromBase64(padded)).toEqual(utf8(text))
    expect(codec().fromBase64url(urlSafe)).toEqual(utf8(text))
  })

  it('uses the URL-safe alphabet for base64url and the standard one for base64', () => {
    expect(codec().toBase64url(fromHex('fbefff'))).toBe('--__')
    expect(codec().toBase64(fromHex('fbefff'))).toBe('++//')
    expect(codeOf(() => codec().fromBase64url('++//'))).toBe('malformed')
    expect(codeOf(() => codec().fromBase64('--__'))).toBe('malformed')
  })

  it.each(['A', 'AA==', 'AAA=', 'AB', 'AAB', 'AAAAA', 'A A', 'AA\n', 'AAé', 'AA\u0000A', 'A.', 'ＡＡ', '\ud800A'])(
    'refuses the base64url text %j',
    (text) => expect(codeOf(() => codec().fromBase64url(text))).toBe('malformed'),
  )

  it.each([
    'A',
    'AA',
    'AAA',
    'AA=',
    'AB==',
    'AAB=',
    'A===',
    '====',
    '=',
    'AA==AA==',
    'AAAA=',
    'AAAA====',
    'AA =',
    'AA=\n',
  ])('refuses the base64 text %j', (text) => expect(codeOf(() => codec().fromBase64(text))).toBe('malformed'))

  it('encodes exactly the bytes of a part of a larger buffer', () => {
    expect(codec().toBase64url(fromHex('00112233').subarray(1, 3))).toBe('ESI')
    expect(codec().toBase64(fromHex('00112233').subarray(1, 3))).toBe('ESI=')
  })

  it('accepts one text only for one byte string', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const urlSafe = codeOf(() => expect(codec().toBase64url(codec().fromBase64url(text))).toBe(text))
        const standard = codeOf(() => expect(codec().toBase64(codec().fromBase64(text))).toBe(text))
        expect(['accepted', 'malformed']).toContain(urlSafe)
        expect(['accepted', 'malformed']).toContain(standard)
      }),
    )
  })
})

it('encodes every byte string alike with and without Buffer', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      expect(script.toBase64url(value)).toBe(native.toBase64url(value))
      expect(script.toBase64(value)).toBe(native.toBase64(value))
      expect(script.fromBase64url(native.toBase64url(value))).toEqual(value)
      expect(script.fromBase64(native.toBase64(value))).toEqual(value)
    }),
  )
})

it('accepts and refuses the same texts with and without Buffer', () => {
  const read = (decode: (text: string) => Uint8Array, text: string) => {
    let hex = ''
    const code = codeOf(() => {
      hex = toHex(decode(text))
    })
    return `${code} ${hex}`
  }
  fc.assert(
    fc.property(texts, (text) => {
      expect(read(script.fromBase64url, text)).toBe(read(native.fromBase64url, text))
      expect(read(script.fromBase64, text)).toBe(read(native.fromBase64, text))
    }),
    { numRuns: 2000 },
  )
})

it('gives bytes that stay as they are when other decoded bytes change', () => {
  const [first, second] = [native.fromBase64url('AQIDBA'), native.fromBase64url('BQYHCA')]
  first.fill(0xff)
  expect(toHex(second)).toBe('05060708')
})

describe('base32', () => {
  it.each([
    ['', ''],
    ['f', 'my'],
    ['fo', 'mzxq'],
    ['foo', 'mzxw6'],
    ['foob', 'mzxw6yq'],
    ['fooba', 'mzxw6ytb'],
    ['foobar', 'mzxw6ytboi'],
  ])('writes %j as RFC 4648 does, in lower case and without padding', (text, encoded) => {
    expect(native.toBase32(utf8(text))).toBe(encoded)
    expect(native.fromBase32(encoded)).toEqual(utf8(text))
  })

  it('gives 32 characters for the 160 bits of a key id', () => {
    expect(native.toBase32(new Uint8Array(20).fill(0xff))).toBe('7'.repeat(32))
  })

  it.each(['a', 'aaa', 'aaaaaa', 'mz', 'MY', 'my======', 'm1', 'm0', 'm8', 'm ', 'mzxw6y\n', 'é', '\ud83d\ude00'])(
    'refuses the text %j',
    (text) => expect(codeOf(() => native.fromBase32(text))).toBe('malformed'),
  )

  it('reads back every byte string, and accepts one text only for it', () => {
    const near = fc.string({ unit: fc.constantFrom('a', 'b', 'e', 'i', 'q', 'y', '2', '7', '='), maxLength: 9 })
    fc.assert(
      fc.property(bytes, (value) => {
        expect(native.fromBase32(native.toBase32(value))).toEqual(value)
      }),
    )
    fc.assert(
      fc.property(near, (text) => {
        const code = codeOf(() => expect(native.toBase32(native.fromBase32(text))).toBe(text))
        expect(['accepted', 'malformed']).toContain(code)
      }),
    )
  })
})
