import * as crypto from 'node:crypto'
import { aesGcm, u64, utf8 } from './reference.ts'

// FLOE with segments of 1 MiB, a second time, from its specification (c2sp.org/FLOE).

export const SEGMENT = 1_048_576
export const FULL: number = SEGMENT - 32

export const u32 = (value: number): Buffer => Buffer.from(value.toString(16).padStart(8, '0'), 'hex')

/** HKDF-Expand with SHA-384 (RFC 5869 section 2.3). */
function expand(key: Uint8Array, info: Uint8Array, length: number): Buffer {
  let [block, out] = [Buffer.alloc(0), Buffer.alloc(0)]
  for (let i = 1; out.length < length; i++) {
    block = crypto
      .createHmac('sha384', key)
      .update(Buffer.concat([block, info, Buffer.of(i)]))
      .digest()
    out = Buffer.concat([out, block])
  }
  return out.subarray(0, length)
}

export interface Random {
  readonly contentKey: string
  readonly wrapNonce: string
  readonly metaNonce: string
  readonly iv: string
  readonly segmentNonces: readonly string[]
}

export function floe(key: Uint8Array, aad: Uint8Array, plaintext: Uint8Array, { iv, segmentNonces }: Random): Buffer {
  const prefix = Buffer.concat([Buffer.of(0, 0), u32(SEGMENT), u32(32), Buffer.from(iv, 'hex')])
  const derive = (from: Uint8Array, purpose: Uint8Array, length: number) =>
    expand(from, Buffer.concat([prefix, purpose, aad]), length)
  const messageKey = derive(key, utf8('MESSAGE_KEY:'), 48)
  const segmentKey = derive(messageKey, Buffer.concat([utf8('DEK:'), u64(0)]), 32)
  const segments = segmentNonces.map((nonce, i) => {
    const isLast = i === segmentNonces.length - 1
    const part = plaintext.subarray(i * FULL, (i + 1) * FULL)
    const sealed = aesGcm(
      segmentKey,
      Buffer.from(nonce, 'hex'),
      part,
      Buffer.concat([u64(i), Buffer.of(isLast ? 1 : 0)]),
    )
    return Buffer.concat([u32(isLast ? sealed.length + 16 : 0xffff_ffff), Buffer.from(nonce, 'hex'), sealed])
  })
  return Buffer.concat([prefix, derive(key, utf8('HEADER_TAG:'), 32), ...segments])
}
