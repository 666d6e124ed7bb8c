import { platform } from '#platform'
import type { Bytes } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import {
  FLOE_1M,
  type FloeNonces,
  type FloeParameters,
  type FloeReader,
  HEADER_BYTES,
  openSegment,
  sealSegment,
  segmentPlaintextBytes,
  startDecryption,
  startEncryption,
  type Target,
} from './floe.ts'

// Section 7: FLOE over streams, in memory that does not grow with the stream: one segment taken in, one given out.
// What is taken in is used up before more is asked for, so a source may fill its own buffer again and again.

export type ByteSource = AsyncIterable<Uint8Array>

interface Cut {
  /** Valid only until the next cut is asked for. */
  readonly bytes: Uint8Array
  /** Nothing follows. Known only once the source has ended, hence one cut is always held back. */
  readonly isFinal: boolean
}

/** Cuts a stream of chunks of any size into one piece of `first` bytes and pieces of `rest` bytes; the last may be shorter. */
async function* cut(source: ByteSource, first: number, rest: number): AsyncGenerator<Cut, void, undefined> {
  const held = new Uint8Array(Math.max(first, rest))
  let wanted = first
  let filled = 0
  for await (const chunk of source) {
    ensure(chunk instanceof Uint8Array, 'malformed', 'a stream must consist of byte arrays')
    let at = 0
    while (at < chunk.length) {
      if (filled === wanted) {
        yield { bytes: held.subarray(0, filled), isFinal: false }
        filled = 0
        wanted = rest
      }
      if (filled === 0 && chunk.length - at > wanted) {
        yield { bytes: chunk.subarray(at, at + wanted), isFinal: false }
        at += wanted
        wanted = rest
        continue
      }
      const taken = Math.min(wanted - filled, chunk.length - at)
      held.set(chunk.subarray(at, at + taken), filled)
      filled += taken
      at += taken
    }
  }
  yield { bytes: held.subarray(0, filled), isFinal: true }
}

export interface StreamOptions {
  /**
   * Lends each chunk only until the next is asked for: faster and without garbage, for consumers that write or copy a chunk
   * before they ask again. Never for `ReadableStream.from` or `fetch`, which read ahead.
   */
  readonly reuseBuffers?: boolean | undefined
}

export interface FloeStreamOptions extends StreamOptions {
  readonly parameters?: FloeParameters | undefined
  /** Random if absent. */
  readonly nonces?: FloeNonces | undefined
}

/** New memory for each segment, or the same for all. */
function makeTarget(longest: number, reuseBuffers: boolean): Target {
  if (!reuseBuffers) return platform.allocate
  const shared = new Uint8Array(longest)
  return (length) => shared.subarray(0, length)
}

/** Encrypts a stream: the header, then whole segments. `seen` is shown every plaintext byte once. */
export async function* encryptStream(
  key: Uint8Array,
  aad: Uint8Array,
  source: ByteSource,
  { parameters = FLOE_1M, reuseBuffers = false, nonces }: FloeStreamOptions = {},
  seen?: (plaintext: Uint8Array) => void,
): AsyncGenerator<Bytes, void, undefined> {
  const message = startEncryption(key, aad, parameters, nonces)
  yield message.header
  const target = makeTarget(parameters.segmentBytes, reuseBuffers)
  const length = segmentPlaintextBytes(parameters)
  let position = 0
  for await (const { bytes, isFinal } of cut(source, length, length)) {
    seen?.(bytes)
    yield await sealSegment(message, position++, bytes, isFinal, target)
  }
}

export interface OpenedSegment {
  readonly plaintext: Bytes
  readonly isFinal: boolean
}

/** Package-internal: the plaintext of segment after segment, each after its tag verified, up to the final one. */
export async function* openSegments(
  key: Uint8Array,
  aad: Uint8Array,
  source: ByteSource,
  { parameters = FLOE_1M, reuseBuffers = false }: FloeStreamOptions = {},
): AsyncGenerator<OpenedSegment, void, undefined> {
  const target = makeTarget(segmentPlaintextBytes(parameters), reuseBuffers)
  let message: FloeReader | undefined
  let position = 0
  for await (const { bytes, isFinal } of cut(source, HEADER_BYTES, parameters.segmentBytes)) {
    if (message) {
      yield { plaintext: await openSegment(message, position++, bytes, isFinal, target), isFinal }
    } else {
      ensure(!isFinal, 'asset_mismatch', 'an attachment ends before its first segment')
      message = startDecryption(key, aad, bytes, parameters)
    }
  }
}

/**
 * Decrypts a stream: a segment is given out only after its tag verified, and the generator ends only after the final one.
 * Refuses another key or context before the first byte, and any cut, addition, exchange or change at the segment it touches.
 */
export async function* decryptStream(
  key: Uint8Array,
  aad: Uint8Array,
  source: ByteSource,
  options: FloeStreamOptions = {},
): AsyncGenerator<Bytes, void, undefined> {
  for await (const { plaintext } of openSegments(key, aad, source, options)) yield plaintext
}
