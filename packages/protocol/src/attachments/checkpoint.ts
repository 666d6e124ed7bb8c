import { platform } from '#platform'
import { toBase64url } from '../encoding/base64.ts'
import { bytesText, hash, integer, type Of, record, text } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import {
  defineKind,
  documentHash,
  type Envelope,
  type KeyOf,
  makeDocument,
  verifyDocument,
} from '../identity/document.ts'
import { id, vaultIdText } from '../identity/identifiers.ts'
import type { Signer } from '../identity/private-keys.ts'
import type { Awaitable } from '../platform/platform.ts'
import type { Dek } from '../values/dek.ts'
import {
  type AssetMeta,
  type AssetPlace,
  type ContentKey,
  MAX_META_BYTES,
  MIN_META_BYTES,
  openAssetMeta,
  rewrapContentKey,
  sealAssetMeta,
  unwrapContentKey,
  WRAPPED_CONTENT_KEY_BYTES,
} from './content-key.ts'
import { ciphertextSizeOf } from './floe.ts'
import type { AssetRow } from './row.ts'

export { type AssetRow, assetRow } from './row.ts'

// Section 7: the signed checkpoint of an attachment's content, and the row by which a vault head commits to it (6.1).

export const ASSET_ENCRYPTION = 'FLOE-GCM256-IV256-1M'

/** Multipart uploads have fixed parts and at most so many of them; both bound what an attachment can be. */
export const PART_BYTES = 8_388_608
export const MAX_PARTS = 10_000
export const MAX_CIPHERTEXT_BYTES: number = PART_BYTES * MAX_PARTS

const CONTENT = {
  dekVersion: integer(1, 0xffff_ffff),
  cek: bytesText(WRAPPED_CONTENT_KEY_BYTES, WRAPPED_CONTENT_KEY_BYTES),
  ciphertextSize: integer(ciphertextSizeOf(0), MAX_CIPHERTEXT_BYTES),
  ciphertextHash: hash,
  plaintextSize: integer(0, MAX_CIPHERTEXT_BYTES),
  plaintextHash: hash,
  meta: bytesText(MIN_META_BYTES, MAX_META_BYTES),
}
const SALT_BYTES = 16

/** What encrypting an attachment leaves behind, besides the ciphertext: everything a checkpoint says about the content. */
const assetContentMembers = record(CONTENT)
export type AssetContent = Of<typeof assetContentMembers>

/** `enc` is any name here, so that an unknown one is refused as a downgrade and not as a broken document. */
export const assetContent = defineKind('asset-content', {
  vaultId: vaultIdText,
  itemId: id,
  assetId: id,
  assetVersion: integer(1),
  enc: text(/^[A-Za-z0-9._+-]{1,64}$/),
  ...CONTENT,
  salt: bytesText(SALT_BYTES, SALT_BYTES),
})

export interface AssetCheckpointInput {
  readonly place: AssetPlace
  readonly itemId: string
  readonly content: AssetContent
  readonly at: number
}

/** Signs what was encrypted. The attachment exists for readers once a head commits to the row of this document. */
export function makeAssetCheckpoint(
  { place, itemId, content, at }: AssetCheckpointInput,
  signer: Signer,
): Promise<Envelope> {
  const salt = toBase64url(platform.randomBytes(SALT_BYTES))
  return makeDocument(assetContent, { ...place, ...content, itemId, enc: ASSET_ENCRYPTION, salt, at }, [signer])
}

/** The row a writer puts into the assets map for a checkpoint it has made. */
export const assetRowOf = (
  checkpoint: Envelope,
  { place, itemId }: Pick<AssetCheckpointInput, 'place' | 'itemId'>,
  status: AssetRow['status'] = 'active',
): AssetRow => ({
  assetId: place.assetId,
  assetVersion: place.assetVersion,
  docHash: documentHash(checkpoint),
  itemId,
  status,
})

