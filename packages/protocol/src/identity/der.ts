import { type Bytes, concat, equalBytes, fromHex, toHex } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'

// The little DER the protocol must read itself: RSA public keys, to know modulus and exponent before any library sees them, and private
// keys, since OpenSSL takes a key sooner than it finds out that this is what DER holds.

const RSA_ALGORITHM: Bytes = fromHex('300d06092a864886f70d0101010500')
const ED25519_SPKI: Bytes = fromHex('302a300506032b6570032100')

function encodeLength(length: number): Bytes {
  if (length < 0x80) return Uint8Array.of(length)
  if (length < 0x100) return Uint8Array.of(0x81, length)
  return Uint8Array.of(0x82, length >> 8, length & 0xff)
}

const element = (tag: number, content: Uint8Array): Bytes =>
  concat(Uint8Array.of(tag), encodeLength(content.length), content)

const positiveInteger = (bytes: Uint8Array): Bytes =>
  element(0x02, (bytes[0] as number) >= 0x80 ? concat(Uint8Array.of(0), bytes) : bytes)

export interface RsaPublicKey {
  /** Big-endian, without leading zeros. */
  readonly modulus: Bytes
  readonly exponent: Bytes
}

export const encodeRsaSpki = ({ modulus, exponent }: RsaPublicKey): Bytes => {
  const key = element(0x30, concat(positiveInteger(modulus), positiveInteger(exponent)))
  return element(0x30, concat(RSA_ALGORITHM, element(0x03, concat(Uint8Array.of(0), key))))
}

/** Reads the two integers leniently, then encodes them again: only the one DER form of a key is accepted. */
export function parseRsaSpki(spki: Uint8Array): RsaPublicKey {
  // SEQUENCE { algorithm, BIT STRING { 0, SEQUENCE { modulus, exponent } } }
  const bitString = headerAt(spki, 0).start + RSA_ALGORITHM.length
  const sequence = headerAt(spki, bitString).start + 1
  const modulus = integerAt(spki, headerAt(spki, sequence).start)
  ensure(modulus, 'weak_key', 'not an RSA public key')
  const exponent = integerAt(spki, modulus.end)
  ensure(exponent, 'weak_key', 'not an RSA public key')
  const key = { modulus: modulus.value, exponent: exponent.value }
  ensure(equalBytes(encodeRsaSpki(key), spki), 'weak_key', 'an RSA public key is not in its one DER form')
  return key
}

/** Where the content of the element at `at` starts, and how long it says it is. */
function headerAt(der: Uint8Array, at: number): { start: number; length: number } {
  const first = der[at + 1] ?? 0
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  let length = lengthBytes === 0 ? first : 0
  for (let i = 0; i < Math.min(lengthBytes, 2); i++) length = (length << 8) | (der[at + 2 + i] ?? 0)
  return { start: at + 2 + lengthBytes, length }
}

function integerAt(der: Uint8Array, at: number): { value: Bytes; end: number } | undefined {
  const { start, length } = headerAt(der, at)
  const end = start + length
  if (der[at] !== 0x02 || length === 0 || end > der.length) return undefined
  const value = der.slice(der[start] === 0 && length > 1 ? start + 1 : start, end)
  return { value, end }
}

const isEd25519Spki = (spki: Uint8Array): boolean =>
  spki.length === 44 && equalBytes(spki.subarray(0, 12), ED25519_SPKI)

/** The 32 key bytes of an Ed25519 SPKI. */
export function parseEd25519Spki(spki: Uint8Array): Uint8Array {
  ensure(isEd25519Spki(spki), 'weak_key', 'not an Ed25519 public key')
  return spki.subarray(12)
}

/** The same, or nothing for what is no such SPKI. */
export const ed25519KeyIn = (spki: Uint8Array): Uint8Array | undefined =>
  isEd25519Spki(spki) ? spki.subarray(12) : undefined

export const encodeEd25519Spki = (key: Uint8Array): Bytes => concat(ED25519_SPKI, key)

export type PrivateKeyType = 'rsa' | 'ed25519' | 'ml-kem-768'

/** Which algorithm a PKCS#8 block holds, from its algorithm identifier. */
export function privateKeyType(pkcs8: Uint8Array): PrivateKeyType {
  const header = toHex(pkcs8.subarray(0, 32))
  if (header.includes('06092a864886f70d010101')) return 'rsa'
  if (header.includes('06032b6570')) return 'ed25519'
  if (header.includes('0609608648016503040402')) return 'ml-kem-768'
  ensure(false, 'weak_key', 'a private key is neither RSA, Ed25519 nor ML-KEM-768')
}

const ED25519_PKCS8: Bytes = fromHex('302e020100300506032b657004220420')
const ED25519_PKCS8_BYTES = ED25519_PKCS8.length + 32

/**
 * One DER element with nothing after it, and Ed25519 in the plain form of RFC 8410 without its public half: platforms
 * disagree on everything else, and a key must open everywhere or nowhere.
 */
export function isPlainPkcs8(pkcs8: Uint8Array, type: 'rsa' | 'ed25519'): boolean {
  const { start, length } = headerAt(pkcs8, 0)
  return (
    pkcs8[0] === 0x30 && start + length === pkcs8.length && (type === 'rsa' || pkcs8.length === ED25519_PKCS8_BYTES)
  )
}

/** The 32 secret bytes of an Ed25519 key in the plain form of RFC 8410; nothing for what is no such key. */
export const ed25519SecretIn = (pkcs8: Uint8Array): Uint8Array | undefined =>
  pkcs8.length === ED25519_PKCS8_BYTES && equalBytes(pkcs8.subarray(0, ED25519_PKCS8.length), ED25519_PKCS8)
    ? pkcs8.subarray(ED25519_PKCS8.length)
    : undefined

const VERSION_0: Bytes = /* @__PURE__ */ fromHex('020100')
const RSA_NUMBERS = 8

const encodeRsaPkcs8 = (numbers: readonly Uint8Array[]): Bytes => {
  const key = element(0x30, concat(VERSION_0, ...numbers.map(positiveInteger)))
  return element(0x30, concat(VERSION_0, RSA_ALGORITHM, element(0x04, key)))
}

/** n, e, d, p, q, dP, dQ and qInv of an RSA key (RFC 8017, A.1.2) in its one DER form; nothing for what is no such key. */
export function rsaNumbersIn(pkcs8: Uint8Array): readonly Bytes[] | undefined {
  // SEQUENCE { 0, algorithm, OCTET STRING { SEQUENCE { 0, the numbers } } }
  const octets = headerAt(pkcs8, 0).start + VERSION_0.length + RSA_ALGORITHM.length
  const sequence = headerAt(pkcs8, octets).start
  let at = headerAt(pkcs8, sequence).start + VERSION_0.length
  const numbers: Bytes[] = []
  while (numbers.length < RSA_NUMBERS) {
    const number = integerAt(pkcs8, at)
    if (!number) return undefined
    numbers.push(number.value)
    at = number.end
  }
  return equalBytes(encodeRsaPkcs8(numbers), pkcs8) ? numbers : undefined
}
