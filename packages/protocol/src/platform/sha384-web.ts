import { hmac } from '@noble/hashes/hmac.js'
import { sha384 } from '@noble/hashes/sha2.js'
import type { Bytes } from '../encoding/bytes.ts'
import { expandHkdf } from './hkdf-expand.ts'

/** HKDF-Expand only, as FLOE uses it. Beside the platform, since only attachments need it and SHA-384 is large in script. */
export const hkdfExpandSha384 = (key: Uint8Array, info: Uint8Array, length: number): Bytes =>
  expandHkdf((data) => new Uint8Array(hmac(sha384, key, data)), info, length)
