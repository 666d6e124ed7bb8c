import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { encodeEd25519Spki } from '../../src/identity/der.ts'
import type { KeyBundle } from '../../src/identity/key-bundle.ts'
import { identityOf } from '../../test/world/actors.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { base64url, hex, utf8 } from './reference.ts'

// Section 2.1: signatures about which libraries disagree. Only the holder of a key can make them, and could so show one
// document as genuine to some and as forged to others; here nobody takes them.

const ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n
const { Point } = ed25519
/** A point of order 8. */
const TORSION = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')

const fromLittle = (bytes: Uint8Array): bigint => BigInt(`0x${hex(Uint8Array.from(bytes).reverse())}`)
const toLittle = (value: bigint): Uint8Array => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse()
const sha512 = (...parts: readonly Uint8Array[]): Uint8Array =>
  createHash('sha512').update(Buffer.concat(parts)).digest()

const MESSAGE = utf8('a message')
const SEED = new Uint8Array(32).fill(0x42)
const expanded = sha512(SEED)
const scalar = (() => {
  const half = expanded.slice(0, 32)
  half[0] = (half[0] as number) & 248
  half[31] = ((half[31] as number) & 127) | 64
  return fromLittle(half)
})()
const PUBLIC = Point.BASE.multiply(scalar % ORDER).toBytes()

/** RFC 8032 section 5.1.6, with any nonce, any encoding of R and any number added to S. */
function signWith(nonce: bigint, encodedR: Uint8Array, added = 0n): string {
  const challenge = fromLittle(sha512(encodedR, PUBLIC, MESSAGE)) % ORDER
  return hex(Buffer.concat([encodedR, toLittle(((nonce + challenge * scalar) % ORDER) + added)]))
}

const NONCE = fromLittle(sha512(expanded.subarray(32), MESSAGE)) % ORDER
const R = Point.BASE.multiply(NONCE)
const IDENTITY = Buffer.from(`01${'00'.repeat(31)}`, 'hex')

/** Test 1 to 3 of RFC 8032 section 7.1: key, message, signature. */
const RFC_8032: readonly (readonly [string, string, string])[] = [
  [
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
]

export async function makeEd25519(): Promise<VectorFile> {
  const { key } = await identityOf('deploy', 'agent:ag_deploy')
  const bundleOf = (point: Uint8Array): KeyBundle => ({ ...key.bundle, sig: base64url(encodeEd25519Spki(point)) })
  const input = (signature: string) => ({ key: bundleOf(PUBLIC), message: hex(MESSAGE), signature })
  const forged = (name: string, signature: string): VectorCase =>
    refuses('verify', name, 'bad_signature', input(signature))
  const honest = signWith(NONCE, R.toBytes())
  return {
    vectors: 'ed25519',
    section: '2.1',
    comment:
      'Signatures by keys that pass the rule of section 2.1: what is genuine to every platform, and what to none.',
    cases: [
      ...RFC_8032.map(([point, message, signature], i) =>
        accepts(
          'verify',
          `RFC 8032, test ${i + 1}`,
          { key: bundleOf(Buffer.from(point, 'hex')), message, signature },
          {},
        ),
      ),
      accepts('verify', 'an honest signature', input(honest), {}),
      forged('R with a part of small order', signWith(NONCE, R.add(TORSION).toBytes())),
      forged('R of order 8', signWith(0n, TORSION.toBytes())),
      forged('R is the identity', signWith(0n, IDENTITY)),
      forged('R is the identity with a sign', signWith(0n, Buffer.concat([IDENTITY.subarray(0, 31), Buffer.of(0x80)]))),
      forged(
        'R is the identity, y not reduced',
        signWith(0n, Buffer.concat([Buffer.of(0xee), Buffer.alloc(30, 0xff), Buffer.of(0x7f)])),
      ),
      forged('S plus the order of the group', signWith(NONCE, R.toBytes(), ORDER)),
      forged('S plus eight times the order', signWith(NONCE, R.toBytes(), 8n * ORDER)),
      forged('R and S exchanged', honest.slice(64) + honest.slice(0, 64)),
      forged('a signature of zeros', '00'.repeat(64)),
      forged('a byte missing', honest.slice(2)),
      forged('a byte too many', `${honest}00`),
      forged('nothing', ''),
    ],
  }
}
