import { platform } from '#platform'
import { fromBase64url } from '../encoding/base64.ts'
import { type Bytes, toHex } from '../encoding/bytes.ts'
import { canonical } from '../encoding/canonical.ts'
import { bytesText, literal, type Of, record } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { parseEd25519Spki, parseRsaSpki } from './der.ts'
import { isPrimeOrderPoint } from './ed25519-point.ts'
import { certify, type Kid, type Principal, parseKid } from './identifiers.ts'

// Section 2.1: key bundles, self-certifying key ids, and the one check every public key passes before use.

const MAX_SPKI = 600
const CLASSIC = {
  enc: bytesText(1, MAX_SPKI),
  encAlg: literal('RSA-OAEP-256'),
  sig: bytesText(1, MAX_SPKI),
  sigAlg: literal('EdDSA', 'PS256'),
}
const ML_KEM_PUBLIC_BYTES = 1184

/** The public half of a principal's key: one key to wrap to, one to verify with, and a KEM where it is hybrid (3.4). */
export const keyBundle = record(CLASSIC, {
  kem: bytesText(ML_KEM_PUBLIC_BYTES, ML_KEM_PUBLIC_BYTES),
  kemAlg: literal('ML-KEM-768'),
})
export type KeyBundle = Of<typeof keyBundle>

declare const checked: unique symbol
/** A public key that was checked against its key id. Only `checkKey` makes one. */
export interface CheckedKey {
  readonly [checked]: true
  readonly kid: Kid
  readonly principal: Principal
  readonly bundle: KeyBundle
  readonly encSpki: Bytes
  readonly sigSpki: Bytes
  readonly kem: Bytes | null
  readonly rsaBits: number
}

/** Base32 of the first 160 bits of SHA-256(JCS(bundle)): a key id certifies the key it names. */
export const deriveKeyId = (bundle: KeyBundle): string => certify(canonical(bundle))

export const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 4096

// A check is a pure function of kid and bundle, and the kid is a hash of the bundle: a positive result holds for ever.
const CACHE_SIZE = 4096
const passed = new Map<string, CheckedKey>()

// Of the check only the arithmetic on a curve takes long. Ids of keys that passed it in an earlier process (key-memory.ts).
const sound = new Set<string>()

/** Package-internal: the newest key ids that were checked, and those an earlier process is known to have checked. */
export const checkedKids = (most: number): readonly string[] => [...passed.keys()].slice(-most)
export const recallChecked = (kids: readonly string[]): void => {
  for (const kid of kids) if (sound.size < CACHE_SIZE) sound.add(kid)
}

const sameBundle = (a: KeyBundle, b: KeyBundle): boolean =>
  a.enc === b.enc && a.sig === b.sig && a.sigAlg === b.sigAlg && a.kem === b.kem && a.kemAlg === b.kemAlg

/** Accepts a public key under a key id, or refuses: `key_substitution` if the id names another key, `weak_key` if it is unfit. */
export function checkKey(kid: string, candidate: unknown, minRsaBits: number = MIN_RSA_BITS): CheckedKey {
  const key = checkedOnce(kid, keyBundle(candidate, 'key'), sound.has(kid) ? parseEd25519Spki : checkEd25519)
  ensure(key.rsaBits >= minRsaBits, 'weak_key', 'an RSA key is shorter than the policy asks', { kid })
  return key
}

/**
 * The same for a bundle that was just computed from its private half. Its Ed25519 key is a multiple of the base point, by a
 * number that RFC 8032 makes a multiple of 8 between 0 and 8 · L: it is of the prime-order group and not the identity, and
 * looking would take longer than all else that opens a key.
 */
export const checkOwnKey = (kid: string, computed: KeyBundle): CheckedKey =>
  checkedOnce(kid, keyBundle(computed, 'key'), parseEd25519Spki)

type CheckSpki = (spki: Uint8Array) => unknown

function checkedOnce(kid: string, bundle: KeyBundle, checkSig: CheckSpki): CheckedKey {
  const known = passed.get(kid)
  const key = known && sameBundle(known.bundle, bundle) ? known : checkBundle(kid, bundle, checkSig)
  if (passed.size >= CACHE_SIZE) passed.delete(passed.keys().next().value as string)
  passed.set(kid, key)
  return key
}

