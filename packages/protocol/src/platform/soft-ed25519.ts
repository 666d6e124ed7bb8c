import { ed25519 } from '@noble/curves/ed25519.js'
import type { Bytes } from '../encoding/bytes.ts'
import { hasIdentityR } from './identity-r.ts'

// Ed25519 in script (@noble/curves), for browsers that have none of their own. Large, so it is loaded only there.

const own = (bytes: Uint8Array): Bytes => new Uint8Array(bytes)
const rawEd25519 = (spki: Uint8Array): Uint8Array => spki.subarray(spki.length - 32)

/** The fallback agrees with platforms only if R is torsion-free and not the identity as well (section 2.1). */
export function softEd25519Verify(spki: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    if (hasIdentityR(signature)) return false
    if (!ed25519.verify(signature, message, rawEd25519(spki), { zip215: false })) return false
    return ed25519.Point.fromBytes(signature.subarray(0, 32)).isTorsionFree()
  } catch {
    return false
  }
}

export const softEd25519Sign = (seed: Uint8Array, message: Uint8Array): Bytes => own(ed25519.sign(message, seed))
export const softEd25519PublicKey = (seed: Uint8Array): Bytes => own(ed25519.getPublicKey(seed))
