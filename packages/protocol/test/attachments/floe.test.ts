import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ciphertextSizeOf,
  FLOE_1M,
  type FloeParameters,
  HEADER_BYTES,
  openSegment,
  sealSegment,
  startDecryption,
  startEncryption,
} from '../../src/attachments/floe.ts'
import { decryptStream, encryptStream } from '../../src/attachments/floe-stream.ts'
import { type Bytes, concat, u32be, utf8 } from '../../src/encoding/bytes.ts'
import { chunked, collect, content, outcome, refusal } from './streams.ts'

// Section 7 over small segments, where every bit can be tried, and over the real ones.
// Seen red: a full last segment taken for a middle one, chunks gathered over one another, buffers reused without being asked
// and not reused when asked, and each check switched off in turn: parameters, header tag, header length, key length, segment
// length, announced length, segment tag, number of segments, end inside the header, text instead of bytes.

const KEY = content(32, 7)
const AAD = utf8('context')
const SMALL: FloeParameters = { segmentBytes: 64, rotationBits: 1 }
const PER_SEGMENT = 32

const seal = (plaintext: Uint8Array, sizes?: readonly number[], parameters = SMALL): Promise<Bytes> =>
  collect(encryptStream(KEY, AAD, chunked(plaintext, sizes), { parameters }))
const open = (ciphertext: Uint8Array, sizes?: readonly number[], parameters = SMALL): AsyncIterable<Bytes> =>
  decryptStream(KEY, AAD, chunked(ciphertext, sizes), { parameters })

const header = (ciphertext: Bytes): Bytes => ciphertext.slice(0, HEADER_BYTES)
function segments(ciphertext: Bytes): Bytes[] {
  const out: Bytes[] = []
  for (let at = HEADER_BYTES; at < ciphertext.length; at += SMALL.segmentBytes)
    out.push(ciphertext.slice(at, at + SMALL.segmentBytes))
  return out
}

const chunkSizes = fc
  .array(fc.integer({ min: 0, max: 150 }), { minLength: 1, maxLength: 6 })
  .filter((sizes) => sizes.some((size) => size > 0))

describe('FLOE streams', () => {
  it('open to what was sealed, whatever the chunks on either side', async () => {
    const cases = fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      chunkSizes,
      chunkSizes,
      async (plaintext, before, after) => {
        const ciphertext = await seal(plaintext, before)
        expect(ciphertext.length).toBe(ciphertextSizeOf(plaintext.length, SMALL))
        expect(await collect(open(ciphertext, after))).toEqual(new Uint8Array(plaintext))
      },
    )
    await fc.assert(cases, { numRuns: 300 })
  })

  it.each([0, 1, 1_048_543, 1_048_544, 1_048_545, 3 * 1_048_544, 3 * 1_048_544 + 5])(
    'of %d bytes keep their content through 1 MiB segments',
    async (size) => {
      const plaintext = content(size)
      const ciphertext = await seal(plaintext, [65_536], FLOE_1M)
      expect(ciphertext.length).toBe(ciphertextSizeOf(size))
      const opened = await collect(open(ciphertext, [100_000], FLOE_1M))
      expect(Buffer.compare(opened, plaintext)).toBe(0)
    },
  )

  it('take chunks larger than several segments', async () => {
    const plaintext = content(1000)
    expect(await collect(open(await seal(plaintext, [1000]), [5000]))).toEqual(plaintext)
  })

  it('may be fed from one buffer that the source fills again and again', async () => {
    const plaintext = content(500)
    async function* reusing(): AsyncGenerator<Uint8Array> {
      const buffer = new Uint8Array(100)
      for (let at = 0; at < plaintext.length; at += 100) {
        buffer.set(plaintext.subarray(at, at + 100))
        yield buffer
      }
    }
    const ciphertext = await collect(encryptStream(KEY, AAD, reusing(), { parameters: SMALL }))
    expect(await collect(open(ciphertext))).toEqual(plaintext)
  })

  it('give the same bytes from reused buffers, in memory that does not grow with the stream', async () => {
    const plaintext = content(50 * PER_SEGMENT + 5)
    const buffers = new Set<ArrayBufferLike>()
    async function* copied(lent: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
      for await (const chunk of lent) {
        buffers.add(chunk.buffer)
        yield chunk.slice()
      }
    }
    const options = { parameters: SMALL, reuseBuffers: true }
    const ciphertext = await collect(copied(encryptStream(KEY, AAD, chunked(plaintext), options)))
    const opened = await collect(copied(decryptStream(KEY, AAD, chunked(ciphertext), options)))
    expect(opened).toEqual(plaintext)
    // The header, one segment on the way out, one on the way in.
    expect(buffers.size).toBe(3)
  })

  it('ask the source for no more than the segment at hand and the piece after it', async () => {
    let asked = 0
    async function* counting(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunked(bytes, [16])) {
        asked += chunk.length
        yield chunk
      }
    }
    const plaintext = content(32 * 50)
    let given = 0
    for await (const chunk of encryptStream(KEY, AAD, counting(plaintext), { parameters: SMALL })) {
      given += chunk.length
      expect(asked).toBeLessThanOrEqual(given + 64)
    }
    const ciphertext = await seal(plaintext)
    asked = 0
    given = 0
    for await (const chunk of decryptStream(KEY, AAD, counting(ciphertext), { parameters: SMALL })) {
      given += chunk.length
      expect(asked).toBeLessThanOrEqual(HEADER_BYTES + 2 * given + 64 + 16)
    }
  })

  it('stop their source when the consumer stops', async () => {
    let stopped = false
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield content(40)
      } finally {
        stopped = true
      }
    }
    for await (const chunk of encryptStream(KEY, AAD, endless(), { parameters: SMALL }))
      if (chunk.length < HEADER_BYTES) break
    expect(stopped).toBe(true)
  })

  it('refuse text where bytes are due, instead of writing zeros', async () => {
    async function* words(): AsyncGenerator<Uint8Array> {
      yield 'text' as unknown as Uint8Array
    }
    expect((await outcome(encryptStream(KEY, AAD, words(), { parameters: SMALL }))).code).toBe('malformed')
  })
})

