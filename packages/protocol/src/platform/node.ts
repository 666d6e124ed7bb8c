import * as crypto from 'node:crypto'
import { promisify } from 'node:util'
import { fromBase64url, toBase64, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat } from '../encoding/bytes.ts'
import { ed25519KeyIn, ed25519SecretIn, encodeEd25519Spki, encodeRsaSpki, rsaNumbersIn } from '../identity/der.ts'
import { hasIdentityR } from './identity-r.ts'
import { ML_KEM_PKCS8_PREFIX, ML_KEM_SPKI_PREFIX } from './ml-kem-der.ts'
import type { Platform, PlatformKey } from './platform.ts'

// Synchronous node:crypto inside: for small values it is six times faster than WebCrypto.

export const plain = (buffer: Uint8Array): Bytes =>
  new Uint8Array(buffer.buffer as ArrayBuffer, buffer.byteOffset, buffer.byteLength)

const PUBLIC_KEY_CACHE_SIZE = 1024
const publicKeys = new Map<string, crypto.KeyObject>()
const publicKeysByIdentity = new WeakMap<Uint8Array, crypto.KeyObject>()

/** OpenSSL takes four times as long to find out what DER holds as to take the key that is in it. */
function importPublic(spki: Uint8Array): crypto.KeyObject {
  const x = ed25519KeyIn(spki)
  if (!x) return crypto.createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
  return crypto.createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: toBase64url(x) }, format: 'jwk' })
}

/** Parsing an SPKI costs as much as a verification, and the same few signers come again and again. */
function publicKey(spki: Uint8Array): crypto.KeyObject {
  const known = publicKeysByIdentity.get(spki)
  if (known) return known
  const name = toBase64(spki)
  const key = publicKeys.get(name) ?? importPublic(spki)
  if (publicKeys.size >= PUBLIC_KEY_CACHE_SIZE) publicKeys.delete(publicKeys.keys().next().value as string)
  publicKeys.set(name, key)
  publicKeysByIdentity.set(spki, key)
  return key
}

const secretKeys = new WeakMap<Uint8Array, crypto.KeyObject>()

/** Given raw bytes, node:crypto spends several times the work of the cipher on finding out what they are. Keys are never changed in place. */
export function secretKey(bytes: Uint8Array): crypto.KeyObject {
  const known = secretKeys.get(bytes)
  if (known) return known
  const key = crypto.createSecretKey(bytes)
  secretKeys.set(bytes, key)
  return key
}

/** A digest as a binary string is made twice as fast as one in a Buffer, also when its bytes are then copied. */
function digestBytes(digest: string): Bytes {
  const out = new Uint8Array(digest.length)
  for (let i = 0; i < out.length; i++) out[i] = digest.charCodeAt(i)
  return out
}

const keyObject = (key: PlatformKey): crypto.KeyObject => key as unknown as crypto.KeyObject
const platformKey = (key: crypto.KeyObject): PlatformKey => key as unknown as PlatformKey

const privateKey = (pkcs8: Uint8Array): crypto.KeyObject =>
  crypto.createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })

interface Raw {
  readonly key: Uint8Array
  readonly format: 'raw-private' | 'raw-seed'
  readonly asymmetricKeyType: 'ed25519' | 'ml-kem-768'
}

/** The key itself, which newer versions of Node take; the others find it in its DER. */
function rawPrivateKey(raw: Raw, pkcs8: () => Uint8Array): crypto.KeyObject {
  try {
    return crypto.createPrivateKey({ ...raw, key: Buffer.from(raw.key) })
  } catch {
    return privateKey(pkcs8())
  }
}

function ed25519PrivateKey(pkcs8: Uint8Array): crypto.KeyObject {
  const key = ed25519SecretIn(pkcs8)
  if (!key) return privateKey(pkcs8)
  return rawPrivateKey({ key, format: 'raw-private', asymmetricKeyType: 'ed25519' }, () => pkcs8)
}

function rsaPrivateKey(pkcs8: Uint8Array): crypto.KeyObject {
  const numbers = rsaNumbersIn(pkcs8)
  if (!numbers) return privateKey(pkcs8)
  const [n = '', e = '', d = '', p = '', q = '', dp = '', dq = '', qi = ''] = numbers.map(toBase64url)
  return crypto.createPrivateKey({ key: { kty: 'RSA', n, e, d, p, q, dp, dq, qi }, format: 'jwk' })
}

