import { platform } from '#platform'
import { hkdfExpandSha384 } from '#sha384'
import { type Bytes, concat, equalBytes, readU32be, u32be, u64be, utf8 } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'

// Section 7: FLOE, Fast Lightweight Online Encryption (c2sp.org/FLOE), with AES-256-GCM, HKDF-Expand-SHA-384 and a 32-byte IV.
// A ciphertext is a header and one or more segments; each segment is bound to its position and to being the last or not.

export interface FloeParameters {
  /** Length of an encrypted segment in bytes; only the last may be shorter. */
  readonly segmentBytes: number
  /** 2^rotationBits segments are encrypted under one derived key. */
  readonly rotationBits: number
}

/** GCM256-IV256-1M: the only parameters of attachments. Others exist to run the published known answers. */
export const FLOE_1M: FloeParameters = { segmentBytes: 1_048_576, rotationBits: 20 }

const PARAMETER_BYTES = 10
const IV_BYTES = 32
const HEADER_TAG_BYTES = 32
export const HEADER_BYTES = 74

const KEY_BYTES = 32
const MESSAGE_KEY_BYTES = 48
const LENGTH_BYTES = 4
const NONCE_BYTES = 12
const PREFIX_BYTES = 16
/** What a segment is longer than its plaintext. */
export const SEGMENT_OVERHEAD_BYTES = 32
const NOT_FINAL = 0xffff_ffff
const MAX_SEGMENTS = 2 ** 40

export const segmentPlaintextBytes = ({ segmentBytes }: FloeParameters): number => segmentBytes - SEGMENT_OVERHEAD_BYTES

/** How long the ciphertext of so many bytes is: uploads are announced before the first byte is encrypted. */
export function ciphertextSizeOf(plaintextSize: number, parameters: FloeParameters = FLOE_1M): number {
  const segments = Math.max(1, Math.ceil(plaintextSize / segmentPlaintextBytes(parameters)))
  return HEADER_BYTES + plaintextSize + segments * SEGMENT_OVERHEAD_BYTES
}

/** How much of the plaintext is in the first so many bytes of a ciphertext: what an upload has got done. */
export function plaintextSizeWithin(ciphertextSize: number, { segmentBytes }: FloeParameters = FLOE_1M): number {
  const segments = Math.floor(Math.max(0, ciphertextSize - HEADER_BYTES) / segmentBytes)
  const rest = Math.max(0, ciphertextSize - HEADER_BYTES) % segmentBytes
  return segments * (segmentBytes - SEGMENT_OVERHEAD_BYTES) + Math.max(0, rest - SEGMENT_OVERHEAD_BYTES)
}

interface Message {
  readonly parameters: FloeParameters
  readonly header: Bytes
  /** The AES key of the segment at a position; the same object for neighbours, so that platforms import it once. */
  segmentKey(position: number): Bytes
}

/** Where the bytes come from that make two encryptions of one content differ. */
export interface FloeNonces {
  iv(): Bytes
  /** For a segment: `context` is its position and whether it is the last. */
  nonce(context: Uint8Array, plaintext: Uint8Array): Bytes
}

const RANDOM: FloeNonces = {
  iv: () => platform.randomBytes(IV_BYTES),
  nonce: () => platform.randomBytes(NONCE_BYTES),
}

/** The same key and content give the same bytes; another content at the same place never gets the same nonce. */
export const makeRepeatableNonces = (iv: Bytes, nonceKey: Uint8Array): FloeNonces => ({
  iv: () => iv,
  nonce: (context, plaintext) =>
    platform.hmacSha256(nonceKey, concat(context, platform.sha256(plaintext))).subarray(0, NONCE_BYTES),
})

declare const writer: unique symbol
/** One message being encrypted: its header goes out first. */
export interface FloeWriter extends Message {
  readonly [writer]: true
  readonly nonces: FloeNonces
}

declare const reader: unique symbol
/** One message whose header tag was verified: its key is the one it was written with. Only `startDecryption` makes one. */
export interface FloeReader extends Message {
  readonly [reader]: true
}

const encodeParameters = ({ segmentBytes }: FloeParameters): Bytes =>
  concat(Uint8Array.of(0, 0), u32be(segmentBytes), u32be(IV_BYTES))

/** FLOE_KDF: HKDF-Expand(key, parameters ‖ iv ‖ purpose ‖ aad). `prefix` is parameters ‖ iv. */
const derive = (key: Uint8Array, prefix: Uint8Array, purpose: Uint8Array, aad: Uint8Array, length: number): Bytes =>
  hkdfExpandSha384(key, concat(prefix, purpose, aad), length)

const deriveHeaderTag = (key: Uint8Array, prefix: Uint8Array, aad: Uint8Array): Bytes =>
  derive(key, prefix, utf8('HEADER_TAG:'), aad, HEADER_TAG_BYTES)

