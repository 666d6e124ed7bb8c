import { type AssetRow, assetRow } from '../attachments/row.ts'
import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import type { Bytes } from '../encoding/bytes.ts'
import { ensure, type ProtocolErrorCode } from '../errors.ts'
import { type Envelope, type VerifiedDocument, verifyDocument } from '../identity/document.ts'
import { decodeMapProof, mapRoot, mapValue, verifyMapProof } from '../log/map.ts'
import type { Awaitable } from '../platform/platform.ts'
import { type FieldPlace, type FieldValue, type MatchedEnvelope, matchEnvelope, openMatched } from '../values/field.ts'
import {
  type DetailField,
  type EnvRow,
  envRow,
  type ItemDetailPayload,
  type ItemRow,
  itemDetail,
  itemRow,
  type Tree,
} from './documents.ts'
import type { VaultKeys } from './grants.ts'
import type { VerifiedHead } from './vault.ts'

// Section 6.4, last part: rows to roots, details to rows, ciphertexts to both. One root proves that nothing is missing,
// added, renamed or swapped.

export const itemName = (itemId: string): string => `item/${itemId}`
export const envName = (fieldId: string): string => `env/${fieldId}`
export const assetName = (assetId: string): string => `asset/${assetId}`

/** Recomputes a map from a complete list and compares root and count. */
function ensureTree(
  entries: readonly (readonly [string, Bytes])[],
  tree: Tree,
  code: ProtocolErrorCode,
  what: string,
): void {
  ensure(entries.length === tree.count, code, `the number of ${what} is not the signed one`, {
    count: entries.length,
    signed: tree.count,
  })
  ensure(toBase64url(mapRoot(entries)) === tree.root, code, `the ${what} are not exactly the signed ones`)
}

declare const verifiedEnv: unique symbol
/** One environment field as the head commits to it. */
export type VerifiedEnvRow = EnvRow & { readonly [verifiedEnv]: true }

/** Every environment field of the vault, no more and no less. */
export function verifyEnvironment(head: VerifiedHead, rows: readonly unknown[]): readonly VerifiedEnvRow[] {
  const { env, oldestDek, dekVersion } = head.payload
  ensure(rows.length === env.count, 'env_mismatch', 'the number of environment fields is not the signed one', {
    count: rows.length,
    signed: env.count,
  })
  const labels = new Set<string>()
  const entries = rows.map((candidate, i) => {
    const row = envRow(candidate, `fields[${i}]`)
    ensure(!labels.has(row.label), 'duplicate_label', 'two environment fields have one label', { label: row.label })
    labels.add(row.label)
    ensure(
      row.dekVersion >= oldestDek && row.dekVersion <= dekVersion,
      'env_mismatch',
      'a field is under a retired key',
      { fieldId: row.fieldId },
    )
    return [envName(row.fieldId), mapValue(row)] as const
  })
  ensureTree(entries, env, 'env_mismatch', 'environment fields')
  return rows as readonly VerifiedEnvRow[]
}

declare const verifiedRow: unique symbol
/** One row of the item list as the head commits to it. */
export type VerifiedItemRow = ItemRow & { readonly [verifiedRow]: true }

/** Every item of the vault, archived ones too: a row of which only the hash is shown could be any item the server hides. */
export function verifyItems(head: VerifiedHead, rows: readonly unknown[]): readonly VerifiedItemRow[] {
  const entries = rows.map((candidate, i) => {
    const row = itemRow(candidate, `items[${i}]`)
    return [itemName(row.itemId), mapValue(row)] as const
  })
  ensureTree(entries, head.payload.items, 'items_mismatch', 'items')
  return rows as readonly VerifiedItemRow[]
}

declare const verifiedAssetRow: unique symbol
/** One attachment as the head commits to it. */
export type VerifiedAssetRow = AssetRow & { readonly [verifiedAssetRow]: true }

/** Every attachment of the vault, no more and no less. */
export function verifyAssets(head: VerifiedHead, rows: readonly unknown[]): readonly VerifiedAssetRow[] {
  const entries = rows.map((candidate, i) => {
    const row = assetRow(candidate, `assets[${i}]`)
    return [assetName(row.assetId), mapValue(row)] as const
  })
  ensureTree(entries, head.payload.assets, 'assets_mismatch', 'attachments')
  return rows as readonly VerifiedAssetRow[]
}

/** One attachment with its path in the asset map. */
export function verifyAssetRow(head: VerifiedHead, candidate: unknown, proof: unknown): VerifiedAssetRow {
  const row = assetRow(candidate, 'asset')
  const root = fromBase64url(head.payload.assets.root)
  refusing('assets_mismatch', () => verifyMapProof(root, assetName(row.assetId), mapValue(row), decodeMapProof(proof)))
  return row as VerifiedAssetRow
}

