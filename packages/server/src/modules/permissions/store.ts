import { sql } from 'kysely'
import type { ReadableVault, VaultRole, WritableVault } from '../../access/vaults.ts'
import type { Db } from '../../db/database.ts'

export interface Entry {
  readonly principal: string
  readonly role: VaultRole
}

export const vaultEntries = async (db: Db, { orgId, vaultId }: ReadableVault): Promise<Entry[]> =>
  (
    await sql<Entry>`
      select principal, role from vault_access
      where org_id = ${orgId} and vault_id = ${vaultId} and role is not null order by principal`.execute(db)
  ).rows

export const itemEntries = async (db: Db, { orgId }: ReadableVault, itemId: string): Promise<Entry[]> =>
  (
    await sql<Entry>`
      select principal, role from vault_item_access
      where org_id = ${orgId} and item_id = ${itemId} order by principal`.execute(db)
  ).rows

export async function replaceItemEntries(
  db: Db,
  { orgId }: WritableVault,
  itemId: string,
  entries: readonly Entry[],
): Promise<void> {
  await sql`delete from vault_item_access where org_id = ${orgId} and item_id = ${itemId}`.execute(db)
  await sql`
    insert into vault_item_access (org_id, item_id, principal, role)
    select ${orgId}, ${itemId}, * from unnest(
      ${entries.map(({ principal }) => principal)}::text[], ${entries.map(({ role }) => role)}::text[])`.execute(db)
}

/**
 * Whoever has left the vault leaves the lists of its items, and who has less in it has less in them. A list that all have left is its
 * admins': without entries the item would be shown to everybody.
 */
export async function narrowItemEntries(
  db: Db,
  { orgId, vaultId }: Pick<ReadableVault, 'orgId' | 'vaultId'>,
): Promise<void> {
  await sql`
    with listed as (
      select x.item_id, x.principal, x.role, a.role as held from vault_item i
      join vault_item_access x on x.org_id = i.org_id and x.item_id = i.item_id
      left join vault_access a on a.org_id = i.org_id and a.vault_id = i.vault_id and a.principal = x.principal
      where i.org_id = ${orgId} and i.vault_id = ${vaultId}
    ), ended as (
      delete from vault_item_access x using listed l
      where x.org_id = ${orgId} and x.item_id = l.item_id and x.principal = l.principal and l.held is null
    ), lowered as (
      update vault_item_access x set role = l.held from listed l
      where x.org_id = ${orgId} and x.item_id = l.item_id and x.principal = l.principal
        and array_position(array['read', 'write', 'admin'], l.held) < array_position(array['read', 'write', 'admin'], l.role)
    )
    insert into vault_item_access (org_id, item_id, principal, role)
    select ${orgId}, l.item_id, a.principal, a.role
    from (select item_id from listed group by item_id having bool_and(held is null)) as l
    join vault_access a on a.org_id = ${orgId} and a.vault_id = ${vaultId} and a.role = 'admin'`.execute(db)
}
