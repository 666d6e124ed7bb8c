import { type AssetRow, assetRow } from '../attachments/row.ts'
import { toBase64url } from '../encoding/base64.ts'
import type { Bytes } from '../encoding/bytes.ts'
import { encodeMapProof, type MapProofText, mapRoot, mapValue, proveMap } from '../log/map.ts'
import { makeMap, type StateMap } from '../log/map-tree.ts'
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

/** Lists of which a change was made here, and the trees of those that were changed again: a writer in a row hashes the paths it changes. */
const derived = new WeakSet<object>()
const trees = new WeakMap<object, StateMap>()

interface Origin {
  readonly before: ReadonlyMap<string, object>
  /** Undefined where rows are gone. */
  readonly changed: readonly string[] | undefined
}
const origins = new WeakMap<object, Origin>()

/** Remembers what a list came from, where that may save hashing all of it; no longer than until it is hashed. */
function derive(after: ReadonlyMap<string, object>, before: ReadonlyMap<string, object>): void {
  if (trees.has(before) || derived.has(before)) {
    const isSmaller = [...before.keys()].some((id) => !after.has(id))
    const changed = [...after].filter(([id, row]) => before.get(id) !== row).map(([id]) => id)
    origins.set(after, { before, changed: isSmaller ? undefined : changed })
  }
  derived.add(after)
}

function rootOf(rows: ReadonlyMap<string, object>, nameOf: (id: string) => string): Uint8Array {
  const entries = (ids: Iterable<string>) =>
    [...ids].map((id) => [nameOf(id), rowHash(rows.get(id) as object)] as const)
  const known = trees.get(rows)
  if (known) return known.root()
  const origin = origins.get(rows)
  origins.delete(rows)
  if (!origin) return mapRoot(entries(rows.keys()))
  const older = origin.changed && trees.get(origin.before)
  const tree = older ? older.fork() : makeMap()
  for (const [name, value] of entries((older && origin.changed) || rows.keys())) tree.set(name, value)
  trees.set(rows, tree)
  return tree.root()
}

const treeOf = (rows: ReadonlyMap<string, object>, nameOf: (id: string) => string): Tree => ({
  root: toBase64url(rootOf(rows, nameOf)),
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

/** The row that is there if it is the same one: it has been hashed before. */
const keptRow = (old: EnvRow | undefined, row: EnvRow): EnvRow =>
  old &&
  old.ct === row.ct &&
  old.dekVersion === row.dekVersion &&
  old.itemId === row.itemId &&
  old.label === row.label &&
  old.rev === row.rev
    ? old
    : row

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
    for (const row of envRowsOf(detail)) env.set(row.fieldId, keptRow(content.env.get(row.fieldId), row))
  }
  for (const row of assets) assetRows.set(row.assetId, assetRow(row, 'asset'))
  derive(items, content.items)
  derive(env, content.env)
  derive(assetRows, content.assets)
  return { items, env, assets: assetRows }
}