describe('an altered FLOE ciphertext', () => {
  const plaintext = content(2 * PER_SEGMENT + 6)

  it('is refused for every single bit, by name, and gives out nothing from the altered segment on', async () => {
    const ciphertext = await seal(plaintext)
    for (let bit = 0; bit < ciphertext.length * 8; bit++) {
      const at = bit >> 3
      const altered = ciphertext.slice()
      altered[at] = (altered[at] as number) ^ (1 << (bit & 7))
      const inSegment = at - HEADER_BYTES
      const inLength = inSegment >= 0 && inSegment % SMALL.segmentBytes < 4
      const expected = at < 10 ? 'alg_downgrade' : inLength ? 'asset_mismatch' : 'aead'
      const intact = Math.max(0, Math.floor(inSegment / SMALL.segmentBytes)) * PER_SEGMENT
      expect(await outcome(open(altered)), `bit ${bit}`).toEqual({
        code: expected,
        released: plaintext.slice(0, intact),
      })
    }
  })

  it('is refused wherever it is cut', async () => {
    const ciphertext = await seal(plaintext)
    for (let length = 0; length < ciphertext.length; length++) {
      const { code, released } = await outcome(open(ciphertext.subarray(0, length)))
      expect(code, `cut to ${length} bytes`).toBe('asset_mismatch')
      expect(released).toEqual(plaintext.subarray(0, released.length))
    }
  })

  it('is refused with anything appended, also after a last segment of full length', async () => {
    for (const size of [plaintext.length, 2 * PER_SEGMENT]) {
      const ciphertext = await seal(plaintext.subarray(0, size))
      const last = segments(ciphertext).at(-1) as Bytes
      for (const extra of [new Uint8Array(1), new Uint8Array(200), last, ciphertext]) {
        expect((await outcome(open(concat(ciphertext, extra)))).code).toBe('asset_mismatch')
      }
    }
  })

  it('is refused with segments exchanged, repeated, left out or taken from another message', async () => {
    const ciphertext = await seal(content(5 * PER_SEGMENT))
    const other = segments(await seal(content(5 * PER_SEGMENT)))
    const [a, b, c, d, e] = segments(ciphertext) as [Bytes, Bytes, Bytes, Bytes, Bytes]
    const orders: readonly (readonly [Bytes[], string])[] = [
      [[b, a, c, d, e], 'aead'],
      [[a, c, b, d, e], 'aead'],
      [[a, a, b, c, d, e], 'aead'],
      [[a, b, c, d, d, e], 'aead'],
      [[a, b, d, e], 'aead'],
      [[e], 'aead'],
      [[e, a, b, c, d], 'asset_mismatch'],
      [[a, b, c, d], 'asset_mismatch'],
      [[a, b, c, d, e, e], 'asset_mismatch'],
      [[a, other[1] as Bytes, c, d, e], 'aead'],
      [[a, b, c, d, other[4] as Bytes], 'aead'],
    ]
    for (const [order, expected] of orders) {
      expect((await outcome(open(concat(header(ciphertext), ...order)))).code).toBe(expected)
    }
  })

  it('is refused under another key, another context, another header or other parameters', async () => {
    const ciphertext = await seal(plaintext)
    const stream = (): AsyncIterable<Uint8Array> => chunked(ciphertext)
    const foreign = concat(header(await seal(plaintext)), ciphertext.subarray(HEADER_BYTES))
    const nothing = new Uint8Array(0)
    expect(await outcome(decryptStream(content(32, 8), AAD, stream(), { parameters: SMALL }))).toEqual({
      code: 'aead',
      released: nothing,
    })
    expect(await outcome(decryptStream(KEY, utf8('other'), stream(), { parameters: SMALL }))).toEqual({
      code: 'aead',
      released: nothing,
    })
    expect(await outcome(open(foreign))).toEqual({ code: 'aead', released: nothing })
    expect(await outcome(decryptStream(KEY, AAD, stream()))).toEqual({ code: 'alg_downgrade', released: nothing })
  })
})

