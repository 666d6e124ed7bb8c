import { createHmac } from 'node:crypto'
import type { Bytes } from '../encoding/bytes.ts'
import { expandHkdf } from './hkdf-expand.ts'
import { plain, secretKey } from './node.ts'

/** HKDF-Expand only, as FLOE uses it. */
export const hkdfExpandSha384 = (key: Uint8Array, info: Uint8Array, length: number): Bytes =>
  expandHkdf((data) => plain(createHmac('sha384', secretKey(key)).update(data).digest()), info, length)
