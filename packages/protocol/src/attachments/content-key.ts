import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat, readU32be, u32be } from '../encoding/bytes.ts'
import { canonical, parseStrict } from '../encoding/canonical.ts'
import { lp } from '../encoding/lp.ts'
import { type Of, record, words } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { type Dek, deriveFromDek, deriveKey } from '../values/dek.ts'
import { bucket, pad, unpad } from '../values/padding.ts'
import { type FloeNonces, makeRepeatableNonces } from './floe.ts'

// Section 7: the content key of one version of one attachment, wrapped under the vault key, and what is derived from it.

const CONTENT_KEY_BYTES = 32
const HEADER_BYTES = 6
const NONCE_BYTES = 12
const TAG_BYTES = 16
export const WRAPPED_CONTENT_KEY_BYTES: number = HEADER_BYTES + NONCE_BYTES + CONTENT_KEY_BYTES + TAG_BYTES

/** Where an attachment belongs. The wrap binds all of it; the content binds all but the vault, so a move leaves it alone. */
export interface AssetPlace {
  readonly org: string
  readonly vaultId: string
  readonly assetId: string
  readonly assetVersion: number
}

declare const contentKeyBrand: unique symbol
/** The random key of one version of one attachment: made here anew, or unwrapped in its place. */
export interface ContentKey {
  readonly [contentKeyBrand]: true
}

// The bytes live outside the object, as with vault keys: nothing secret is logged or serialised by accident.
const secrets = new WeakMap<ContentKey, Bytes>()

function brand(bytes: Bytes): ContentKey {
  const key = {} as ContentKey
  secrets.set(key, bytes)
  return key
}

export const makeContentKey = (): ContentKey => brand(platform.randomBytes(CONTENT_KEY_BYTES))

/** Package-internal: the bytes, as the key of FLOE. */
export function contentKeyBytes(key: ContentKey): Bytes {
  const bytes = secrets.get(key)
  ensure(bytes, 'unwrapped_key_missing', 'this content key was not made or unwrapped by this package')
  return bytes
}

function wrappingKey(dek: Dek, { org, vaultId, assetId }: AssetPlace): Bytes {
  const belongs = dek.org === org && dek.vaultId === vaultId
  ensure(belongs, 'vault_swap', 'an attachment of one vault was used with the key of another', { assetId })
  return deriveFromDek(dek, lp('vault.v3/asset-key', org, vaultId, assetId, dek.dekVersion), 32)
}

const wrapContext = ({ org, vaultId, assetId, assetVersion }: AssetPlace): Bytes =>
  lp('vault.v3/asset', org, vaultId, assetId, assetVersion)

/** 0x03 ‖ 0x01 ‖ u32be(dekVersion) ‖ nonce ‖ AES-256-GCM(CEK), as base64url. */
export async function wrapContentKey(dek: Dek, place: AssetPlace, key: ContentKey): Promise<string> {
  const nonce = platform.randomBytes(NONCE_BYTES)
  const sealed = await platform.aesGcmSeal(wrappingKey(dek, place), nonce, contentKeyBytes(key), wrapContext(place))
  return toBase64url(concat(Uint8Array.of(3, 1), u32be(dek.dekVersion), nonce, sealed))
}

/** `cek` is attacker-controlled unless it came out of a `VerifiedAsset`. */
export async function unwrapContentKey(dek: Dek, place: AssetPlace, cek: string): Promise<ContentKey> {
  const bytes = fromBase64url(cek)
  ensure(bytes[0] === 3 && bytes[1] === 1, 'alg_downgrade', 'a wrapped content key has an unknown version or suite')
  ensure(bytes.length === WRAPPED_CONTENT_KEY_BYTES, 'malformed', 'a wrapped content key has another length')
  const { assetId } = place
  ensure(
    readU32be(bytes, 2) === dek.dekVersion,
    'wrap_context',
    'a content key is wrapped under another version of the vault key',
    { assetId },
  )
  const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES)
  const sealed = bytes.subarray(HEADER_BYTES + NONCE_BYTES)
  const opened = await platform.aesGcmOpen(wrappingKey(dek, place), nonce, sealed, wrapContext(place))
  ensure(opened, 'aead', 'a content key does not open in its verified place', { assetId })
  return brand(opened)
}

