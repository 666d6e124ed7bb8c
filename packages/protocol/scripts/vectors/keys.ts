import { ed25519 } from '@noble/curves/ed25519.js'
import { encodeEd25519Spki, encodeRsaSpki, parseRsaSpki } from '../../src/identity/der.ts'
import type { KeyBundle } from '../../src/identity/key-bundle.ts'
import { type Actors, identityOf, openActors } from '../../test/world/actors.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { base64url, sha256, utf8 } from './reference.ts'

// Section 2.1: key ids certify keys, and unfit keys are refused.

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648 base32 by way of one large number. */
function base32(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let out = ''
  for (let i = 0; i < (bytes.length * 8) / 5; i++, rest >>= 5n) out = BASE32[Number(rest & 31n)] + out
  return out
}

const textOf = (bundle: object): string => JSON.stringify(Object.fromEntries(Object.entries(bundle).sort()))
const keyIdOf = (bundle: object): string => base32(sha256(utf8(textOf(bundle))).subarray(0, 20))

const WHO = 'agent:ag_deploy'
const named = (bundle: object): { kid: string; key: object } => ({ kid: `${WHO}:${keyIdOf(bundle)}`, key: bundle })

const fits = (name: string, bundle: object, extra: object = {}): VectorCase =>
  accepts('check', name, { ...named(bundle), ...extra }, { principal: WHO, keyId: keyIdOf(bundle) })
const weak = (name: string, bundle: object, extra: object = {}): VectorCase =>
  refuses('check', name, 'weak_key', { ...named(bundle), ...extra })
const malformed = (name: string, bundle: object): VectorCase => refuses('check', name, 'malformed', named(bundle))

