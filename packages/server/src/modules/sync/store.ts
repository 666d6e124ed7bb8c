import type { AssetRow, Envelope, ItemRow } from '@strongroom/protocol'
import { sql } from 'kysely'
import type { ReadableVault } from '../../access/vaults.ts'
import type { Db } from '../../db/database.ts'

export interface ChangedVault {
  readonly vaultId: string
  /** The caller had no access before: everything in it is new to them. */
  readonly isNew: boolean
}

/** The size of the log of now; undefined before anything was logged. */
export const logSize = async (db: Db, orgId: string): Promise<number | undefined> =>
  (await db.selectFrom('log_state').select('size').where('org_id', '=', orgId).executeTakeFirst())?.size

/** The vaults of a principal that a leaf from `since` on has touched: its head, the access to it, or a key to it. */
export async function changedVaults(
  db: Db,
  orgId: string,
  principal: string,
  since: number,
): Promise<readonly ChangedVault[]> {
  const { rows } = await sql<ChangedVault>`
    with own as (
      select state ->> 'kid' as kid from map_state where org_id = ${orgId} and principal = ${principal}
    ), granted as (
      select g.vault_id from own join map_state g on g.org_id = ${orgId} and g.kid = own.kid
      where (g.state ->> 'index')::bigint >= ${since}
    )
    select v.vault_id as "vaultId", a.since_index >= ${since} as "isNew" from vault_access a
    join vault v on v.org_id = a.org_id and v.vault_id = a.vault_id
    where a.org_id = ${orgId} and a.principal = ${principal} and a.role is not null
      and (v.head_index >= ${since} or a.since_index >= ${since} or v.vault_id in (select vault_id from granted))
    order by v.created_at desc, v.vault_id desc`.execute(db)
  return rows
}

export const removedVaults = async (db: Db, orgId: string, principal: string, since: number): Promise<string[]> =>
  (
    await db
      .selectFrom('vault_access')
      .select('vault_id as vaultId')
      .where('org_id', '=', orgId)
      .where('principal', '=', principal)
      .where('role', 'is', null)
      .where('since_index', '>=', since)
      .orderBy('vault_id')
      .execute()
  ).map(({ vaultId }) => vaultId)

export interface StoredItem {
  readonly row: ItemRow
  readonly detail: Envelope
  readonly values: Readonly<Record<string, string>>
}

export async function itemsSince(db: Db, { orgId, vaultId }: ReadableVault, since: number): Promise<StoredItem[]> {
  const { rows } = await sql<StoredItem>`
    select i.detail, jsonb_build_object('itemId', i.item_id, 'itemVersion', i.item_version, 'name', i.name, 'website', i.website,
        'status', i.status, 'fieldCount', i.field_count, 'detailHash', i.detail_hash) as row,
      coalesce((select jsonb_object_agg(f.field_id, f.value) from vault_field f
        where f.org_id = i.org_id and f.vault_id = i.vault_id and f.item_id = i.item_id), '{}') as values
    from vault_item i where i.org_id = ${orgId} and i.vault_id = ${vaultId} and i.changed_index >= ${since}
    order by i.item_id`.execute(db)
  return rows
}

export async function goneSince(db: Db, { orgId, vaultId }: ReadableVault, since: number): Promise<string[]> {
  const { rows } = await sql<{ itemId: string }>`
    select g.item_id as "itemId" from vault_item_gone g
    where g.org_id = ${orgId} and g.vault_id = ${vaultId} and g.changed_index >= ${since}
      and not exists (select from vault_item i
        where i.org_id = g.org_id and i.vault_id = g.vault_id and i.item_id = g.item_id)
    order by g.item_id`.execute(db)
  return rows.map(({ itemId }) => itemId)
}

export async function assetsSince(db: Db, { orgId, vaultId }: ReadableVault, since: number): Promise<AssetRow[]> {
  const { rows } = await sql<AssetRow>`
    select asset_id as "assetId", asset_version as "assetVersion", doc_hash as "docHash", item_id as "itemId", status
    from vault_asset where org_id = ${orgId} and vault_id = ${vaultId} and changed_index >= ${since}
    order by asset_id`.execute(db)
  return rows
}
