import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat, equalBytes } from '../encoding/bytes.ts'
import { lp } from '../encoding/lp.ts'
import { bytesText, hash, integer, literal } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { defineKind, type Envelope, makeDocument, type PayloadOf } from '../identity/document.ts'
import { kidText, vaultIdText } from '../identity/identifiers.ts'
import type { CheckedKey } from '../identity/key-bundle.ts'
import type { Recipient, Signer } from '../identity/private-keys.ts'
import type { Awaitable } from '../platform/platform.ts'
import { DEK_BYTES, type Dek, dekBytes, openDek } from '../values/dek.ts'
import { hybridOpen, hybridSeal } from './hybrid.ts'

// Sections 3.2 and 3.4: a vault key wrapped for one recipient key, signed by the one who wrapped it.

const MAX_RSA_BYTES = 512
export const wrappedDek = defineKind(
  'wrapped-dek',
  {
    vaultId: vaultIdText,
    dekVersion: integer(1, 0xffff_ffff),
    dekCommit: hash,
    to: kidText,
    alg: literal('RSA-OAEP-256', 'RSA-OAEP-256+ML-KEM-768'),
    ct: bytesText(256, MAX_RSA_BYTES),
  },
  // W2 only: the ML-KEM ciphertext, and the payload under the combined key.
  { ct2: bytesText(1088, 1088), box: bytesText(81, 81) },
)
export type WrappedDekPayload = PayloadOf<typeof wrappedDek>

const CONTEXT_BYTES = 32
const PAYLOAD_BYTES = 1 + DEK_BYTES + CONTEXT_BYTES

interface WrapContext {
  readonly org: string
  readonly vaultId: string
  readonly dekVersion: number
  readonly to: string
  readonly by: string
}

/**
 * The context sits inside the encryption: `by` stops stripping and signing anew, `to` stops forwarding.
 * It is in the plaintext and not in the OAEP label, because cloud key services decrypt without labels.
 */
const contextOf = ({ org, vaultId, dekVersion, to, by }: WrapContext): Bytes =>
  lp('vault.v3/wrap', org, vaultId, dekVersion, to, by)

const payloadOf = (dek: Dek, context: Uint8Array): Bytes =>
  concat(Uint8Array.of(1), dekBytes(dek), platform.sha256(context))

/** Wraps a vault key for one recipient key and signs the wrap: hybrid if the recipient's bundle is (3.4). */
export async function wrapDek(dek: Dek, to: CheckedKey, by: Signer, at: number): Promise<Envelope> {
  const { org, vaultId, dekVersion, dekCommit } = dek
  const context = contextOf({ org, vaultId, dekVersion, to: to.kid, by: by.kid })
  const payload = payloadOf(dek, context)
  const place = { org, at, vaultId, dekVersion, dekCommit, to: to.kid }
  if (to.kem)
    return makeDocument(
      wrappedDek,
      { ...place, alg: 'RSA-OAEP-256+ML-KEM-768', ...(await hybridSeal(to, to.kem, payload, context)) },
      [by],
    )
  const ct = toBase64url(await platform.rsaOaepEncrypt(to.encSpki, payload))
  return makeDocument(wrappedDek, { ...place, alg: 'RSA-OAEP-256', ct }, [by])
}

declare const verifiedWrap: unique symbol
/**
 * A wrapped key whose grant, signature and author were verified (3.2, 3.3). Only `verifyWrappedKey` makes one,
 * and only such a key is ever given to a private key: there is no decryption of unverified input to make an oracle of.
 */
export interface VerifiedWrappedKey {
  readonly [verifiedWrap]: true
  readonly payload: WrappedDekPayload
  readonly hash: string
}

/** RSA, context, commitment: the last three steps of 3.2. Every failure before the context check looks the same. */
export async function unwrapDek(wrapped: VerifiedWrappedKey, recipient: Recipient): Promise<Dek> {
  const { payload, hash: wrap } = wrapped
  ensure(payload.to === recipient.kid, 'wrap_context', 'a wrapped key is for another recipient', { to: payload.to })
  const context = contextOf(payload)
  const opened = recipient.memory?.recall(wrap) ?? (await openPayload(payload, recipient, context))
  ensure(opened?.length === PAYLOAD_BYTES && opened[0] === 1, 'wrap_context', 'a wrapped key does not open')
  const inner = opened.subarray(1 + DEK_BYTES)
  ensure(equalBytes(inner, platform.sha256(context)), 'wrap_context', 'a wrapped key was made for another context', {
    vaultId: payload.vaultId,
  })
  // Copied, also where a key service gave a Buffer, whose slice() would share the memory the service may wipe.
  const dek = openDek(new Uint8Array(opened.subarray(1, 1 + DEK_BYTES)), payload, payload.dekCommit)
  await recipient.memory?.keep(wrap, opened)
  return dek
}

const openPayload = (
  payload: WrappedDekPayload,
  recipient: Recipient,
  context: Uint8Array,
): Awaitable<Bytes | undefined> =>
  payload.alg === 'RSA-OAEP-256'
    ? recipient.rsaDecrypt(fromBase64url(payload.ct))
    : openHybrid(payload, recipient, context)

async function openHybrid(
  payload: WrappedDekPayload,
  recipient: Recipient,
  context: Uint8Array,
): Promise<Bytes | undefined> {
  const { ct2, box } = payload
  ensure(ct2 !== undefined && box !== undefined, 'malformed', 'a hybrid wrap lacks its second half')
  return hybridOpen(recipient, { ct: payload.ct, ct2, box }, context)
}

/** The algorithm follows from the recipient's key, never from the message: a hybrid key accepts no RSA-only wrap. */
export function checkWrapAlgorithm(payload: Pick<WrappedDekPayload, 'alg' | 'ct2' | 'box'>, to: CheckedKey): void {
  const expected = to.kem ? 'RSA-OAEP-256+ML-KEM-768' : 'RSA-OAEP-256'
  ensure(payload.alg === expected, 'alg_downgrade', 'a wrap uses another algorithm than its recipient’s key')
  const isHybrid = to.kem !== null
  const isComplete = (payload.ct2 !== undefined) === isHybrid && (payload.box !== undefined) === isHybrid
  ensure(isComplete, 'malformed', 'a wrap has members of another algorithm')
}