const fromBig = (value: bigint): Uint8Array<ArrayBuffer> => {
  const digits = value.toString(16)
  return new Uint8Array(Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex'))
}
const E65537 = Uint8Array.of(1, 0, 1)
const rsa = (modulus: bigint, exponent = E65537): string =>
  base64url(encodeRsaSpki({ modulus: fromBig(modulus), exponent }))

const PRIMES = [
  3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103,
].concat([107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167])

/** The nearest number from `start` on that no prime up to 167 divides. */
function rough(start: bigint): bigint {
  let n = start | 1n
  while (PRIMES.some((prime) => n % BigInt(prime) === 0n)) n += 2n
  return n
}

/** A modulus that is a power of 65537 modulo every small prime, as a broken generator once made them (CVE-2017-15361). */
function fingerprinted(near: bigint): bigint {
  const product = PRIMES.reduce((all, prime) => all * BigInt(prime), 1n)
  let power = 1n
  for (let i = 0; i < 12_345; i++) power = (power * 65_537n) % product
  const n = near - (near % product) + power
  return n % 2n === 1n ? n : n + product
}

function rsaCases(bundle: KeyBundle): VectorCase[] {
  const spki = Buffer.from(bundle.enc, 'base64url')
  const n = BigInt(`0x${Buffer.from(parseRsaSpki(spki).modulus).toString('hex')}`)
  const enc = (value: string) => ({ ...bundle, enc: value })
  const bits = (count: bigint) => rough(((n >> 0n) % (1n << (count - 1n))) | (1n << (count - 1n)))
  return [
    weak('RSA-1024', enc(rsa(bits(1024n)))),
    weak('RSA with 2047 bits', enc(rsa(bits(2047n)))),
    fits('RSA with 2048 bits', enc(rsa(bits(2048n)))),
    fits('RSA with 4096 bits', enc(rsa(bits(4096n)))),
    weak('RSA with 4097 bits', enc(rsa(bits(4097n)))),
    weak('exponent 3', enc(rsa(n, Uint8Array.of(3)))),
    weak('exponent 1', enc(rsa(n, Uint8Array.of(1)))),
    weak('exponent 65539', enc(rsa(n, Uint8Array.of(1, 0, 3)))),
    weak('an even modulus', enc(rsa(n - 1n))),
    weak('a modulus with the factor 3', enc(rsa(n - (n % 6n) + 3n))),
    weak('a modulus with the factor 167', enc(rsa(rough(n / 167n) * 167n))),
    weak('a modulus with the mark of a broken generator', enc(rsa(fingerprinted(n)))),
    weak('a byte after the key', enc(base64url(Buffer.concat([spki, Buffer.of(0)])))),
    weak('a length in a longer form', enc(base64url(Buffer.concat([Buffer.from('308300', 'hex'), spki.subarray(2)])))),
    weak('an Ed25519 key in place of RSA', enc(bundle.sig)),
    weak('2048 bits where the policy asks for 3072', bundle, { minRsaBits: 3072 }),
  ]
}

/** The eight points of small order, and other encodings of points (RFC 8032 allows neither as a key here). */
const SMALL_ORDER: readonly (readonly [string, string])[] = [
  ['order 1', '0100000000000000000000000000000000000000000000000000000000000000'],
  ['order 2', 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['order 4', '0000000000000000000000000000000000000000000000000000000000000000'],
  ['order 4, negative', '0000000000000000000000000000000000000000000000000000000000000080'],
  ['order 8, first', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
  ['order 8, second', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85'],
  ['order 8, third', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'],
  ['order 8, fourth', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa'],
]
const NOT_CANONICAL: readonly (readonly [string, string])[] = [
  ['y = p + 1, the identity', 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['y = p', 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['y = 2^255 - 1', 'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['x = 0 with a sign', '0100000000000000000000000000000000000000000000000000000000000080'],
]

function ed25519Cases(bundle: KeyBundle): VectorCase[] {
  const sig = (key: Uint8Array) => ({ ...bundle, sig: base64url(encodeEd25519Spki(key)) })
  const spki = Buffer.from(bundle.sig, 'base64url')
  const point = ed25519.Point.fromBytes(new Uint8Array(spki.subarray(12)))
  const torsion = ed25519.Point.fromHex((SMALL_ORDER[4] as readonly string[])[1] as string)
  const notOnCurve = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 2 : 0))
  return [
    ...SMALL_ORDER.map(([name, key]) => weak(`Ed25519 point of ${name}`, sig(Buffer.from(key, 'hex')))),
    ...NOT_CANONICAL.map(([name, key]) => weak(`Ed25519 not canonical: ${name}`, sig(Buffer.from(key, 'hex')))),
    weak('Ed25519 with a part of small order', sig(point.add(torsion).toBytes())),
    weak('Ed25519, not on the curve', sig(notOnCurve)),
    weak('Ed25519 with a byte too many', { ...bundle, sig: base64url(Buffer.concat([spki, Buffer.of(0)])) }),
    weak('X25519 in place of Ed25519', {
      ...bundle,
      sig: base64url(Buffer.from(hexOf(spki).replace('2b6570', '2b656e'), 'hex')),
    }),
  ]
}
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function bundleCases({ deploy, worker, hybrid }: Actors): VectorCase[] {
  const [plain, rsaOnly, withKem] = [deploy, worker, hybrid].map(({ key }) => key.bundle) as [
    KeyBundle,
    KeyBundle,
    KeyBundle,
  ]
  const { kemAlg, ...unnamedKem } = withKem
  const kem = Buffer.from(withKem.kem as string, 'base64url')
  const unreduced = Buffer.concat([Buffer.from('ffffff', 'hex'), kem.subarray(3)])
  const { sig, ...short } = plain
  return [
    fits('Ed25519 and RSA', plain),
    fits('RSA only', rsaOnly),
    fits('Ed25519, RSA and ML-KEM', withKem),
    fits('2048 bits where the policy asks for 2048', plain, { minRsaBits: 2048 }),
    weak('RSA only, with another key to sign', { ...rsaOnly, sig: plain.enc }),
    weak('RSA only, with an Ed25519 key to sign', { ...rsaOnly, sig }),
    weak('an ML-KEM key that is not reduced', { ...withKem, kem: base64url(unreduced) }),
    malformed('an ML-KEM key of another length', { ...withKem, kem: base64url(kem.subarray(1)) }),
    malformed('an ML-KEM key without its algorithm', unnamedKem),
    malformed('an algorithm of ML-KEM without its key', { ...plain, kemAlg }),
    malformed('another algorithm to wrap', { ...plain, encAlg: 'RSA-OAEP' }),
    malformed('another algorithm to sign', { ...plain, sigAlg: 'RS256' }),
    malformed('a member too many', { ...plain, use: 'sig' }),
    malformed('a member too few', short),
    malformed('padding of base64', { ...plain, sig: `${sig}=` }),
  ]
}

const nameCases = ({ deploy, mallory }: Actors): VectorCase[] => {
  const key = deploy.key.bundle
  const { kid } = named(key)
  const wrong = (name: string, code: 'malformed' | 'key_substitution', other: string) =>
    refuses('check', name, code, { kid: other, key })
  return [
    wrong('the id of another key', 'key_substitution', `${WHO}:${keyIdOf(mallory.key.bundle)}`),
    wrong('one character changed', 'key_substitution', kid.slice(0, -1) + (kid.endsWith('a') ? 'b' : 'a')),
    wrong('the id in upper case', 'malformed', `${WHO}:${keyIdOf(key).toUpperCase()}`),
    wrong('an id that is too short', 'malformed', kid.slice(0, -1)),
    wrong('no principal', 'malformed', keyIdOf(key)),
    wrong('a principal of another type', 'malformed', kid.replace('agent:', 'robot:')),
    wrong('a name of three characters', 'malformed', kid.replace('ag_deploy', 'abc')),
    wrong('a name with a slash', 'malformed', kid.replace('ag_deploy', 'ag/deploy')),
    accepts(
      'check',
      'another principal may hold the same key',
      { kid: `user:ou_bob1:${keyIdOf(key)}`, key },
      {
        principal: 'user:ou_bob1',
        keyId: keyIdOf(key),
      },
    ),
  ]
}

export async function makeKeyId(): Promise<VectorFile> {
  const actors = await openActors()
  const big = await identityOf('big', WHO)
  const huge = await identityOf('huge', WHO)
  return {
    vectors: 'keyid',
    section: '2.1',
    comment:
      'keyId = base32(SHA-256(JCS(bundle))[0..20]). check: a key bundle offered under a key id; every bad key below has a matching id, so that only the key itself can be refused.',
    cases: [
      ...bundleCases(actors),
      fits('RSA-3072', big.key.bundle, { minRsaBits: 3072 }),
      fits('RSA-4096', huge.key.bundle, { minRsaBits: 4096 }),
      ...rsaCases(actors.deploy.key.bundle),
      ...ed25519Cases(actors.deploy.key.bundle),
      ...nameCases(actors),
    ],
  }
}
