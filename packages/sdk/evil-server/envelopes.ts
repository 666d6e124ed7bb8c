import { randomBytes } from 'node:crypto'
import { need } from './attack.ts'

// Ciphertexts of values: `v3.` and base64url of 6 bytes of header, 12 of nonce, the sealed value and 16 of tag.

const HEADER = 6
const NONCE = 12

export const bytesIn = (envelope: string): Buffer => Buffer.from(envelope.slice(3), 'base64url')
export const envelopeOf = (bytes: Buffer): string => `v3.${bytes.toString('base64url')}`

/** One bit, counted from the beginning, or from the end where it is negative. */
export function flipped(envelope: string, at: number): string {
  const bytes = bytesIn(envelope)
  const index = at < 0 ? bytes.length + at : at
  bytes[index] = need(bytes[index], 'a ciphertext') ^ 1
  return envelopeOf(bytes)
}

export const PARTS = { header: HEADER - 1, nonce: HEADER, ciphertext: HEADER + NONCE, tag: -1 } as const

/** The nonce of one value put into another. */
export function withNonceOf(envelope: string, other: string): string {
  const bytes = bytesIn(envelope)
  bytesIn(other).copy(bytes, HEADER, HEADER, HEADER + NONCE)
  return envelopeOf(bytes)
}

/** In the form of a ciphertext, under a key of somebody else. */
export const foreign = (like: string): string =>
  envelopeOf(Buffer.concat([bytesIn(like).subarray(0, HEADER), randomBytes(bytesIn(like).length - HEADER)]))
