import type { CheckedCommit, Commit, DetailField, Envelope } from '@strongroom/protocol'
import { sql } from 'kysely'
import type { ReadableVault } from '../../access/vaults.ts'
import type { Db } from '../../db/database.ts'

// What items were before they were written again (migration 0067). The commit that replaces a version keeps it.

/** Of an item so many versions stay beside the current one. */
const KEPT_VERSIONS = 50

type Place = Pick<ReadableVault, 'orgId' | 'vaultId'>

/** What write_next_versions wants to know of the items that were there before. */
export const formerRows = ({ items }: Pick<CheckedCommit, 'items'>) => ({
  formerItems: items.filter(({ detail }) => detail.itemVersion > 1).map(({ detail }) => detail.itemId),
  keptVersions: KEPT_VERSIONS,
})

/** Before the next versions are written. */
export async function keepFormer(
  db: Db,
  { orgId, vaultId }: Place,
  checked: Pick<CheckedCommit, 'items'>,
  { values }: Pick<Commit, 'values'>,
): Promise<void> {
  const { formerItems, keptVersions } = formerRows(checked)
  if (formerItems.length === 0) return
  const fieldIds = checked.items.flatMap(({ detail }) => detail.fields.map(({ fieldId }) => fieldId))
  await sql`
    select keep_former_versions(${orgId}, ${vaultId}, ${formerItems}::text[], ${fieldIds}::text[],
      ${Object.keys(values)}::text[], ${keptVersions})`.execute(db)
}

/** What is under a retired key can be opened by nobody any more; the versions that had it go with it. */
export async function dropRetired(db: Db, { orgId, vaultId }: Place, oldestDek: number): Promise<void> {
  await sql`
    with dropped as (
      delete from vault_field_former
      where org_id = ${orgId} and vault_id = ${vaultId} and dek_version < ${oldestDek} returning item_id, last_version
    ), ended as (select item_id, max(last_version) as version from dropped group by item_id)
    delete from vault_item_former f using ended e
    where f.org_id = ${orgId} and f.vault_id = ${vaultId} and f.item_id = e.item_id and f.item_version <= e.version`.execute(
    db,
  )
}

/** The signed details of the versions that are kept, from this one on, the newest first. */
export async function formerDetails(
  db: Db,
  { orgId, vaultId }: ReadableVault,
  itemId: string,
  from = 1,
): Promise<Envelope[]> {
  const rows = await db
    .selectFrom('vault_item_former')
    .select('detail')
    .where('org_id', '=', orgId)
    .where('vault_id', '=', vaultId)
    .where('item_id', '=', itemId)
    .where('item_version', '>=', from)
    .orderBy('item_version', 'desc')
    .execute()
  return rows.map(({ detail }) => detail as unknown as Envelope)
}

/** The ciphertexts that a detail names, wherever they are by now. */
export async function valuesNamed(
  db: Db,
  { orgId, vaultId }: ReadableVault,
  itemId: string,
  fields: readonly DetailField[],
): Promise<Readonly<Record<string, string>>> {
  const { rows } = await sql<{ values: Record<string, string> }>`
    with named as (
      select * from unnest(${fields.map(({ fieldId }) => fieldId)}::text[], ${fields.map(({ ct }) => ct)}::text[]) as n (field_id, ct)
    ), kept as (
      select field_id, ct, value from vault_field
      where org_id = ${orgId} and vault_id = ${vaultId} and item_id = ${itemId}
      union all
      select field_id, ct, value from vault_field_former
      where org_id = ${orgId} and vault_id = ${vaultId} and item_id = ${itemId}
    )
    select coalesce(jsonb_object_agg(field_id, value), '{}') as values from kept join named using (field_id, ct)`.execute(
    db,
  )
  return rows[0]?.values ?? {}
}