declare const verifiedAsset: unique symbol
/** An attachment whose content is the one a verified row commits to, signed by someone entitled. Only `verifyAsset` makes one. */
export interface VerifiedAsset {
  readonly [verifiedAsset]: true
  readonly row: AssetRow
  readonly place: AssetPlace
  readonly itemId: string
  readonly content: AssetContent
  /** Who signed the content. */
  readonly by: string
  /** When they say they did. */
  readonly at: number
}

export interface VerifyAssetInput {
  /** Already verified against a vault head. */
  readonly row: AssetRow
  /** The `asset-content` document; attacker-controlled until this function returns. */
  readonly envelope: unknown
  readonly keyOf: KeyOf
  /** Whether this key might write to the vault when the content was committed; may throw a more precise refusal itself. */
  readonly authorise: (kid: string) => Awaitable<boolean>
  readonly org: string
  readonly vaultId: string
}

/** Section 7, in this order: hash against the row, signature, place, signer's right, algorithm. */
export async function verifyAsset(input: VerifyAssetInput): Promise<VerifiedAsset> {
  const { row, envelope, keyOf, authorise, org, vaultId } = input
  const which = { assetId: row.assetId, itemId: row.itemId }
  ensure(documentHash(envelope) === row.docHash, 'assets_mismatch', 'an attachment is not its row’s', which)
  const { payload } = await verifyDocument(assetContent, envelope, org, keyOf)
  ensure(payload.vaultId === vaultId, 'vault_swap', 'an attachment belongs to another vault', which)
  ensure(payload.itemId === row.itemId, 'item_swap', 'an attachment belongs to another item', which)
  ensure(payload.assetId === row.assetId, 'item_swap', 'a row names another attachment', which)
  ensure(payload.assetVersion === row.assetVersion, 'item_swap', 'a row names another version', which)
  ensure(await authorise(payload.by), 'not_authorised', 'the signer may not write to this vault', { by: payload.by })
  ensure(payload.enc === ASSET_ENCRYPTION, 'alg_downgrade', 'an attachment has an unknown encryption', which)
  const { dekVersion, cek, ciphertextSize, ciphertextHash, plaintextSize, plaintextHash, meta } = payload
  const content: AssetContent = { dekVersion, cek, ciphertextSize, ciphertextHash, plaintextSize, plaintextHash, meta }
  const place: AssetPlace = { org, vaultId, assetId: row.assetId, assetVersion: row.assetVersion }
  return { row, place, itemId: row.itemId, content, by: payload.by, at: payload.at } as VerifiedAsset
}

/** Package-internal: the content key of a verified attachment. */
export async function contentKeyOf(dek: Dek, { place, content }: VerifiedAsset): Promise<ContentKey> {
  const { assetId } = place
  ensure(
    content.dekVersion === dek.dekVersion,
    'wrap_context',
    'an attachment is under another version of the vault key',
    { assetId },
  )
  return unwrapContentKey(dek, place, content.cek)
}

/** Name and media type, as the one who attached it wrote them. A name is text for people, not a path to write to. */
export async function openAssetName(dek: Dek, asset: VerifiedAsset): Promise<AssetMeta> {
  return openAssetMeta(await contentKeyOf(dek, asset), asset.place, asset.content.meta)
}

/** The content to sign after a rotation (`to` is a newer version) or in the other vault after a move. The blob stays. */
export async function rewrapAsset(asset: VerifiedAsset, from: Dek, to: Dek): Promise<AssetContent> {
  const cek = await rewrapContentKey(from, to, asset.place, asset.content.cek)
  return { ...asset.content, cek, dekVersion: to.dekVersion }
}

/** The content to sign to give an attachment another name. `to` is the current vault key. */
export async function renameAsset(asset: VerifiedAsset, from: Dek, to: Dek, meta: AssetMeta): Promise<AssetContent> {
  const sealed = await sealAssetMeta(await contentKeyOf(from, asset), asset.place, meta)
  return { ...(await rewrapAsset(asset, from, to)), meta: sealed }
}