/**
 * The same content key under another vault key: a newer version (rotation), or that of another vault of the organisation (move).
 * 32 bytes are wrapped anew; the content itself is never uploaded again.
 */
export async function rewrapContentKey(from: Dek, to: Dek, place: AssetPlace, cek: string): Promise<string> {
  const key = await unwrapContentKey(from, place, cek)
  // The organisation stays that of the place: a key of another one is refused like that of another vault.
  return wrapContentKey(to, { ...place, vaultId: to.vaultId }, key)
}

/** FLOE's associated data. Without the vault, which the wrap binds. */
export const bodyContext = ({ org, assetId, assetVersion }: AssetPlace): Bytes =>
  lp('vault.v3/asset-body', org, assetId, assetVersion)

/**
 * For an upload that may be taken up again by another process: encrypting the same content again under this key gives the same
 * ciphertext, so that what was sent before stays part of it.
 */
export const repeatableNonces = (key: ContentKey): FloeNonces =>
  makeRepeatableNonces(
    deriveKey(contentKeyBytes(key), lp('vault.v3/asset-iv'), 32),
    deriveKey(contentKeyBytes(key), lp('vault.v3/asset-nonce'), 32),
  )

/** Keyed, so that nobody without the content key can confirm a guessed file (section 10, attack 23). */
export const makePlaintextHash = (key: ContentKey): { update(data: Uint8Array): void; digest(): Bytes } =>
  platform.makeHmacSha256(deriveKey(contentKeyBytes(key), lp('vault.v3/asset-hash'), 32))

const MAX_NAME_LENGTH = 1024
const MAX_MEDIA_TYPE_LENGTH = 255
const assetMeta = record({ mediaType: words(MAX_MEDIA_TYPE_LENGTH), name: words(MAX_NAME_LENGTH) })
/** What people see of an attachment. Sealed: the server learns neither. */
export type AssetMeta = Of<typeof assetMeta>

const META_OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES
export const MIN_META_BYTES: number = META_OVERHEAD_BYTES + bucket(0)
// A UTF-16 unit takes at most six bytes in JSON, as an escape.
export const MAX_META_BYTES: number = META_OVERHEAD_BYTES + bucket(6 * (MAX_NAME_LENGTH + MAX_MEDIA_TYPE_LENGTH) + 64)

const JSON_VALUE = 2
const metaKey = (key: ContentKey): Bytes => deriveKey(contentKeyBytes(key), lp('vault.v3/asset-meta'), 32)
const metaContext = ({ org, assetId, assetVersion }: AssetPlace): Bytes =>
  lp('vault.v3/asset-meta', org, assetId, assetVersion)

export async function sealAssetMeta(
  key: ContentKey,
  place: AssetPlace,
  { mediaType, name }: AssetMeta,
): Promise<string> {
  const meta = assetMeta({ mediaType: mediaType.normalize('NFC'), name: name.normalize('NFC') }, 'meta')
  const nonce = platform.randomBytes(NONCE_BYTES)
  const sealed = await platform.aesGcmSeal(metaKey(key), nonce, pad(JSON_VALUE, canonical(meta)), metaContext(place))
  return toBase64url(concat(nonce, sealed))
}

export async function openAssetMeta(key: ContentKey, place: AssetPlace, sealedMeta: string): Promise<AssetMeta> {
  const bytes = fromBase64url(sealedMeta)
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const opened = await platform.aesGcmOpen(metaKey(key), nonce, bytes.subarray(NONCE_BYTES), metaContext(place))
  ensure(opened, 'aead', 'the name of an attachment does not open in its verified place', { assetId: place.assetId })
  const { type, value } = unpad(opened)
  ensure(type === JSON_VALUE, 'padding', 'the name of an attachment is not sealed as JSON', { assetId: place.assetId })
  return assetMeta(parseStrict(value), 'meta')
}
