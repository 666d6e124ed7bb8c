// Seen red: parseRsaSpki without the comparison of the encoded form; the integer searched by its first tag byte, which
// finds a length byte in keys of more than 4000 bits; parseEd25519Spki without its length; private keys taken in another form than
// their one, or with the bytes before the key not looked at.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toBase64url } from '../../src/encoding/base64.ts'
import { concat, fromHex, toHex } from '../../src/encoding/bytes.ts'
import {
  ed25519SecretIn,
  encodeEd25519Spki,
  encodeRsaSpki,
  parseEd25519Spki,
  parseRsaSpki,
  privateKeyType,
  type RsaPublicKey,
  rsaNumbersIn,
} from '../../src/identity/der.ts'
import { decodePem } from '../../src/identity/private-keys.ts'
import { ML_KEM_PKCS8_PREFIX } from '../../src/platform/ml-kem-der.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { codeOf } from '../encoding/refused.ts'
import { EXPONENT } from './moduli.ts'

const refusal = (spki: Uint8Array): string => codeOf(() => parseRsaSpki(spki))
const key = (length: number, first = 0xc5): RsaPublicKey => ({
  modulus: new Uint8Array(length).fill(0xd7).fill(first, 0, 1),
  exponent: EXPONENT,
})
const SPKI = encodeRsaSpki(key(256))

/** One DER element with its length in a form of the caller's choice. */
const element = (tag: string, lengthForm: string, content: Uint8Array): Uint8Array =>
  concat(fromHex(tag), fromHex(lengthForm), content)
const ALGORITHM = '300d06092a864886f70d0101010500'
const wrap = (integers: Uint8Array, algorithm = ALGORITHM, unused = '00'): Uint8Array => {
  const long = (content: Uint8Array) => `82${content.length.toString(16).padStart(4, '0')}`
  const sequence = element('30', long(integers), integers)
  const bits = concat(fromHex(unused), sequence)
  const body = concat(fromHex(algorithm), element('03', long(bits), bits))
  return element('30', long(body), body)
}
const MODULUS = element('02', '820101', concat(Uint8Array.of(0), key(256).modulus))

describe('RSA public keys', () => {
  it.each([2048, 2056, 3072, 4000, 4096])('of %i bits are written as OpenSSL writes them', (bits) => {
    const { modulus, exponent } = key(bits / 8)
    const jwk = { kty: 'RSA', n: toBase64url(modulus), e: toBase64url(exponent) }
    const spki = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'der', type: 'spki' })
    expect(toHex(encodeRsaSpki({ modulus, exponent }))).toBe(spki.toString('hex'))
    expect(parseRsaSpki(new Uint8Array(spki))).toEqual({ modulus, exponent })
  })

  it('are read back for every length of modulus, with and without a leading one bit', () => {
    const arbitrary = fc.record({ length: fc.integer({ min: 1, max: 600 }), first: fc.integer({ min: 1, max: 255 }) })
    fc.assert(
      fc.property(arbitrary, ({ length, first }) => {
        expect(parseRsaSpki(encodeRsaSpki(key(length, first)))).toEqual(key(length, first))
      }),
      { numRuns: 600 },
    )
  })

  it('are accepted as built here, so that the refusals below are for what they say', () => {
    expect(toHex(wrap(concat(MODULUS, fromHex('0203010001'))))).toBe(toHex(SPKI))
    expect(refusal(SPKI)).toBe('accepted')
  })

  it.each([
    ['nothing', new Uint8Array(0)],
    ['a byte after the end', concat(SPKI, Uint8Array.of(0))],
    ['a cut end', SPKI.subarray(0, -1)],
    ['only its beginning', SPKI.subarray(0, 24)],
    ['a byte between the integers', wrap(concat(MODULUS, fromHex('00'), fromHex('0203010001')))],
    ['a byte after the integers', wrap(concat(MODULUS, fromHex('020301000100')))],
    ['no exponent', wrap(MODULUS)],
    ['an exponent with leading zeros', wrap(concat(MODULUS, fromHex('020400010001')))],
    ['an exponent in a long form of length', wrap(concat(MODULUS, fromHex('028103010001')))],
    ['a negative modulus', wrap(concat(element('02', '820100', key(256).modulus), fromHex('0203010001')))],
    [
      'a modulus with two leading zeros',
      wrap(concat(element('02', '820102', concat(fromHex('0000'), key(256).modulus)), fromHex('0203010001'))),
    ],
    [
      'a modulus in three length bytes',
      wrap(concat(element('02', '83000101', MODULUS.subarray(4)), fromHex('0203010001'))),
    ],
    ['an indefinite length', concat(fromHex('3080'), SPKI.subarray(4), fromHex('0000'))],
    ['an empty modulus', wrap(fromHex('02000203010001'))],
    ['no parameters', wrap(concat(MODULUS, fromHex('0203010001')), '300b06092a864886f70d010101')],
    ['the algorithm RSA-PSS', wrap(concat(MODULUS, fromHex('0203010001')), '300d06092a864886f70d01010a0500')],
    ['unused bits', wrap(concat(MODULUS, fromHex('0203010001')), ALGORITHM, '01')],
    ['an Ed25519 key', encodeEd25519Spki(new Uint8Array(32))],
  ])('are refused with %s', (_, spki) => {
    expect(refusal(spki)).toBe('weak_key')
  })

  it('have one form: every flipped bit is refused or gives another key', () => {
    const { modulus, exponent } = parseRsaSpki(SPKI)
    for (let bit = 0; bit < SPKI.length * 8; bit++) {
      const altered = concat(SPKI)
      altered[bit >> 3] = (altered[bit >> 3] as number) ^ (0x80 >> (bit & 7))
      const code = codeOf(() => {
        const read = parseRsaSpki(altered)
        expect([toHex(read.modulus), toHex(read.exponent)]).not.toEqual([toHex(modulus), toHex(exponent)])
      })
      expect(['accepted', 'weak_key']).toContain(code)
    }
  })
})

