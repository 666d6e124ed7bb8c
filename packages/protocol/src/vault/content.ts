import { type AssetRow, assetRow } from '../attachments/row.ts'
import { toBase64url } from '../encoding/base64.ts'
import type { Bytes } from '../encoding/bytes.ts'
import { encodeMapProof, type MapProofText, mapRoot, mapValue, proveMap } from '../log/map.ts'
import type { EnvRow, ItemDetailPayload, ItemRow, Tree } from './documents.ts'
import {
  assetName,
  envName,
  itemName,
  type VerifiedEnvRow,
  type VerifiedItemRow,
  verifyAssets,
  verifyEnvironment,
  verifyItems,
} from './rows.ts'
import type { VerifiedHead } from './vault.ts'

// Section 6.1: the complete metadata of a vault, from which every root follows. Writers, the server and rebasing share it.

export interface VaultContent {
  readonly items: ReadonlyMap<string, ItemRow>
  readonly env: ReadonlyMap<string, EnvRow>
  readonly assets: ReadonlyMap<string, AssetRow>
}

export const EMPTY_CONTENT: VaultContent = { items: new Map(), env: new Map(), assets: new Map() }

/** The content a head commits to, from complete lists. */
export function verifyContent(
  head: VerifiedHead,
  lists: { items: readonly unknown[]; env: readonly unknown[]; assets: readonly unknown[] },
): VaultContent {
  return {
    items: new Map(verifyItems(head, lists.items).map((row: VerifiedItemRow) => [row.itemId, row])),
    env: new Map(verifyEnvironment(head, lists.env).map((row: VerifiedEnvRow) => [row.fieldId, row])),
    assets: new Map(verifyAssets(head, lists.assets).map((row) => [row.assetId, row])),
  }
}

/** A change makes new rows and keeps the others, so most have been hashed before. Rows are never changed in place. */
const rowHashes = new WeakMap<object, Bytes>()

function rowHash(row: object): Bytes {
  const known = rowHashes.get(row)
  if (known) return known
  const value = mapValue(row)
  rowHashes.set(row, value)
  return value
}

const treeOf = <T extends object>(rows: ReadonlyMap<string, T>, nameOf: (id: string) => string): Tree => ({
  root: toBase64url(mapRoot([...rows].map(([id, row]) => [nameOf(id), rowHash(row)] as const))),
  count: rows.size,
})

/** The three roots of a head. */
export const treesOf = ({ items, env, assets }: VaultContent): { items: Tree; env: Tree; assets: Tree } => ({
  items: treeOf(items, itemName),
  env: treeOf(env, envName),
  assets: treeOf(assets, assetName),
})

/** The path of one item or attachment in its map, for reads of a single one (6.4). */
export const proveItemRow = ({ items }: VaultContent, itemId: string): MapProofText => proveRow(items, itemName, itemId)
export const proveAssetRow = ({ assets }: VaultContent, assetId: string): MapProofText =>
  proveRow(assets, assetName, assetId)

const proveRow = <T>(rows: ReadonlyMap<string, T>, nameOf: (id: string) => string, id: string): MapProofText =>
  encodeMapProof(
    proveMap(
      [...rows].map(([rowId, row]) => [nameOf(rowId), mapValue(row)] as const),
      nameOf(id),
    ),
  )

export const rowOf = (detail: ItemDetailPayload, detailHash: string): ItemRow => ({
  itemId: detail.itemId,
  itemVersion: detail.itemVersion,
  name: detail.name,
  website: detail.website,
  status: detail.status,
  fieldCount: detail.fields.length,
  detailHash,
})

/** Archived items export nothing. */
const envRowsOf = ({ itemId, status, fields }: ItemDetailPayload): readonly EnvRow[] =>
  status === 'archived'
    ? []
    : fields
        .filter((field) => field.env)
        .map(({ ct, dekVersion, fieldId, label, rev }) => ({ ct, dekVersion, fieldId, itemId, label, rev }))

export interface ContentChange {
  readonly details?: readonly { readonly detail: ItemDetailPayload; readonly hash: string }[]
  readonly assets?: readonly AssetRow[]
  /** Items that left for another vault. */
  readonly moved?: readonly string[]
}

/** The content after a change; the old one stays as it is. */
export function applyChange(
  content: VaultContent,
  { details = [], assets = [], moved = [] }: ContentChange,
): VaultContent {
  const items = new Map(content.items)
  const touched = new Set([...details.map(({ detail }) => detail.itemId), ...moved])
  const env = new Map([...content.env].filter(([, row]) => !touched.has(row.itemId)))
  const assetRows = new Map([...content.assets].filter(([, row]) => !moved.includes(row.itemId)))
  for (const itemId of moved) items.delete(itemId)
  for (const { detail, hash } of details) {
    items.set(detail.itemId, rowOf(detail, hash))
    for (const row of envRowsOf(detail)) env.set(row.fieldId, row)
  }
  for (const row of assets) assetRows.set(row.assetId, assetRow(row, 'asset'))
  return { items, env, assets: assetRows }
}
