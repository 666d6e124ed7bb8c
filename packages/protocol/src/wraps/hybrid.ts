import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat } from '../encoding/bytes.ts'
import { lp } from '../encoding/lp.ts'
import { ensure } from '../errors.ts'
import type { CheckedKey } from '../identity/key-bundle.ts'
import type { Recipient } from '../identity/private-keys.ts'
import { deriveKey } from '../values/dek.ts'

// Section 3.4, W2: RSA-OAEP-256 + ML-KEM-768. Both ciphertexts and both keys are in the KDF: safe if either scheme is.

const SHARE_BYTES = 32
// Each KEK is used once, so its nonce is constant.
const NONCE = new Uint8Array(12)

export interface HybridBox {
  readonly ct: string
  readonly ct2: string
  readonly box: string
}

function combine(
  to: CheckedKey,
  kem: Bytes,
  context: Uint8Array,
  shares: readonly [Bytes, Bytes],
  ct: Bytes,
  ct2: Bytes,
): Bytes {
  const bound = [ct, ct2, to.encSpki, kem].map((part) => platform.sha256(part))
  return deriveKey(concat(...shares), lp('vault.v3/hybrid', context, ...bound), 32)
}

export async function hybridSeal(
  to: CheckedKey,
  kem: Bytes,
  payload: Uint8Array,
  context: Uint8Array,
): Promise<HybridBox> {
  const k1 = platform.randomBytes(SHARE_BYTES)
  const ct = await platform.rsaOaepEncrypt(to.encSpki, k1)
  const { ciphertext: ct2, sharedSecret: k2 } = await platform.mlKemEncapsulate(kem)
  const box = await platform.aesGcmSeal(combine(to, kem, context, [k1, k2], ct, ct2), NONCE, payload, context)
  return { ct: toBase64url(ct), ct2: toBase64url(ct2), box: toBase64url(box) }
}

export async function hybridOpen(
  recipient: Recipient,
  sealed: HybridBox,
  context: Uint8Array,
): Promise<Bytes | undefined> {
  const { kem } = recipient.key
  ensure(kem && recipient.decapsulate, 'alg_downgrade', 'a hybrid wrap was sent to a key without ML-KEM')
  const ct = fromBase64url(sealed.ct)
  const ct2 = fromBase64url(sealed.ct2)
  const k1 = await recipient.rsaDecrypt(ct)
  if (k1?.length !== SHARE_BYTES) return undefined
  const k2 = await recipient.decapsulate(ct2)
  return platform.aesGcmOpen(
    combine(recipient.key, kem, context, [k1, k2], ct, ct2),
    NONCE,
    fromBase64url(sealed.box),
    context,
  )
}
