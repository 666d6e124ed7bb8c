import {
  constants,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import {
  addSignatures,
  draftDocument,
  type Envelope,
  type Identity,
  type JsonObject,
  type KeyBundle,
  keyAdd,
  makeDocument,
  peekDocument,
  wrappedDek,
} from '@strongroom/protocol'
import { asEnvelope, type Document } from './answers.ts'

// What anybody can make with the specification in hand and no key of the organisation.

/** The payload of a document with other members; its signatures stay, for whatever they are worth. */
export function rewrite(document: Document, change: Readonly<Record<string, unknown>>): void {
  const payload = JSON.parse(Buffer.from(document.payload, 'base64').toString()) as Record<string, unknown>
  const sorted = Object.entries({ ...payload, ...change }).sort(([a], [b]) => (a < b ? -1 : 1))
  document.payload = Buffer.from(JSON.stringify(Object.fromEntries(sorted))).toString('base64')
}

export const payloadOf = (document: Document): JsonObject =>
  JSON.parse(Buffer.from(document.payload, 'base64').toString()) as JsonObject

const u32 = (n: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(n)
  return bytes
}
const u64 = (n: number): Buffer => Buffer.concat([u32(Math.floor(n / 2 ** 32)), u32(n % 2 ** 32)])

/** Docs/reference/protocol.md 2.2. */
function lp(label: string, ...parts: readonly (string | number)[]): Buffer {
  const encoded = [label, ...parts].map((part) => (typeof part === 'number' ? u64(part) : Buffer.from(part)))
  return Buffer.concat([u32(encoded.length), ...encoded.flatMap((part) => [u32(part.length), part])])
}

/** A vault key of the attacker's choice, wrapped for the victim exactly as docs/reference/protocol.md 3.2 asks. */
export async function wrapChosenKey(
  wrap: Document,
  victim: KeyBundle,
  by: Identity,
  isHonestCommit = false,
): Promise<Envelope> {
  const { payload } = peekDocument(wrappedDek, asEnvelope(wrap))
  const { v: _v, t: _t, by: _by, ...members } = payload
  const { org, vaultId, dekVersion, to } = payload
  const dek = randomBytes(32)
  const inner = createHash('sha256')
    .update(lp('vault.v3/wrap', org, vaultId, dekVersion, to, by.kid))
    .digest()
  const key: KeyObject = createPublicKey({ key: Buffer.from(victim.enc, 'base64url'), format: 'der', type: 'spki' })
  const padding = { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }
  const ct = publicEncrypt(padding, Buffer.concat([Buffer.of(1), dek, inner])).toString('base64url')
  const commit = Buffer.from(
    hkdfSync('sha256', dek, 'vault.v3', lp('vault.v3/dek-commit', org, vaultId, dekVersion), 32),
  ).toString('base64url')
  const dekCommit = isHonestCommit ? payload.dekCommit : commit
  return makeDocument(wrappedDek, { ...members, ct, dekCommit, at: Date.now() }, [by])
}

// RSA keys that no client may accept.

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size =
    length < 128
      ? Buffer.of(length)
      : length < 256
        ? Buffer.of(0x81, length)
        : Buffer.of(0x82, length >> 8, length & 255)
  return Buffer.concat([Buffer.of(tag), size, content])
}
const integer = (n: bigint): Buffer => {
  const hex = n.toString(16)
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  return der(2, (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.of(0), bytes]) : bytes)
}
const RSA_ALGORITHM = Buffer.from('300d06092a864886f70d0101010500', 'hex')
const spkiOf = (modulus: bigint, exponent: bigint): Buffer =>
  der(0x30, RSA_ALGORITHM, der(3, Buffer.of(0), der(0x30, integer(modulus), integer(exponent))))

/** The highest and the lowest bit set, as the modulus of a real key has them. */
const randomOdd = (bits: number): bigint =>
  BigInt(`0x${randomBytes(bits / 8).toString('hex')}`) | (1n << BigInt(bits - 1)) | 1n

const isSmallPrime = (n: number): boolean => {
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false
  return n > 1
}

/** CVE-2017-15361: a power of 65537 modulo every small prime. */
function rocaModulus(): bigint {
  let primorial = 1n
  for (let n = 2; n <= 167; n += 1) if (isSmallPrime(n)) primorial *= BigInt(n)
  let power = 1n
  for (let i = 0; i < 11; i += 1) power = (power * 65_537n) % primorial
  return (randomOdd(2048) / primorial) * primorial + power
}

export const WEAK = {
  short: () => spkiOf(randomOdd(1024), 65_537n),
  'exponent one': () => spkiOf(randomOdd(2048), 1n),
  'even modulus': () => spkiOf(randomOdd(2048) - 1n, 65_537n),
  'ROCA form': () => spkiOf(rocaModulus(), 65_537n),
} as const

/** A bundle with another RSA key and a signing key of the attacker's. */
export const bundleWith = (spki: Buffer): KeyBundle => ({
  enc: spki.toString('base64url'),
  encAlg: 'RSA-OAEP-256',
  sig: generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
  sigAlg: 'EdDSA',
})

/** A registration in the name of an admin who knows nothing of it. */
export const unendorsed = (org: string, newcomer: Identity, endorser: string): Promise<Envelope> =>
  addSignatures(
    draftDocument(keyAdd, {
      org,
      at: Date.now(),
      by: endorser,
      kid: newcomer.kid,
      key: newcomer.key.bundle,
      caps: [newcomer.kid.startsWith('agent:') ? 'agent' : 'member'],
    }),
    [newcomer],
  )
