import { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
import { type Bytes, fromHex } from '../encoding/bytes.ts'
import type { MlKemKeyPair, PlatformKey } from './platform.ts'

/** DER around the raw ML-KEM-768 forms: SubjectPublicKeyInfo, and PKCS#8 with the 64-byte seed. */
export const ML_KEM_SPKI_PREFIX: Bytes = fromHex('308204b2300b0609608648016503040402038204a100')
export const ML_KEM_PKCS8_PREFIX: Bytes = fromHex('3054020100300b060960864801650304040204428040')

const own = (bytes: Uint8Array): Bytes => new Uint8Array(bytes)
const softKeys = new WeakMap<PlatformKey, Uint8Array>()

/** ML-KEM-768 in script, for platforms that have none of their own (@noble/post-quantum). */
export const softMlKem = {
  make(seed: Bytes): MlKemKeyPair {
    return { publicKey: own(ml_kem768.keygen(seed).publicKey), seed }
  },
  import(seed: Uint8Array): { key: PlatformKey; publicKey: Bytes } {
    const pair = ml_kem768.keygen(own(seed))
    const key: PlatformKey = {}
    softKeys.set(key, pair.secretKey)
    return { key, publicKey: own(pair.publicKey) }
  },
  encapsulate(publicKey: Uint8Array): { ciphertext: Bytes; sharedSecret: Bytes } {
    const { cipherText, sharedSecret } = ml_kem768.encapsulate(own(publicKey))
    return { ciphertext: own(cipherText), sharedSecret: own(sharedSecret) }
  },
  decapsulate(key: PlatformKey, ciphertext: Uint8Array): Bytes {
    const secretKey = softKeys.get(key)
    if (!secretKey) throw new TypeError('not an ML-KEM key')
    return own(ml_kem768.decapsulate(own(ciphertext), secretKey))
  },
}
