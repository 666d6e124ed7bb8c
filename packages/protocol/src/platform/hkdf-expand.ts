import { type Bytes, concat } from '../encoding/bytes.ts'

/** RFC 5869 section 2.3, over an HMAC that already holds its key. */
export function expandHkdf(hmac: (data: Uint8Array) => Bytes, info: Uint8Array, length: number): Bytes {
  let block: Bytes = new Uint8Array(0)
  let out: Bytes = new Uint8Array(0)
  for (let counter = 1; out.length < length; counter++) {
    // The counter is one byte: it must not come back to a block that was given out before.
    if (counter > 255) throw new RangeError('HKDF gives at most 255 blocks')
    block = hmac(concat(block, info, Uint8Array.of(counter)))
    out = concat(out, block)
  }
  return out.slice(0, length)
}