// OpenSSL takes longer to write public halves down than to have them.

function ed25519SpkiOf(key: crypto.KeyObject): Bytes {
  const { x = '' } = crypto.createPublicKey(key).export({ format: 'jwk' })
  return encodeEd25519Spki(fromBase64url(x))
}

function rsaSpkiOf(key: crypto.KeyObject): Bytes {
  const { n = '', e = '' } = crypto.createPublicKey(key).export({ format: 'jwk' })
  return encodeRsaSpki({ modulus: fromBase64url(n), exponent: fromBase64url(e) })
}

function mlKemPublicOf(key: crypto.KeyObject): Bytes {
  const half = crypto.createPublicKey(key)
  try {
    return plain(half.export({ format: 'raw-public' }))
  } catch {
    return plain(half.export({ format: 'der', type: 'spki' })).slice(ML_KEM_SPKI_PREFIX.length)
  }
}

const pkcs8Of = (key: crypto.KeyObject): Bytes => plain(key.export({ format: 'der', type: 'pkcs8' }))

const OAEP = { padding: crypto.constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }
const PSS = { padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }

const generateKeyPair = promisify(crypto.generateKeyPair)

interface Kem {
  encapsulate(key: crypto.KeyObject): { sharedKey: Buffer; ciphertext: Buffer }
  decapsulate(key: crypto.KeyObject, ciphertext: Uint8Array): Buffer
}
const ML_KEM_SEED_BYTES = 64

/** Loaded where it is used: whoever reads secrets on Node 24 never does, and starts sooner. */
const script = () => import('./ml-kem.ts')
// Node 24 brings ML-KEM; older ones use the script implementation.
const nativeKem = 'encapsulate' in crypto && 'decapsulate' in crypto ? (crypto as unknown as Kem) : undefined

