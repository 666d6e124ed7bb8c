import { fromBase64url, toBase64, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat, utf8 } from '../encoding/bytes.ts'
import { expandHkdf } from './hkdf-expand.ts'
import { hasIdentityR } from './identity-r.ts'
import type { Platform, PlatformKey } from './platform.ts'
import { hmacSha256, makeHmacSha256, makeSha256, sha256 } from './sha256-web.ts'

// WebCrypto for AEAD, RSA and Ed25519; script for hashing, which is nine times faster than digest calls on small inputs.

const source = (bytes: Uint8Array): Bytes => bytes as Bytes
const subtle = globalThis.crypto.subtle

const cryptoKey = (key: PlatformKey): CryptoKey => key as unknown as CryptoKey
const platformKey = (key: CryptoKey): PlatformKey => key as unknown as PlatformKey

// Keyed by identity: an item key that is kept and used again is imported once.
const aesKeys = new WeakMap<Uint8Array, Promise<CryptoKey>>()

function aesKey(key: Uint8Array): Promise<CryptoKey> {
  let imported = aesKeys.get(key)
  if (!imported) {
    imported = subtle.importKey('raw', source(key), 'AES-GCM', false, ['encrypt', 'decrypt'])
    aesKeys.set(key, imported)
  }
  return imported
}

const PUBLIC_KEY_CACHE_SIZE = 1024
const publicKeys = new Map<string, Promise<CryptoKey>>()

function publicKey(spki: Uint8Array, algorithm: 'Ed25519' | 'RSA-OAEP' | 'RSA-PSS'): Promise<CryptoKey> {
  const name = `${algorithm} ${toBase64(spki)}`
  const known = publicKeys.get(name)
  if (known) return known
  const usage: KeyUsage[] = algorithm === 'RSA-OAEP' ? ['encrypt'] : ['verify']
  const key = subtle.importKey('spki', source(spki), { name: algorithm, hash: 'SHA-256' }, false, usage)
  if (publicKeys.size >= PUBLIC_KEY_CACHE_SIZE) publicKeys.delete(publicKeys.keys().next().value as string)
  publicKeys.set(name, key)
  return key
}

const RSA_OAEP = { name: 'RSA-OAEP', hash: 'SHA-256' }
const RSA_PSS = { name: 'RSA-PSS', hash: 'SHA-256' }
const PSS = { name: 'RSA-PSS', saltLength: 32 }

let ed25519Support: Promise<boolean> | undefined
/** Asked once: some browsers have no Ed25519 in WebCrypto. */
const hasEd25519 = (): Promise<boolean> => {
  ed25519Support ??= subtle.generateKey('Ed25519', false, ['sign', 'verify']).then(
    () => true,
    () => false,
  )
  return ed25519Support
}

// In script, and together half of all code of this package: loaded where a platform or a key needs them, and not before.
const soft = () => import('./soft-ed25519.ts')
const mlKem = async () => (await import('./ml-kem.ts')).softMlKem

const softEd25519Keys = new WeakMap<PlatformKey, Uint8Array>()
const ED25519_PKCS8_PREFIX_LENGTH = 16

