import type { Bytes } from '../encoding/bytes.ts'

export type Awaitable<T> = T | Promise<T>

/** Goes on at once where the platform answered at once: a promise for each field costs as much as opening the field. */
export const after = <T, U>(value: Awaitable<T>, next: (value: T) => U): Awaitable<U> =>
  value instanceof Promise ? value.then(next) : next(value)

/** A private key held by the platform; its bytes are never seen by this package again. */
export type PlatformKey = object & { readonly platformKey?: never }

export interface MlKemKeyPair {
  readonly publicKey: Bytes
  readonly seed: Bytes
}

/**
 * What the protocol needs from the machine it runs on. Node answers at once, browsers with promises, hence `Awaitable`;
 * hashing is always at once, because Merkle work is thousands of tiny hashes.
 * The object is internal: tests replace members of it to count private-key operations or to fix randomness.
 */
export interface Platform {
  randomBytes(length: number): Bytes
  /** Memory that holds anything at first: only for what is written in full before it is read or given out. */
  allocate(length: number): Bytes
  sha256(data: Uint8Array): Bytes
  /** Of the UTF-8 form, without making its bytes first where the platform can. */
  sha256OfText(text: string): Bytes
  sha256Base64url(data: Uint8Array): string
  hmacSha256(key: Uint8Array, data: Uint8Array): Bytes
  hkdfSha256(ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Bytes
  /** Hashes and MACs over streams. */
  makeSha256(): { update(data: Uint8Array): void; digest(): Bytes }
  makeHmacSha256(key: Uint8Array): { update(data: Uint8Array): void; digest(): Bytes }

  /** ct ‖ 16-byte tag. */
  aesGcmSeal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array, aad: Uint8Array): Awaitable<Bytes>
  /** `undefined` when the tag does not verify. */
  aesGcmOpen(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad: Uint8Array): Awaitable<Bytes | undefined>
  /** As `aesGcmSeal`, written into `target`, which is 16 bytes longer than the plaintext. */
  aesGcmSealInto(
    key: Uint8Array,
    nonce: Uint8Array,
    plaintext: Uint8Array,
    aad: Uint8Array,
    target: Uint8Array,
  ): Awaitable<void>
  /** As `aesGcmOpen`, written into `target`, which is 16 bytes shorter than `sealed`; `false`, and zeros, when the tag does not verify. */
  aesGcmOpenInto(
    key: Uint8Array,
    nonce: Uint8Array,
    sealed: Uint8Array,
    aad: Uint8Array,
    target: Uint8Array,
  ): Awaitable<boolean>

  ed25519Verify(spki: Uint8Array, message: Uint8Array, signature: Uint8Array): Awaitable<boolean>
  ed25519Sign(key: PlatformKey, message: Uint8Array): Awaitable<Bytes>
  rsaPssVerify(spki: Uint8Array, message: Uint8Array, signature: Uint8Array): Awaitable<boolean>
  rsaPssSign(key: PlatformKey, message: Uint8Array): Awaitable<Bytes>
  rsaOaepEncrypt(spki: Uint8Array, plaintext: Uint8Array): Awaitable<Bytes>
  /** `undefined` when the padding does not verify; callers give one error for every cause. */
  rsaOaepDecrypt(key: PlatformKey, ciphertext: Uint8Array): Awaitable<Bytes | undefined>
  mlKemEncapsulate(publicKey: Uint8Array): Awaitable<{ ciphertext: Bytes; sharedSecret: Bytes }>
  mlKemDecapsulate(key: PlatformKey, ciphertext: Uint8Array): Awaitable<Bytes>

  /** PKCS#8 in, SPKI out: the private keys of section 2.1. */
  makeEd25519(): Awaitable<Bytes>
  makeRsa(bits: number): Awaitable<Bytes>
  makeMlKem(): Awaitable<MlKemKeyPair>
  importEd25519(pkcs8: Uint8Array): Awaitable<{ key: PlatformKey; spki: Bytes }>
  /** `decrypt` for OAEP, `sign` for PSS: WebCrypto ties a key to one use. */
  importRsa(pkcs8: Uint8Array): Awaitable<{ decryptKey: PlatformKey; signKey: PlatformKey; spki: Bytes }>
  importMlKem(seed: Uint8Array): Awaitable<{ key: PlatformKey; publicKey: Bytes }>
}
