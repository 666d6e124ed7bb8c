import { toBase64url } from '../../../src/encoding/base64.ts'
import { concat } from '../../../src/encoding/bytes.ts'
import { words } from '../../../src/encoding/shape.ts'
import { encodeRsaSpki, parseEd25519Spki, parseRsaSpki, privateKeyType } from '../../../src/identity/der.ts'
import { claimedKind, defineKind, draftDocument, type Envelope, peekDocument } from '../../../src/identity/document.ts'
import { parseKid } from '../../../src/identity/identifiers.ts'
import { checkKey, deriveKeyId, type KeyBundle } from '../../../src/identity/key-bundle.ts'
import { decodePem, openKeys } from '../../../src/identity/private-keys.ts'
import { vaultHead } from '../../../src/vault/documents.ts'
import keysFile from '../../../vectors/keys.json' with { type: 'json' }
import { ORG, type World } from '../../world/world.ts'
import { extra } from '../extra-case.ts'

const PEM = keysFile.keys.bob
const material = decodePem(PEM)

const large = defineKind('large', { text: words(2_000_000) })

const check =
  (change: (bundle: KeyBundle) => Partial<KeyBundle>, minRsaBits?: number) => async (open: () => Promise<World>) => {
    const { bundle } = (await open()).actors.bob.key
    const changed = { ...bundle, ...change(bundle) }
    return checkKey(`user:ou_bob1:${deriveKeyId(changed)}`, changed, minRsaBits)
  }

const EXPONENT = Uint8Array.of(1, 0, 1)
const rsa = (modulus: Uint8Array): string =>
  toBase64url(encodeRsaSpki({ modulus: modulus.slice(), exponent: EXPONENT.slice() }))

const SMALL_PRIMES = Array.from({ length: 168 }, (_, i) => BigInt(i)).filter(
  (n) => n > 2n && ![2n, 3n, 5n, 7n, 11n].some((p) => n !== p && n % p === 0n),
)
const bytesOf = (n: bigint): Uint8Array =>
  Uint8Array.from(n.toString(16).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

/** 4160 bits, and without a small factor, so that nothing but its length is wrong. */
function oversizedModulus(): Uint8Array {
  let n = (1n << 4159n) + 1n
  while (SMALL_PRIMES.some((prime) => n % prime === 0n)) n += 2n
  return bytesOf(n)
}

/** A modulus that is a power of 65537 modulo every small prime: what the broken generator made (CVE-2017-15361). */
function rocaModulus(): Uint8Array {
  const product = SMALL_PRIMES.reduce((a, b) => a * b)
  const residue = 65_537n ** 5n % product
  let n = (1n << 2047n) - ((1n << 2047n) % product) + product + residue
  while (n % 2n === 0n) n += product
  return bytesOf(n)
}

const oneLabelDocument = (type: string) => ({
  payload: btoa(JSON.stringify({ t: 'x' })),
  payloadType: type,
  signatures: [],
})

/** Section 2.1 and 2.3: keys and documents before anybody has signed anything. */
export const IDENTITY = [
  extra('rsa-without-exponent', 'weak_key', async (open) => {
    const { encSpki } = (await open()).actors.bob.key
    return parseRsaSpki(encSpki.slice(0, -5))
  }),
  extra('rsa-with-a-byte-behind', 'weak_key', async (open) =>
    parseRsaSpki(concat((await open()).actors.bob.key.encSpki, Uint8Array.of(0))),
  ),
  extra('ed25519-of-other-algorithm', 'weak_key', () => parseEd25519Spki(new Uint8Array(44))),
  extra('private-key-of-no-algorithm', 'weak_key', () => privateKeyType(new Uint8Array(48))),
  extra('document-too-large', 'limit_exceeded', async (open) => {
    const { bob } = (await open()).actors
    return draftDocument(large, { org: ORG, at: 1, by: bob.kid, text: 'x'.repeat(1_048_576) })
  }),
  extra('document-peeked-as-other-kind', 'wrong_type', async (open) => {
    const world = await open()
    const { hash } = await world.head(world.prod)
    const head = world.host.ledger.document(hash) as Envelope
    return peekDocument(vaultHead, { ...head, payloadType: 'application/vnd.vault.v3.acl.set+json' })
  }),
  extra('document-of-no-kind', 'wrong_type', () => claimedKind(oneLabelDocument('text/plain'))),
  extra('kid-without-key', 'malformed', () => parseKid('user:ou_bob1')),
  extra(
    'rsa-below-policy',
    'weak_key',
    check(() => ({}), 3072),
  ),
  extra('kem-without-algorithm', 'malformed', async (open) => {
    const { kem } = (await open()).actors.hybrid.key.bundle
    return check(() => ({ kem }) as Partial<KeyBundle>)(open)
  }),
  extra(
    'ps256-with-two-keys',
    'weak_key',
    check(() => ({ sigAlg: 'PS256' })),
  ),
  extra(
    'rsa-over-4096',
    'weak_key',
    check(() => ({ enc: rsa(oversizedModulus()) })),
  ),
  extra(
    'rsa-of-broken-generator',
    'weak_key',
    check(() => ({ enc: rsa(rocaModulus()) })),
  ),
  extra(
    'ml-kem-not-reduced',
    'weak_key',
    check(() => ({ kem: toBase64url(new Uint8Array(1184).fill(0xff)), kemAlg: 'ML-KEM-768' })),
  ),
  extra('private-key-with-bytes-behind', 'malformed', () =>
    openKeys('user:ou_bob1', { ...material, enc: concat(material.enc, Uint8Array.of(0)) }),
  ),
  extra('private-key-unreadable', 'malformed', () => {
    const enc = material.enc.slice()
    enc.fill(0, 60)
    return openKeys('user:ou_bob1', { ...material, enc })
  }),
  extra('pem-without-end', 'malformed', () => decodePem(`${PEM}-----BEGIN PRIVATE KEY-----\nAAAA\n`)),
  extra('pem-too-large', 'limit_exceeded', () => decodePem(PEM + ' '.repeat(40_000))),
  extra('pem-two-keys', 'malformed', () => decodePem(PEM + PEM)),
  extra('pem-without-key', 'malformed', () => decodePem('nothing')),
]