export const platform: Platform = {
  randomBytes: (length) => globalThis.crypto.getRandomValues(new Uint8Array(length)),
  allocate: (length) => new Uint8Array(length),
  sha256,
  sha256OfText: (text) => sha256(utf8(text)),
  sha256Base64url: (data) => toBase64url(sha256(data)),
  hmacSha256,
  hkdfSha256: (ikm, salt, info, length) => {
    const extracted = hmacSha256(salt, ikm)
    return expandHkdf((data) => hmacSha256(extracted, data), info, length)
  },
  makeSha256,
  makeHmacSha256,

  aesGcmSeal: async (key, nonce, plaintext, aad) =>
    new Uint8Array(
      await subtle.encrypt(
        { name: 'AES-GCM', iv: source(nonce), additionalData: source(aad) },
        await aesKey(key),
        source(plaintext),
      ),
    ),
  aesGcmOpen: async (key, nonce, sealed, aad) => {
    const parameters = { name: 'AES-GCM', iv: source(nonce), additionalData: source(aad) }
    const opened = subtle.decrypt(parameters, await aesKey(key), source(sealed))
    return opened.then(
      (plaintext) => new Uint8Array(plaintext),
      () => undefined,
    )
  },

  aesGcmSealInto: async (key, nonce, plaintext, aad, target) =>
    target.set(await platform.aesGcmSeal(key, nonce, plaintext, aad)),
  aesGcmOpenInto: async (key, nonce, sealed, aad, target) => {
    const opened = await platform.aesGcmOpen(key, nonce, sealed, aad)
    if (opened) target.set(opened)
    else target.fill(0)
    return opened !== undefined
  },

  ed25519Verify: async (spki, message, signature) => {
    if (!(await hasEd25519())) return (await soft()).softEd25519Verify(spki, message, signature)
    const key = await publicKey(spki, 'Ed25519')
    return !hasIdentityR(signature) && subtle.verify('Ed25519', key, source(signature), source(message))
  },
  ed25519Sign: async (key, message) => {
    const seed = softEd25519Keys.get(key)
    return seed
      ? (await soft()).softEd25519Sign(seed, message)
      : new Uint8Array(await subtle.sign('Ed25519', cryptoKey(key), source(message)))
  },
  rsaPssVerify: async (spki, message, signature) =>
    subtle.verify(PSS, await publicKey(spki, 'RSA-PSS'), source(signature), source(message)),
  rsaPssSign: async (key, message) => new Uint8Array(await subtle.sign(PSS, cryptoKey(key), source(message))),
  rsaOaepEncrypt: async (spki, plaintext) =>
    new Uint8Array(await subtle.encrypt(RSA_OAEP, await publicKey(spki, 'RSA-OAEP'), source(plaintext))),
  rsaOaepDecrypt: (key, ciphertext) =>
    subtle.decrypt(RSA_OAEP, cryptoKey(key), source(ciphertext)).then(
      (plaintext) => new Uint8Array(plaintext),
      () => undefined,
    ),
  mlKemEncapsulate: async (key) => (await mlKem()).encapsulate(key),
  mlKemDecapsulate: async (key, ciphertext) => (await mlKem()).decapsulate(key, ciphertext),

  makeEd25519: () => ed25519Pkcs8(platform.randomBytes(32)),
  makeRsa: async (bits) => {
    const algorithm = { ...RSA_OAEP, modulusLength: bits, publicExponent: Uint8Array.of(1, 0, 1) }
    const pair = await subtle.generateKey(algorithm, true, ['encrypt', 'decrypt'])
    return new Uint8Array(await subtle.exportKey('pkcs8', pair.privateKey))
  },
  makeMlKem: async () => (await mlKem()).make(platform.randomBytes(64)),
  importEd25519: async (pkcs8) => {
    if (await hasEd25519()) {
      // Imported extractable once, to read the public half; the key that stays is not extractable.
      const readable = await subtle.importKey('pkcs8', source(pkcs8), 'Ed25519', true, ['sign'])
      const { x } = await subtle.exportKey('jwk', readable)
      const key = await subtle.importKey('pkcs8', source(pkcs8), 'Ed25519', false, ['sign'])
      return { key: platformKey(key), spki: ed25519Spki(fromBase64url(x as string)) }
    }
    const seed = pkcs8.slice(ED25519_PKCS8_PREFIX_LENGTH)
    const key: PlatformKey = {}
    softEd25519Keys.set(key, seed)
    return { key, spki: ed25519Spki((await soft()).softEd25519PublicKey(seed)) }
  },
  importRsa: async (pkcs8) => {
    // Imported extractable once, to read the public half; the two keys that stay are not extractable.
    const readable = await subtle.importKey('pkcs8', source(pkcs8), RSA_OAEP, true, ['decrypt'])
    const decryptKey = await subtle.importKey('pkcs8', source(pkcs8), RSA_OAEP, false, ['decrypt'])
    const signKey = await subtle.importKey('pkcs8', source(pkcs8), RSA_PSS, false, ['sign'])
    const { n, e } = await subtle.exportKey('jwk', readable)
    const publicHalf = { kty: 'RSA', n: n as string, e: e as string, alg: 'RSA-OAEP-256', ext: true }
    const publicCryptoKey = await subtle.importKey('jwk', publicHalf, RSA_OAEP, true, ['encrypt'])
    const spki = new Uint8Array(await subtle.exportKey('spki', publicCryptoKey))
    return { decryptKey: platformKey(decryptKey), signKey: platformKey(signKey), spki }
  },
  importMlKem: async (seed) => (await mlKem()).import(seed),
}

const ed25519Pkcs8 = (seed: Uint8Array): Bytes => concat(fromBase64url('MC4CAQAwBQYDK2VwBCIEIA'), seed)
const ed25519Spki = (key: Uint8Array): Bytes => concat(fromBase64url('MCowBQYDK2VwAyEA'), key)
