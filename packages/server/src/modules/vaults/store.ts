import {
  type AssetRow,
  type Envelope,
  type EnvRow,
  type ItemRow,
  type VaultContent,
  vaultName,
} from '@strongroom/protocol'
import { sql } from 'kysely'
import type { ReadableVault } from '../../access/vaults.ts'
import type { Db } from '../../db/database.ts'

export interface VaultRow {
  readonly vaultId: string
  readonly tenantId: string
  readonly name: string
  readonly classification: 'public' | 'internal' | 'confidential' | 'restricted'
  readonly status: 'active' | 'archived'
  readonly role: 'read' | 'write' | 'admin' | null
  readonly itemCount: number
  readonly headVersion: number
  readonly rotationDue: Date | null
  readonly createdBy: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

const selectRows = (db: Db, orgId: string, principal: string) =>
  db
    .selectFrom('vault as v')
    .innerJoin('vault_access as a', (join) =>
      join.onRef('a.org_id', '=', 'v.org_id').onRef('a.vault_id', '=', 'v.vault_id'),
    )
    .select([
      'v.vault_id as vaultId',
      'v.tenant_id as tenantId',
      'v.name',
      sql<VaultRow['classification']>`v.classification`.as('classification'),
      sql<VaultRow['status']>`v.status`.as('status'),
      sql<VaultRow['role']>`a.role`.as('role'),
      'v.item_count as itemCount',
      'v.head_version as headVersion',
      'v.rotation_due as rotationDue',
      'v.created_by as createdBy',
      'v.created_at as createdAt',
      'v.updated_at as updatedAt',
    ])
    .where('v.org_id', '=', orgId)
    .where('a.principal', '=', principal)

export const vaultsOf = (db: Db, orgId: string, principal: string): Promise<VaultRow[]> =>
  selectRows(db, orgId, principal)
    .where('a.role', 'is not', null)
    .orderBy('v.created_at', 'desc')
    .orderBy('v.vault_id', 'desc')
    .execute()

/** Also for somebody who has just left the access list by an own commit. */
export const vaultRow = (db: Db, orgId: string, principal: string, vaultId: string): Promise<VaultRow | undefined> =>
  selectRows(db, orgId, principal).where('v.vault_id', '=', vaultId).executeTakeFirst()

export interface VaultHashes {
  readonly adminsChain: readonly string[]
  readonly headHash: string
  readonly aclHash: string
  readonly dekVersions: readonly number[]
}

/** The documents the log says are current, and the key versions in use. */
export async function vaultHashes(db: Db, orgId: string, vaultId: string): Promise<VaultHashes | undefined> {
  const { rows } = await sql<VaultHashes>`
    select v.admins_chain as "adminsChain", m.state ->> 'headHash' as "headHash", m.state ->> 'aclHash' as "aclHash",
      array(select (d ->> 'dekVersion')::integer from jsonb_array_elements(m.state -> 'draining') as d)
        || (m.state ->> 'dekVersion')::integer as "dekVersions"
    from vault v join map_state m on m.org_id = ${orgId} and m.name = ${vaultName(vaultId)}
    where v.org_id = ${orgId} and v.vault_id = ${vaultId}`.execute(db)
  return rows[0]
}

export type Lists = { items: ItemRow[]; env: EnvRow[]; assets: AssetRow[] }

/** Every row that a head commits to, in one statement and so of one moment. */
export async function contentRows(
  db: Db,
  { orgId, vaultId }: Pick<ReadableVault, 'orgId' | 'vaultId'>,
): Promise<Lists> {
  const { rows } = await sql<Lists>`
    select
      coalesce((select jsonb_agg(jsonb_build_object('itemId', item_id, 'itemVersion', item_version, 'name', name,
        'website', website, 'status', status, 'fieldCount', field_count, 'detailHash', detail_hash))
        from vault_item where org_id = ${orgId} and vault_id = ${vaultId}), '[]') as items,
      coalesce((select jsonb_agg(jsonb_build_object('ct', f.ct, 'dekVersion', f.dek_version, 'fieldId', f.field_id,
        'itemId', f.item_id, 'label', f.label, 'rev', f.rev))
        from vault_field f join vault_item i using (org_id, vault_id, item_id)
        where f.org_id = ${orgId} and f.vault_id = ${vaultId} and f.env and i.status = 'active'), '[]') as env,
      coalesce((select jsonb_agg(jsonb_build_object('assetId', asset_id, 'assetVersion', asset_version, 'docHash', doc_hash,
        'itemId', item_id, 'status', status))
        from vault_asset where org_id = ${orgId} and vault_id = ${vaultId}), '[]') as assets`.execute(db)
  return rows[0] as Lists
}

export type ContentList = keyof Lists
const ROWS_PER_PIECE = 500

/**
 * The same rows as JSON, in pieces, in the order of every list: what is only passed on is neither parsed nor put together in memory. Fields
 * have no time of their own.
 */
export async function contentPieces(
  db: Db,
  { orgId, vaultId }: ReadableVault,
): Promise<readonly { readonly list: ContentList; readonly rows: string }[]> {
  const { rows } = await sql<{ list: ContentList; rows: string }>`
    select list, string_agg(row::text, ',' order by n) as rows from (
      select 'items' as list, row_number() over (order by created_at desc, item_id desc) as n, jsonb_build_object(
        'itemId', item_id, 'itemVersion', item_version,
        'name', name, 'website', website, 'status', status, 'fieldCount', field_count, 'detailHash', detail_hash) as row
      from vault_item where org_id = ${orgId} and vault_id = ${vaultId}
      union all
      select 'env', row_number() over (order by f.field_id), jsonb_build_object('ct', f.ct, 'dekVersion', f.dek_version,
        'fieldId', f.field_id, 'itemId', f.item_id, 'label', f.label, 'rev', f.rev)
      from vault_field f join vault_item i using (org_id, vault_id, item_id)
      where f.org_id = ${orgId} and f.vault_id = ${vaultId} and f.env and i.status = 'active'
      union all
      select 'assets', row_number() over (order by created_at desc, asset_id desc), jsonb_build_object('assetId', asset_id,
        'assetVersion', asset_version, 'docHash', doc_hash, 'itemId', item_id, 'status', status)
      from vault_asset where org_id = ${orgId} and vault_id = ${vaultId}
    ) as content
    group by list, (n - 1) / ${ROWS_PER_PIECE}::integer order by list, min(n)`.execute(db)
  return rows
}

export const contentOf = ({ items, env, assets }: Lists): VaultContent => ({
  items: new Map(items.map((row) => [row.itemId, row])),
  env: new Map(env.map((row) => [row.fieldId, row])),
  assets: new Map(assets.map((row) => [row.assetId, row])),
})

export interface EnvironmentField {
  readonly row: EnvRow
  readonly value: string
}

export async function environmentFields(db: Db, { orgId, vaultId }: ReadableVault): Promise<EnvironmentField[]> {
  const rows = await db
    .selectFrom('vault_field as f')
    .innerJoin('vault_item as i', (join) =>
      join
        .onRef('i.org_id', '=', 'f.org_id')
        .onRef('i.vault_id', '=', 'f.vault_id')
        .onRef('i.item_id', '=', 'f.item_id'),
    )
    .select([
      'f.ct',
      'f.dek_version as dekVersion',
      'f.field_id as fieldId',
      'f.item_id as itemId',
      'f.label',
      'f.rev',
      'f.value',
    ])
    .where('f.org_id', '=', orgId)
    .where('f.vault_id', '=', vaultId)
    .where('f.env', '=', true)
    .where('i.status', '=', 'active')
    .orderBy('f.field_id')
    .execute()
  return rows.map(({ value, ...row }) => ({ row, value }))
}

/** Of rows that name an item with the vault it was in: the vault it lies in now, also if it has moved. The names are of columns. */
export const vaultOfItem = (
  table: string,
  { vaultId, itemId }: { readonly vaultId: string; readonly itemId: string },
) =>
  sql<string | null>`coalesce((
    select i.vault_id from vault_item i
    where i.org_id = ${sql.ref(`${table}.org_id`)} and i.item_id = ${sql.ref(`${table}.${itemId}`)}), ${sql.ref(`${table}.${vaultId}`)})`

export interface StoredItem {
  readonly detail: Envelope
  readonly values: Readonly<Record<string, string>>
}

export async function item(db: Db, { orgId, vaultId }: ReadableVault, itemId: string): Promise<StoredItem | undefined> {
  const { rows } = await sql<StoredItem>`
    select i.detail, coalesce((
      select jsonb_object_agg(f.field_id, f.value) from vault_field f
      where f.org_id = i.org_id and f.vault_id = i.vault_id and f.item_id = i.item_id), '{}') as values
    from vault_item i where i.org_id = ${orgId} and i.vault_id = ${vaultId} and i.item_id = ${itemId}`.execute(db)
  return rows[0]
}

export const itemOfField = async (
  db: Db,
  { orgId, vaultId }: ReadableVault,
  fieldId: string,
): Promise<{ itemId: string; value: string } | undefined> =>
  db
    .selectFrom('vault_field')
    .select(['item_id as itemId', 'value'])
    .where('org_id', '=', orgId)
    .where('vault_id', '=', vaultId)
    .where('field_id', '=', fieldId)
    .executeTakeFirst()

/** The hashes of the wraps that the log grants a principal's active keys, by key. */
export async function grantsOf(
  db: Db,
  orgId: string,
  vaultId: string,
  principal: string,
): Promise<readonly { kid: string; name: string; wrapHash: string }[]> {
  const { rows } = await sql<{ kid: string; name: string; wrapHash: string }>`
    select g.kid, g.name, g.state ->> 'wrapHash' as "wrapHash" from map_state k
    join map_state g on g.org_id = k.org_id and g.vault_id = ${vaultId} and g.is_live and 'kid/' || g.kid = k.name
    where k.org_id = ${orgId} and k.principal = ${principal} and k.state ->> 'status' = 'active'
    order by g.name`.execute(db)
  return rows
}
