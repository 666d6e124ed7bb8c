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

/** Editors of one list follow one another. */
export async function lockItem(db: Db, { orgId, vaultId }: WritableVault, itemId: string): Promise<void> {
  await sql`
    select from vault_item where org_id = ${orgId} and vault_id = ${vaultId} and item_id = ${itemId}
    for no key update`.execute(db)
}

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
