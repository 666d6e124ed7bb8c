import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'

export interface GroupRow {
  readonly vaultGroupId: string
  readonly tenantId: string
  readonly name: string
  /** Those whose access list names the caller. */
  readonly vaults: string[]
  readonly createdBy: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The groups of one tenant, as one principal sees them. */
export interface Sight {
  readonly orgId: string
  readonly tenantId: string
  readonly principal: string
}

const inSight = (db: Db, { orgId, tenantId, principal }: Sight) =>
  db
    .selectFrom('vault_group as g')
    .select([
      'g.vault_group_id as vaultGroupId',
      'g.tenant_id as tenantId',
      'g.name',
      sql<string[]>`array(
        select m.vault_id from vault_group_member m
        join vault_access a on a.org_id = m.org_id and a.vault_id = m.vault_id and a.principal = ${principal}
        where m.org_id = g.org_id and m.vault_group_id = g.vault_group_id and a.role is not null
        order by m.vault_id)`.as('vaults'),
      'g.created_by as createdBy',
      'g.created_at as createdAt',
      'g.updated_at as updatedAt',
    ])
    .where('g.org_id', '=', orgId)
    .where('g.tenant_id', '=', tenantId)

export const list = (db: Db, sight: Sight, page: PageQuery): Promise<Listed<GroupRow>> => {
  const select: Expression<GroupRow> = inSight(db, sight)
  return listRows(db, select, { time: 'createdAt', id: 'vaultGroupId' }, page)
}

export const group = (db: Db, sight: Sight, id: string): Promise<GroupRow | undefined> =>
  inSight(db, sight).where('g.vault_group_id', '=', id).executeTakeFirst()

/** Until the transaction ends nobody else changes the group. */
export const lockGroup = (db: Db, { orgId, tenantId }: Sight, id: string): Promise<{ id: string } | undefined> =>
  db
    .selectFrom('vault_group')
    .select('vault_group_id as id')
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', tenantId)
    .where('vault_group_id', '=', id)
    .forUpdate()
    .executeTakeFirst()

/** false if a group of the tenant has the name. */
export async function insertGroup(
  db: Db,
  { orgId, tenantId, principal }: Sight,
  { vaultGroupId, name, at }: { vaultGroupId: string; name: string; at: Date },
): Promise<boolean> {
  const made = await db
    .insertInto('vault_group')
    .values({
      org_id: orgId,
      vault_group_id: vaultGroupId,
      tenant_id: tenantId,
      name,
      created_by: principal,
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) => conflict.columns(['org_id', 'tenant_id', 'name']).doNothing())
    .executeTakeFirst()
  return made.numInsertedOrUpdatedRows === 1n
}

const UNIQUE_VIOLATION = '23505'

/** false if another group of the tenant has the name; the transaction is then over. */
export async function changeGroup(
  db: Db,
  { orgId }: Sight,
  id: string,
  { name, at }: { name: string; at: Date },
): Promise<boolean> {
  try {
    await db
      .updateTable('vault_group')
      .set({ name, updated_at: at })
      .where('org_id', '=', orgId)
      .where('vault_group_id', '=', id)
      .execute()
    return true
  } catch (error) {
    if ((error as { code?: string }).code === UNIQUE_VIOLATION) return false
    throw error
  }
}

export async function addVaults(db: Db, { orgId }: Sight, id: string, vaultIds: readonly string[]): Promise<void> {
  await sql`
    insert into vault_group_member (org_id, vault_group_id, vault_id)
    select ${orgId}, ${id}, * from unnest(${[...vaultIds]}::text[])
    on conflict do nothing`.execute(db)
}

export async function removeVaults(db: Db, { orgId }: Sight, id: string, vaultIds: readonly string[]): Promise<void> {
  await sql`
    delete from vault_group_member
    where org_id = ${orgId} and vault_group_id = ${id} and vault_id = any(${[...vaultIds]}::text[])`.execute(db)
}

/** false if there is no such group in the tenant. Its vaults stay as they are. */
export async function deleteGroup(db: Db, { orgId, tenantId }: Sight, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('vault_group')
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', tenantId)
    .where('vault_group_id', '=', id)
    .executeTakeFirst()
  return deleted.numDeletedRows === 1n
}
