import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat, decodeUtf8, readU32be, u32be, utf8 } from '../encoding/bytes.ts'
import { lp } from '../encoding/lp.ts'
import { ensure } from '../errors.ts'
import { type Awaitable, after } from '../platform/platform.ts'
import { type Dek, itemKey } from './dek.ts'
import { bucket, pad, unpad, type ValueType } from './padding.ts'

// Section 2.4: the v3 field envelope, suite 1.

export const MAX_VALUE_BYTES = 65_536
const PREFIX = 'v3.'
const HEADER_BYTES = 6
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SMALLEST = HEADER_BYTES + NONCE_BYTES + 64 + TAG_BYTES
const LARGEST = HEADER_BYTES + NONCE_BYTES + bucket(MAX_VALUE_BYTES + 2) + TAG_BYTES

/** Where a value belongs. Label and flag are part of it: a value cannot be made to appear under another name. */
export interface FieldPlace {
  readonly itemId: string
  readonly fieldId: string
  readonly rev: number
  readonly label: string
  readonly env: boolean
}

export interface FieldValue {
  readonly type: ValueType
  readonly value: Bytes
}

export const textValue = (text: string): FieldValue => ({ type: 1, value: utf8(text) })

/** The text of a value of type 1 or 2. */
export function valueText({ type, value }: FieldValue): string {
  ensure(type !== 0, 'malformed', 'a value of bytes was read as text')
  return decodeUtf8(value)
}

export interface SealedField {
  /** `v3.` + base64url: what the server keeps. */
  readonly envelope: string
  /** SHA-256 of the envelope's bytes: what signed metadata commits to. */
  readonly ct: string
}

const header = (dekVersion: number): Bytes => concat(Uint8Array.of(3, 1), u32be(dekVersion))

const associatedData = (hdr: Uint8Array, dek: Dek, place: FieldPlace): Bytes =>
  lp(
    'vault.v3/field',
    hdr,
    dek.org,
    dek.vaultId,
    place.itemId,
    place.fieldId,
    place.rev,
    place.label,
    place.env ? 1 : 0,
  )

/** Encrypts one value into its place. The nonce is random and hedged: a repeated random state repeats no nonce for other content. */
export async function sealField(dek: Dek, place: FieldPlace, { type, value }: FieldValue): Promise<SealedField> {
  ensure(value.length <= MAX_VALUE_BYTES, 'limit_exceeded', 'a value is larger than 64 KiB: store it as an attachment')
  const key = itemKey(dek, place.itemId)
  const hdr = header(dek.dekVersion)
  const aad = associatedData(hdr, dek, place)
  const plaintext = pad(type, value)
  const hedge = concat(platform.randomBytes(16), platform.sha256(aad), platform.sha256(plaintext))
  const nonce = platform.hmacSha256(key.nonce, hedge).slice(0, NONCE_BYTES)
  const bytes = concat(hdr, nonce, await platform.aesGcmSeal(key.encryption, nonce, plaintext, aad))
  return { envelope: PREFIX + toBase64url(bytes), ct: platform.sha256Base64url(bytes) }
}

interface ParsedEnvelope {
  readonly bytes: Bytes
  readonly dekVersion: number
}

/** Checks form, version, suite and size; attacker-controlled until `ct` was compared. */
export function parseEnvelope(envelope: string): ParsedEnvelope {
  ensure(typeof envelope === 'string' && envelope.startsWith(PREFIX), 'alg_downgrade', 'not a v3 envelope')
  ensure(envelope.length <= PREFIX.length + Math.ceil((LARGEST * 4) / 3), 'limit_exceeded', 'an envelope is too large')
  const bytes = fromBase64url(envelope.slice(PREFIX.length))
  ensure(bytes.length >= SMALLEST, 'malformed', 'an envelope is too short')
  ensure(bytes[0] === 3 && bytes[1] === 1, 'alg_downgrade', 'an envelope has an unknown version or suite')
  const padded = bytes.length - HEADER_BYTES - NONCE_BYTES - TAG_BYTES
  ensure(bucket(padded) === padded, 'malformed', 'an envelope has a length that no padding gives')
  return { bytes, dekVersion: readU32be(bytes, 2) }
}

/** What signed metadata must say of this envelope. */
export const envelopeHash = (envelope: string): string => platform.sha256Base64url(parseEnvelope(envelope).bytes)

declare const matched: unique symbol
/** A ciphertext that is the one its metadata names. Only `matchEnvelope` makes one. */
export interface MatchedEnvelope extends ParsedEnvelope {
  readonly [matched]: true
}

/** Needs no key: a reader does this for every field before it uses one. */
export function matchEnvelope(fieldId: string, ct: string, envelope: string): MatchedEnvelope {
  const parsed = parseEnvelope(envelope)
  const named = platform.sha256Base64url(parsed.bytes) === ct
  ensure(named, 'field_swap', 'a ciphertext is not the one its metadata names', { fieldId })
  return parsed as MatchedEnvelope
}

/** Decrypts one value in the place and with the hash that verified metadata names. Callers outside use `openVerifiedField`. */
export const openField = (dek: Dek, place: FieldPlace, ct: string, envelope: string): Awaitable<FieldValue> =>
  openMatched(dek, place, matchEnvelope(place.fieldId, ct, envelope))

export function openMatched(
  dek: Dek,
  place: FieldPlace,
  { bytes, dekVersion }: MatchedEnvelope,
): Awaitable<FieldValue> {
  const { fieldId } = place
  ensure(dekVersion === dek.dekVersion, 'field_swap', 'a ciphertext is under another key version', { fieldId })
  const hdr = bytes.subarray(0, HEADER_BYTES)
  const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES)
  const sealed = bytes.subarray(HEADER_BYTES + NONCE_BYTES)
  const { encryption } = itemKey(dek, place.itemId)
  return after(platform.aesGcmOpen(encryption, nonce, sealed, associatedData(hdr, dek, place)), (opened) => {
    ensure(opened, 'aead', 'a value does not open in its verified place', { fieldId })
    return unpad(opened)
  })
}
