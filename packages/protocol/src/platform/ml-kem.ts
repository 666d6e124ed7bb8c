import { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
import type { Bytes } from '../encoding/bytes.ts'
import type { MlKemKeyPair, PlatformKey } from './platform.ts'

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
