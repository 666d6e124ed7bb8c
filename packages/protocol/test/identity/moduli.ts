import { toBase64url } from '../../src/encoding/base64.ts'
import { encodeRsaSpki } from '../../src/identity/der.ts'
import { deriveKeyId, type KeyBundle } from '../../src/identity/key-bundle.ts'

// RSA moduli that no sound generator makes, and the bundles an attacker would register them with.

export const EXPONENT = Uint8Array.of(1, 0, 1)

export function bytesOf(value: bigint): Uint8Array<ArrayBuffer> {
  const hex = value.toString(16)
  const even = hex.length % 2 === 0 ? hex : `0${hex}`
  return Uint8Array.from(even.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

export const ODD_PRIMES: readonly bigint[] = [
  3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113,
  127, 131, 137, 139, 149, 151, 157, 163, 167,
].map(BigInt)

/** The powers of 65537 modulo a prime: what the residue of a broken modulus is one of. */
export function powersOf65537(prime: bigint): ReadonlySet<bigint> {
  const powers = new Set<bigint>()
  for (let power = 1n; !powers.has(power); power = (power * 65_537n) % prime) powers.add(power)
  return powers
}

const product = (factors: readonly bigint[]): bigint => factors.reduce((all, one) => all * one, 1n)
const PRIMORIAL = product(ODD_PRIMES)

/** An odd number of `bits` bits with the given residues modulo small primes, by the Chinese remainder theorem. */
export function modulusWith(residueOf: (prime: bigint) => bigint, bits = 2048): bigint {
  let residue = 0n
  for (const prime of ODD_PRIMES) {
    const others = PRIMORIAL / prime
    let inverse = 1n
    while ((others * inverse) % prime !== 1n) inverse++
    residue += residueOf(prime) * others * inverse
  }
  const start = 2n ** BigInt(bits - 1) + 2n ** BigInt(bits - 2)
  let n = start - (start % PRIMORIAL) + (residue % PRIMORIAL)
  if (n % 2n === 0n) n += PRIMORIAL
  return n
}

/** CVE-2017-15361: 65537^k modulo every small prime, as the broken generator's primes and so their products are. */
export const rocaModulus = (exponent = 123_457n): bigint => modulusWith((prime) => powerOf65537(exponent, prime))

function powerOf65537(exponent: bigint, prime: bigint): bigint {
  let power = 1n
  for (let i = 0n; i < exponent % (prime - 1n); i++) power = (power * 65_537n) % prime
  return power
}

/** The same, but for one prime, where the residue is no power of 65537. */
export function almostRocaModulus(exponent = 123_457n): bigint {
  const apart = ODD_PRIMES.find((prime) => powersOf65537(prime).size < Number(prime) - 1) as bigint
  const powers = powersOf65537(apart)
  let other = 1n
  while (powers.has(other)) other++
  return modulusWith((prime) => (prime === apart ? other : powerOf65537(exponent, prime)))
}

export const spkiOf = (modulus: bigint, exponent: Uint8Array = EXPONENT): string =>
  toBase64url(encodeRsaSpki({ modulus: bytesOf(modulus), exponent: new Uint8Array(exponent) }))

/** The key id that truly names a bundle, whatever is in it. */
export const kidFor = (bundle: unknown): string => `user:ou_test:${deriveKeyId(bundle as KeyBundle)}`