function openMessage(key: Uint8Array, aad: Uint8Array, header: Bytes, parameters: FloeParameters): Message {
  const prefix = header.subarray(0, PARAMETER_BYTES + IV_BYTES)
  const messageKey = derive(key, prefix, utf8('MESSAGE_KEY:'), aad, MESSAGE_KEY_BYTES)
  const window = 2 ** parameters.rotationBits
  let known: { readonly start: number; readonly key: Bytes } | undefined
  const segmentKey = (position: number): Bytes => {
    const start = position - (position % window)
    if (known?.start !== start) {
      known = { start, key: derive(messageKey, prefix, concat(utf8('DEK:'), u64be(start)), aad, KEY_BYTES) }
    }
    return known.key
  }
  return { parameters, header, segmentKey }
}

const ensureKey = (key: Uint8Array): void =>
  ensure(key.length === KEY_BYTES, 'malformed', 'a content key must have 32 bytes')

export function startEncryption(
  key: Uint8Array,
  aad: Uint8Array,
  parameters: FloeParameters = FLOE_1M,
  nonces: FloeNonces = RANDOM,
): FloeWriter {
  ensureKey(key)
  const prefix = concat(encodeParameters(parameters), nonces.iv())
  const header = concat(prefix, deriveHeaderTag(key, prefix, aad))
  return { ...openMessage(key, aad, header, parameters), nonces } as FloeWriter
}

/** Refuses a header that another key, another context or other parameters made, before any segment is looked at. */
export function startDecryption(
  key: Uint8Array,
  aad: Uint8Array,
  header: Uint8Array,
  parameters: FloeParameters = FLOE_1M,
): FloeReader {
  ensureKey(key)
  ensure(header.length === HEADER_BYTES, 'malformed', 'an attachment header must have 74 bytes')
  // Not slice(): of a Buffer it would share the memory that its source may fill again.
  const own = new Uint8Array(header)
  const known = equalBytes(own.subarray(0, PARAMETER_BYTES), encodeParameters(parameters))
  ensure(known, 'alg_downgrade', 'an attachment is encrypted with other parameters')
  const prefix = own.subarray(0, PARAMETER_BYTES + IV_BYTES)
  const committed = equalBytes(deriveHeaderTag(key, prefix, aad), own.subarray(PARAMETER_BYTES + IV_BYTES))
  ensure(committed, 'aead', 'an attachment does not open with its verified key in its verified place')
  return openMessage(key, aad, own, parameters) as FloeReader
}

function segmentContext(position: number, isFinal: boolean): Bytes {
  ensure(position < MAX_SEGMENTS, 'limit_exceeded', 'an attachment has too many segments')
  return concat(u64be(position), Uint8Array.of(isFinal ? 1 : 0))
}

/** Where a result goes: gives memory of exactly that length, which is then written in full. */
export type Target = (length: number) => Bytes

/** length ‖ nonce ‖ ct ‖ tag. A position must never be written twice, unless with the same plaintext and repeatable nonces. */
export async function sealSegment(
  { parameters, segmentKey, nonces }: FloeWriter,
  position: number,
  plaintext: Uint8Array,
  isFinal: boolean,
  target: Target = platform.allocate,
): Promise<Bytes> {
  const longest = segmentPlaintextBytes(parameters)
  const fits = isFinal ? plaintext.length <= longest : plaintext.length === longest
  ensure(fits, 'malformed', 'the plaintext of a segment does not have the length of a segment')
  const context = segmentContext(position, isFinal)
  const segment = target(plaintext.length + SEGMENT_OVERHEAD_BYTES)
  const nonce = nonces.nonce(context, plaintext)
  segment.set(u32be(isFinal ? segment.length : NOT_FINAL))
  segment.set(nonce, LENGTH_BYTES)
  await platform.aesGcmSealInto(segmentKey(position), nonce, plaintext, context, segment.subarray(PREFIX_BYTES))
  return segment
}

/** The plaintext, after place, length and tag were verified. Random access: says nothing about the segments around it. */
export async function openSegment(
  { parameters, segmentKey }: FloeReader,
  position: number,
  segment: Uint8Array,
  isFinal: boolean,
  target: Target = platform.allocate,
): Promise<Bytes> {
  const context = segmentContext(position, isFinal)
  const { segmentBytes } = parameters
  const fits = isFinal
    ? segment.length >= SEGMENT_OVERHEAD_BYTES && segment.length <= segmentBytes
    : segment.length === segmentBytes
  ensure(fits, 'asset_mismatch', 'an attachment ends inside a segment', { position })
  // The length is not under the tag: compared in full, it leaves no second form of the same segment.
  const announced = readU32be(segment, 0) === (isFinal ? segment.length : NOT_FINAL)
  ensure(announced, 'asset_mismatch', 'an attachment is cut short or goes on after its end', { position })
  const plaintext = target(segment.length - SEGMENT_OVERHEAD_BYTES)
  const nonce = segment.subarray(LENGTH_BYTES, PREFIX_BYTES)
  const sealed = segment.subarray(PREFIX_BYTES)
  const genuine = await platform.aesGcmOpenInto(segmentKey(position), nonce, sealed, context, plaintext)
  ensure(genuine, 'aead', 'a segment of an attachment does not open in its place', { position })
  return plaintext
}