function checkBundle(kid: string, bundle: KeyBundle, checkSig: CheckSpki): CheckedKey {
  const { principal, keyId } = parseKid(kid)
  ensure(deriveKeyId(bundle) === keyId, 'key_substitution', 'a key does not hash to its key id', { kid })
  ensure((bundle.kem === undefined) === (bundle.kemAlg === undefined), 'malformed', 'kem and kemAlg belong together')
  const encSpki = fromBase64url(bundle.enc)
  const sigSpki = fromBase64url(bundle.sig)
  const rsaBits = checkRsa(encSpki)
  if (bundle.sigAlg === 'PS256')
    ensure(bundle.sig === bundle.enc, 'weak_key', 'a PS256 bundle must sign with its one RSA key')
  else checkSig(sigSpki)
  const kem = bundle.kem === undefined ? null : fromBase64url(bundle.kem)
  if (kem) checkMlKem(kem)
  return { kid, principal, bundle, encSpki, sigSpki, kem, rsaBits } as unknown as CheckedKey
}

const bitLength = (bytes: Uint8Array): number => bytes.length * 8 - Math.clz32(bytes[0] as number) + 24

function checkRsa(spki: Uint8Array): number {
  const { modulus, exponent } = parseRsaSpki(spki)
  const bits = bitLength(modulus)
  ensure(bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS, 'weak_key', 'an RSA modulus must have 2048 to 4096 bits')
  ensure(
    exponent.length === 3 && exponent[0] === 1 && exponent[1] === 0 && exponent[2] === 1,
    'weak_key',
    'an RSA exponent must be 65537',
  )
  const n = BigInt(`0x${toHex(modulus)}`)
  ensure(
    SMALL_PRIMES.every((prime) => n % prime !== 0n),
    'weak_key',
    'an RSA modulus has a small factor',
  )
  ensure(!hasRocaFingerprint(n), 'weak_key', 'an RSA modulus was made by a generator known to be broken')
  return bits
}

const SMALL_PRIMES: readonly bigint[] = [
  2n,
  3n,
  5n,
  7n,
  11n,
  13n,
  17n,
  19n,
  23n,
  29n,
  31n,
  37n,
  41n,
  43n,
  47n,
  53n,
  59n,
  61n,
  67n,
  71n,
  73n,
  79n,
  83n,
  89n,
  97n,
  101n,
  103n,
  107n,
  109n,
  113n,
  127n,
  131n,
  137n,
  139n,
  149n,
  151n,
  157n,
  163n,
  167n,
]

/** CVE-2017-15361: such moduli are a power of 65537 modulo every small prime. A sound key is so by chance below 2^-100. */
const hasRocaFingerprint = (n: bigint): boolean =>
  SMALL_PRIMES.slice(1).every((prime) => {
    const residue = n % prime
    for (let power = 1n, i = 0n; i < prime; i++, power = (power * 65_537n) % prime) if (power === residue) return true
    return false
  })

/** Canonical, not the identity, torsion-free: libraries disagree on everything else, so nothing else is a key (2.1). */
function checkEd25519(spki: Uint8Array): void {
  const isSound = isPrimeOrderPoint(parseEd25519Spki(spki))
  ensure(isSound, 'weak_key', 'an Ed25519 key is not a canonical point of the prime-order group')
}

/** FIPS 203 section 7.2: every coefficient of an encapsulation key is below q. */
function checkMlKem(key: Uint8Array): void {
  for (let i = 0; i < 1152; i += 3) {
    const b = key[i + 1] as number
    const low = (key[i] as number) | ((b & 15) << 8)
    const high = (b >> 4) | ((key[i + 2] as number) << 4)
    ensure(low < 3329 && high < 3329, 'weak_key', 'an ML-KEM key is not reduced')
  }
}

/** Verifies with the algorithm of the key bundle, never with one the message names. */
export async function verifyWithKey(key: CheckedKey, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const isRsa = key.bundle.sigAlg === 'PS256'
  // RFC 8017 8.1.2: OpenSSL also takes an RSA signature that begins with a zero byte without it, and others do not.
  const length = isRsa ? parseRsaSpki(key.sigSpki).modulus.length : 64
  const verify = isRsa ? platform.rsaPssVerify : platform.ed25519Verify
  return signature.length === length && (await verify(key.sigSpki, message, signature))
}

/** RSA-only keys read and write, but hold no authority: an OAEP leak must never become a signature (3.5). */
export const mayHoldAuthority = (key: CheckedKey): boolean => key.bundle.sigAlg === 'EdDSA'