describe('Ed25519 public keys', () => {
  const raw = Uint8Array.from({ length: 32 }, (_, i) => i)

  it('are 32 bytes behind one fixed prefix', () => {
    expect(parseEd25519Spki(encodeEd25519Spki(raw))).toEqual(raw)
    expect(toHex(encodeEd25519Spki(raw)).slice(0, 24)).toBe('302a300506032b6570032100')
  })

  it.each([
    ['a byte more', concat(encodeEd25519Spki(raw), Uint8Array.of(0))],
    ['a byte less', encodeEd25519Spki(raw).subarray(0, 43)],
    ['the prefix of X25519', concat(fromHex('302a300506032b656e032100'), raw)],
    ['the key alone', raw],
    ['an RSA key', SPKI],
  ])('are refused with %s', (_, spki) => {
    expect(codeOf(() => parseEd25519Spki(spki))).toBe('weak_key')
  })
})

it('tells private keys by their algorithm, and refuses other algorithms', () => {
  const { enc, sig } = decodePem(keysFile.keys.alice)
  expect(privateKeyType(enc)).toBe('rsa')
  expect(privateKeyType(sig as Uint8Array)).toBe('ed25519')
  expect(privateKeyType(concat(ML_KEM_PKCS8_PREFIX, new Uint8Array(64)))).toBe('ml-kem-768')
  const ecPrivateKey = fromHex('308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420')
  expect(codeOf(() => privateKeyType(ecPrivateKey))).toBe('weak_key')
  expect(codeOf(() => privateKeyType(new Uint8Array(0)))).toBe('weak_key')
})

describe('private keys', () => {
  const { enc, sig } = decodePem(keysFile.keys.alice)
  const pkcs8 = sig as Uint8Array
  const jwkOf = (der: Uint8Array) =>
    createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })

  it('of RSA are the numbers that OpenSSL finds, and of Ed25519 its 32 bytes', () => {
    const { n, e, d, p, q, dp, dq, qi } = jwkOf(enc)
    expect(rsaNumbersIn(enc)?.map(toBase64url)).toEqual([n, e, d, p, q, dp, dq, qi])
    expect(toBase64url(ed25519SecretIn(pkcs8) as Uint8Array)).toBe(jwkOf(pkcs8).d)
  })

  it('are left to others in every other form', () => {
    const nothing = new Uint8Array(0)
    for (const other of [nothing, enc.subarray(0, 20), enc.subarray(0, -1), concat(enc, Uint8Array.of(0)), pkcs8])
      expect(rsaNumbersIn(other)).toBeUndefined()
    for (const other of [nothing, pkcs8.subarray(0, -1), concat(pkcs8, Uint8Array.of(0)), enc.subarray(0, 48)])
      expect(ed25519SecretIn(other)).toBeUndefined()
  })

  it('have one form: every flipped bit gives no key or another', () => {
    const flips = (bytes: Uint8Array) =>
      Array.from({ length: bytes.length * 8 }, (_, bit) =>
        Uint8Array.from(bytes, (byte, i) => (i === bit >> 3 ? byte ^ (0x80 >> (bit & 7)) : byte)),
      )
    const same = (read: (bytes: Uint8Array) => unknown, bytes: Uint8Array) => {
      const known = JSON.stringify(read(bytes))
      return flips(bytes).filter((altered) => JSON.stringify(read(altered)) === known)
    }
    expect(same((bytes) => rsaNumbersIn(bytes)?.map(toHex), enc)).toEqual([])
    expect(same((bytes) => [ed25519SecretIn(bytes)].map((found) => found && toHex(found)), pkcs8)).toEqual([])
  })
})