/** One row with its path in the item map, for reads of a single item or field. */
export function verifyItemRow(head: VerifiedHead, candidate: unknown, proof: unknown): VerifiedItemRow {
  const row = itemRow(candidate, 'item')
  const root = fromBase64url(head.payload.items.root)
  refusing('items_mismatch', () => verifyMapProof(root, itemName(row.itemId), mapValue(row), decodeMapProof(proof)))
  return row as VerifiedItemRow
}

/** A path that fails inside a head is a lie about content, not about the log: it gets the content's code. */
function refusing(code: ProtocolErrorCode, verify: () => void): void {
  try {
    verify()
  } catch (error) {
    ensure(false, code, 'a row is not part of the signed head', { cause: (error as Error).message })
  }
}

declare const verifiedItem: unique symbol
/** An item detail that its row commits to and a writer signed. */
export interface VerifiedItem {
  readonly [verifiedItem]: true
  readonly row: VerifiedItemRow
  readonly document: VerifiedDocument<typeof itemDetail>
  readonly fields: readonly VerifiedField[]
}

declare const verifiedField: unique symbol
/** One field with everything that binds its value: only such a field is ever opened. */
export interface VerifiedField extends FieldPlace {
  readonly [verifiedField]: true
  readonly ct: string
  readonly dekVersion: number
}

/** 6.2: integrity and currency come from the row; the signature says who wrote it. */
export async function verifyItem(head: VerifiedHead, row: VerifiedItemRow, envelope: Envelope): Promise<VerifiedItem> {
  const { directory, vaultId } = head.vault
  const document = await verifyDocument(itemDetail, envelope, directory.org, directory.keyOf)
  const { payload } = document
  ensure(document.hash === row.detailHash, 'detail_mismatch', 'an item detail is not the one its row names', {
    itemId: row.itemId,
  })
  ensure(payload.vaultId === vaultId, 'vault_swap', 'an item detail is of another vault', { itemId: row.itemId })
  ensure(payload.itemId === row.itemId, 'item_swap', 'an item detail is of another item', { itemId: row.itemId })
  ensure(rowAgrees(row, payload), 'detail_mismatch', 'an item detail and its row disagree', { itemId: row.itemId })
  const { entry } = await directory.resolve(payload.by)
  ensure(
    directory.isReviewing || entry.status !== 'compromised',
    'signer_compromised',
    'an item was last written by a compromised key',
    {
      itemId: row.itemId,
      by: payload.by,
    },
  )
  return { row, document, fields: detailFields(payload) } as unknown as VerifiedItem
}

const rowAgrees = (row: ItemRow, detail: ItemDetailPayload): boolean =>
  row.itemVersion === detail.itemVersion &&
  row.name === detail.name &&
  row.website === detail.website &&
  row.status === detail.status &&
  row.fieldCount === detail.fields.length

/** Only of a detail that was verified. */
export const detailFields = ({ itemId, fields }: ItemDetailPayload): readonly VerifiedField[] =>
  fields.map((field) => fieldOf(itemId, field))

const fieldOf = (itemId: string, { ct, dekVersion, env, fieldId, label, rev }: DetailField): VerifiedField =>
  ({ itemId, ct, dekVersion, env, fieldId, label, rev }) as VerifiedField

/** Environment rows carry the same binding; they are in the environment map only if the flag is set. */
export const envField = ({ itemId, ct, dekVersion, fieldId, label, rev }: VerifiedEnvRow): VerifiedField =>
  ({ itemId, ct, dekVersion, fieldId, label, rev, env: true }) as VerifiedField

/** The last step of 6.4: ciphertext hash, then decryption with the place the verified metadata names. */
export const openVerifiedField = (keys: VaultKeys, field: VerifiedField, envelope: string): Awaitable<FieldValue> =>
  openMatchedField(keys, field, matchField(field, envelope))

/** The ciphertext hash alone: what of the last step needs no key. */
export const matchField = ({ fieldId, ct }: Pick<VerifiedField, 'fieldId' | 'ct'>, envelope: string): MatchedEnvelope =>
  matchEnvelope(fieldId, ct, envelope)

export function openMatchedField(
  keys: VaultKeys,
  field: VerifiedField,
  envelope: MatchedEnvelope,
): Awaitable<FieldValue> {
  const { dekVersion } = field
  const dek = keys.get(dekVersion)
  ensure(dek, 'unwrapped_key_missing', 'there is no wrapped key for the version a field is under', { dekVersion })
  return openMatched(dek, field, envelope)
}