export const platform: Platform = {
  randomBytes: (length) => plain(crypto.randomBytes(length)),
  // Never from the shared pool: a chunk that is given out must not carry its neighbours along.
  allocate: (length) => plain(Buffer.allocUnsafeSlow(length)),
  sha256: (data) => digestBytes(crypto.hash('sha256', data, 'binary')),
  sha256OfText: (text) => digestBytes(crypto.hash('sha256', text, 'binary')),
  sha256Base64url: (data) => crypto.hash('sha256', data, 'base64url'),
  hmacSha256: (key, data) => plain(crypto.createHmac('sha256', secretKey(key)).update(data).digest()),
  hkdfSha256: (ikm, salt, info, length) =>
    new Uint8Array(crypto.hkdfSync('sha256', secretKey(ikm), salt, info, length)),
  makeSha256: () => streaming(crypto.createHash('sha256')),
  makeHmacSha256: (key) => streaming(crypto.createHmac('sha256', secretKey(key))),

  aesGcmSeal(key, nonce, plaintext, aad) {
    const cipher = crypto.createCipheriv('aes-256-gcm', secretKey(key), nonce)
    cipher.setAAD(aad)
    const body = cipher.update(plaintext)
    cipher.final()
    return concat(body, cipher.getAuthTag())
  },
  aesGcmOpen(key, nonce, sealed, aad) {
    if (sealed.length < 16) return undefined
    const decipher = crypto.createDecipheriv('aes-256-gcm', secretKey(key), nonce, { authTagLength: 16 })
    decipher.setAAD(aad)
    decipher.setAuthTag(sealed.subarray(sealed.length - 16))
    const body = decipher.update(sealed.subarray(0, sealed.length - 16))
    try {
      decipher.final()
    } catch {
      return undefined
    }
    return plain(body)
  },

  aesGcmSealInto(key, nonce, plaintext, aad, target) {
    const cipher = crypto.createCipheriv('aes-256-gcm', secretKey(key), nonce)
    cipher.setAAD(aad)
    updateInto(cipher, plaintext, target)
    cipher.final()
    target.set(cipher.getAuthTag(), plaintext.length)
  },
  aesGcmOpenInto(key, nonce, sealed, aad, target) {
    if (sealed.length < 16) return false
    const decipher = crypto.createDecipheriv('aes-256-gcm', secretKey(key), nonce, { authTagLength: 16 })
    decipher.setAAD(aad)
    decipher.setAuthTag(sealed.subarray(sealed.length - 16))
    updateInto(decipher, sealed.subarray(0, sealed.length - 16), target)
    try {
      decipher.final()
    } catch {
      target.fill(0)
      return false
    }
    return true
  },

  ed25519Verify: (spki, message, signature) =>
    !hasIdentityR(signature) && crypto.verify(null, message, publicKey(spki), signature),
  ed25519Sign: (key, message) => plain(crypto.sign(null, message, keyObject(key))),
  rsaPssVerify: (spki, message, signature) =>
    crypto.verify('sha256', message, { key: publicKey(spki), ...PSS }, signature),
  rsaPssSign: (key, message) => plain(crypto.sign('sha256', message, { key: keyObject(key), ...PSS })),
  rsaOaepEncrypt: (spki, plaintext) => plain(crypto.publicEncrypt({ key: publicKey(spki), ...OAEP }, plaintext)),
  rsaOaepDecrypt(key, ciphertext) {
    try {
      return plain(crypto.privateDecrypt({ key: keyObject(key), ...OAEP }, ciphertext))
    } catch {
      return undefined
    }
  },
  mlKemEncapsulate(key) {
    if (!nativeKem) return script().then(({ softMlKem }) => softMlKem.encapsulate(key))
    const { ciphertext, sharedKey } = nativeKem.encapsulate(publicKey(concat(ML_KEM_SPKI_PREFIX, key)))
    return { ciphertext: plain(ciphertext), sharedSecret: plain(sharedKey) }
  },
  mlKemDecapsulate: (key, ciphertext) =>
    nativeKem
      ? plain(nativeKem.decapsulate(keyObject(key), ciphertext))
      : script().then(({ softMlKem }) => softMlKem.decapsulate(key, ciphertext)),

  makeEd25519: async () => pkcs8Of((await generateKeyPair('ed25519', {})).privateKey),
  makeRsa: async (bits) =>
    pkcs8Of((await generateKeyPair('rsa', { modulusLength: bits, publicExponent: 65_537 })).privateKey),
  makeMlKem: async () => (await script()).softMlKem.make(platform.randomBytes(64)),
  importEd25519(pkcs8) {
    const key = ed25519PrivateKey(pkcs8)
    if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('not an Ed25519 key')
    return { key: platformKey(key), spki: ed25519SpkiOf(key) }
  },
  importRsa(pkcs8) {
    const key = rsaPrivateKey(pkcs8)
    if (key.asymmetricKeyType !== 'rsa') throw new TypeError('not an RSA key')
    return { decryptKey: platformKey(key), signKey: platformKey(key), spki: rsaSpkiOf(key) }
  },
  importMlKem(seed) {
    if (!nativeKem) return script().then(({ softMlKem }) => softMlKem.import(seed))
    // OpenSSL does not mind bytes behind the key.
    if (seed.length !== ML_KEM_SEED_BYTES) throw new TypeError('not an ML-KEM seed')
    const raw: Raw = { key: seed, format: 'raw-seed', asymmetricKeyType: 'ml-kem-768' }
    const key = rawPrivateKey(raw, () => concat(ML_KEM_PKCS8_PREFIX, seed))
    return { key: platformKey(key), publicKey: mlKemPublicOf(key) }
  },
}

const BLOCK_BYTES = 65_536

/**
 * node:crypto gives each output a buffer of its own. Taken in small blocks whose buffers are freed at once instead of by the
 * collector, the allocator hands out the same warm memory again: measured twice as fast as one large output, and flat.
 */
function updateInto(cipher: crypto.Cipheriv | crypto.Decipheriv, data: Uint8Array, target: Uint8Array): void {
  for (let at = 0; at < data.length; at += BLOCK_BYTES) {
    const block = cipher.update(data.subarray(at, at + BLOCK_BYTES))
    target.set(block, at)
    free(block)
  }
}

/** Only a buffer that nothing else shares, and only where the platform can (Node 22). */
function free({ buffer, byteLength }: Buffer): void {
  const owned = buffer as ArrayBuffer & { transfer?(length: number): ArrayBuffer }
  if (owned.byteLength === byteLength) owned.transfer?.(0)
}

function streaming(hash: crypto.Hash | crypto.Hmac): { update(data: Uint8Array): void; digest(): Bytes } {
  return {
    update: (data) => {
      hash.update(data)
    },
    digest: () => plain(hash.digest()),
  }
}
