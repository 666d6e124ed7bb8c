import { type Bytes, concat } from '../encoding/bytes.ts'

// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) for browsers: WebCrypto hashes only with a promise for each hash, and Merkle work is
// thousands of them. In a file of its own, without the tables and word sizes of other hashes: every page that reads loads it. The
// tests hold it against the platform's own at every length, cut in every way.

// biome-ignore format: eight in a line
const K = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
)

// biome-ignore format: eight in a line
const INITIAL = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]

const BLOCK = 64
const schedule = new Int32Array(64)

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by))
const at = (words: Int32Array, i: number): number => words[i] as number

function expand(block: Uint8Array, offset: number): void {
  for (let i = 0, from = offset; i < 16; i++, from += 4)
    schedule[i] =
      ((block[from] as number) << 24) |
      ((block[from + 1] as number) << 16) |
      ((block[from + 2] as number) << 8) |
      (block[from + 3] as number)
  for (let i = 16; i < 64; i++) {
    const early = at(schedule, i - 15)
    const late = at(schedule, i - 2)
    const s0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)
    const s1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10)
    schedule[i] = (at(schedule, i - 16) + s0 + at(schedule, i - 7) + s1) | 0
  }
}

function compress(state: Int32Array, block: Uint8Array, offset: number): void {
  expand(block, offset)
  let a = at(state, 0)
  let b = at(state, 1)
  let c = at(state, 2)
  let d = at(state, 3)
  let e = at(state, 4)
  let f = at(state, 5)
  let g = at(state, 6)
  let h = at(state, 7)
  for (let i = 0; i < 64; i++) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(K, i) + at(schedule, i)) | 0
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0] = at(state, 0) + a
  state[1] = at(state, 1) + b
  state[2] = at(state, 2) + c
  state[3] = at(state, 3) + d
  state[4] = at(state, 4) + e
  state[5] = at(state, 5) + f
  state[6] = at(state, 6) + g
  state[7] = at(state, 7) + h
}

function putWord(target: Uint8Array, offset: number, word: number): void {
  target[offset] = word >>> 24
  target[offset + 1] = word >>> 16
  target[offset + 2] = word >>> 8
  target[offset + 3] = word
}

export interface Hasher {
  update(data: Uint8Array): void
  digest(): Bytes
}

export function makeSha256(): Hasher {
  const state = Int32Array.from(INITIAL)
  const block = new Uint8Array(BLOCK)
  let filled = 0
  let total = 0
  const update = (data: Uint8Array): void => {
    total += data.length
    let from = 0
    if (filled > 0) {
      from = Math.min(BLOCK - filled, data.length)
      block.set(data.subarray(0, from), filled)
      filled += from
      if (filled < BLOCK) return
      compress(state, block, 0)
    }
    for (; from + BLOCK <= data.length; from += BLOCK) compress(state, data, from)
    block.set(data.subarray(from))
    filled = data.length - from
  }
  const digest = (): Bytes => {
    const bits = total * 8
    block[filled] = 0x80
    block.fill(0, filled + 1)
    if (filled >= BLOCK - 8) {
      compress(state, block, 0)
      block.fill(0)
    }
    putWord(block, BLOCK - 8, Math.floor(bits / 0x1_0000_0000))
    putWord(block, BLOCK - 4, bits % 0x1_0000_0000)
    compress(state, block, 0)
    const out = new Uint8Array(32)
    for (let i = 0; i < 8; i++) putWord(out, i * 4, at(state, i))
    // What was hashed may be a key.
    schedule.fill(0)
    block.fill(0)
    state.fill(0)
    return out
  }
  return { update, digest }
}

export function sha256(data: Uint8Array): Bytes {
  const hasher = makeSha256()
  hasher.update(data)
  return hasher.digest()
}

export function makeHmacSha256(key: Uint8Array): Hasher {
  const padded = new Uint8Array(BLOCK)
  padded.set(key.length > BLOCK ? sha256(key) : key)
  const inner = makeSha256()
  inner.update(padded.map((byte) => byte ^ 0x36))
  const outer = padded.map((byte) => byte ^ 0x5c)
  return { update: inner.update, digest: () => sha256(concat(outer, inner.digest())) }
}

export function hmacSha256(key: Uint8Array, data: Uint8Array): Bytes {
  const mac = makeHmacSha256(key)
  mac.update(data)
  return mac.digest()
}
