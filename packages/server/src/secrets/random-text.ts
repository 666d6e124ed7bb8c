import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 4096

/**
 * Random text, drawn from a pool that is filled by the page: asking the generator for a few bytes costs many times the bytes.
 * For names only; a secret is never drawn from a pool that lies in memory before and after.
 */
export function makeRandomText(encode: (random: Buffer) => string): (length: number) => string {
  const random = Buffer.alloc(POOL_BYTES)
  let pool = ''
  let at = 0
  return (length) => {
    if (at + length > pool.length) {
      pool = encode(randomFillSync(random))
      at = 0
    }
    at += length
    return pool.slice(at - length, at)
  }
}