describe('FLOE random access', () => {
  const plaintext = content(4 * PER_SEGMENT + 3)

  it('opens any segment alone, in any order', async () => {
    const ciphertext = await seal(plaintext)
    const message = startDecryption(KEY, AAD, header(ciphertext), SMALL)
    const pieces = segments(ciphertext)
    for (const position of [4, 0, 3, 1, 2, 4]) {
      const opened = await openSegment(message, position, pieces[position] as Bytes, position === 4)
      expect(opened).toEqual(plaintext.slice(position * PER_SEGMENT, (position + 1) * PER_SEGMENT))
    }
  })

  it('refuses a segment at another position, or as final when it is not', async () => {
    const ciphertext = await seal(plaintext)
    const message = startDecryption(KEY, AAD, header(ciphertext), SMALL)
    const [first, , , , last] = segments(ciphertext) as [Bytes, Bytes, Bytes, Bytes, Bytes]
    expect(await refusal(() => openSegment(message, 1, first, false))).toBe('aead')
    expect(await refusal(() => openSegment(message, 0, first, true))).toBe('asset_mismatch')
    expect(await refusal(() => openSegment(message, 4, last, false))).toBe('asset_mismatch')
    const posing = concat(u32be(first.length), first.subarray(4))
    expect(await refusal(() => openSegment(message, 0, posing, true))).toBe('aead')
  })

  it('refuses a segment too short or too long to be one, whatever length it announces', async () => {
    const message = startDecryption(KEY, AAD, header(await seal(plaintext)), SMALL)
    for (const length of [4, 20, 31, 65, 1000]) {
      const segment = concat(u32be(length), new Uint8Array(length - 4))
      expect(await refusal(() => openSegment(message, 0, segment, true)), `${length} bytes`).toBe('asset_mismatch')
    }
  })

  it('refuses positions past the limit of FLOE', async () => {
    const message = startEncryption(KEY, AAD, SMALL)
    const sealed = await sealSegment(message, 2 ** 40 - 1, new Uint8Array(3), true)
    const reading = startDecryption(KEY, AAD, message.header, SMALL)
    expect(await openSegment(reading, 2 ** 40 - 1, sealed, true)).toEqual(new Uint8Array(3))
    expect(await refusal(() => sealSegment(message, 2 ** 40, new Uint8Array(3), true))).toBe('limit_exceeded')
    expect(await refusal(() => openSegment(reading, 2 ** 40, sealed, true))).toBe('limit_exceeded')
  })

  it('refuses to write a segment that is not full before the last, or too full', async () => {
    const message = startEncryption(KEY, AAD, SMALL)
    expect(await refusal(() => sealSegment(message, 0, new Uint8Array(31), false))).toBe('malformed')
    expect(await refusal(() => sealSegment(message, 0, new Uint8Array(33), true))).toBe('malformed')
  })

  it('refuses keys and headers of another length', async () => {
    const start = header(await seal(plaintext))
    for (const length of [0, 16, 31, 33]) {
      expect(await refusal(() => startEncryption(new Uint8Array(length), AAD))).toBe('malformed')
      expect(await refusal(() => startDecryption(new Uint8Array(length), AAD, start, SMALL))).toBe('malformed')
    }
    for (const candidate of [start.subarray(0, 73), concat(start, new Uint8Array(1))]) {
      expect(await refusal(() => startDecryption(KEY, AAD, candidate, SMALL))).toBe('malformed')
    }
  })
})
