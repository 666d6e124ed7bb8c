import { type Bytes, concat } from '../../src/encoding/bytes.ts'
import { ProtocolError } from '../../src/errors.ts'

/** Bytes that look like content and are the same in every run. */
export function content(size: number, seed = 1): Bytes {
  const out = new Uint8Array(size)
  let state = seed >>> 0 || 1
  for (let i = 0; i < size; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    out[i] = state >>> 24
  }
  return out
}

/** A stream of `bytes` in chunks of the given sizes, over and over; a size of 0 gives an empty chunk. */
export async function* chunked(bytes: Uint8Array, sizes: readonly number[] = [65_536]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] as number
    yield bytes.subarray(at, at + size)
    at += size
  }
}

export async function collect(stream: AsyncIterable<Uint8Array>): Promise<Bytes> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return concat(...chunks)
}

export interface Outcome {
  /** `none` where the stream ended without an error. */
  readonly code: string
  readonly released: Bytes
}

/** Reads a stream as far as it goes: what came out, and with which code it stopped. Other errors than ours fly on. */
export async function outcome(stream: AsyncIterable<Uint8Array>): Promise<Outcome> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of stream) chunks.push(chunk)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return { code: error.code, released: concat(...chunks) }
  }
  return { code: 'none', released: concat(...chunks) }
}

/** The code with which something refuses, or `none`. */
export async function refusal(run: () => unknown): Promise<string> {
  try {
    await run()
  } catch (error) {
    if (error instanceof ProtocolError) return error.code
    throw error
  }
  return 'none'
}
