import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'

export interface TenantRow {
  readonly tenantId: string
  readonly parentId: string | null
  readonly name: string
  readonly status: 'active' | 'archived'
  readonly createdAt: Date
}

const columns = [
  'tenant_id as tenantId',
  'parent_id as parentId',
  'name',
  sql<TenantRow['status']>`status`.as('status'),
  'created_at as createdAt',
] as const

/** null shows every tenant, a list those and no others. */
export type Visible = readonly string[] | null

const visible = (db: Db, orgId: string, tenantIds: Visible) => {
  const all = db.selectFrom('tenant').select(columns).where('org_id', '=', orgId)
  return tenantIds === null ? all : all.where('tenant_id', '=', sql<string>`any(${[...tenantIds]}::text[])`)
}

export const list = (db: Db, orgId: string, tenantIds: Visible, page: PageQuery): Promise<Listed<TenantRow>> => {
  const select: Expression<TenantRow> = visible(db, orgId, tenantIds)
  return listRows(db, select, { time: 'createdAt', id: 'tenantId' }, page)
}

export const tenant = (db: Db, orgId: string, tenantIds: Visible, tenantId: string): Promise<TenantRow | undefined> =>
  visible(db, orgId, tenantIds).where('tenant_id', '=', tenantId).executeTakeFirst()

/** Changes of the tree follow one another: two moves at once could close a circle that neither sees. Rows may still refer to it. */
export async function lockTree(db: Db, orgId: string): Promise<void> {
  await db.selectFrom('org').select('org_id').where('org_id', '=', orgId).forNoKeyUpdate().execute()
}

export interface NewTenant {
  readonly orgId: string
  readonly tenantId: string
  readonly parentId: string | null
  readonly name: string
  readonly at: Date
}

/** false if an active tenant beside it has the name. */
export async function insertTenant(db: Db, { orgId, tenantId, parentId, name, at }: NewTenant): Promise<boolean> {
  const made = await db
    .insertInto('tenant')
    .values({ org_id: orgId, tenant_id: tenantId, parent_id: parentId, name, status: 'active', created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return made.numInsertedOrUpdatedRows === 1n
}

export async function hasSibling(
  db: Db,
  orgId: string,
  { tenantId, parentId, name }: { tenantId: string; parentId: string | null; name: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('tenant')
    .select('tenant_id')
    .where('org_id', '=', orgId)
    .where('tenant_id', '<>', tenantId)
    .where('parent_id', 'is not distinct from', parentId)
    .where('name', '=', name)
    .where('status', '=', 'active')
    .executeTakeFirst()
  return row !== undefined
}

/** The tenant and everything above it. */
export async function withAncestors(db: Db, orgId: string, tenantId: string): Promise<string[]> {
  const { rows } = await sql<{ tenant_id: string }>`
    with recursive up (tenant_id, parent_id) as (
      select tenant_id, parent_id from tenant where org_id = ${orgId} and tenant_id = ${tenantId}
      union
      select t.tenant_id, t.parent_id from tenant t join up on t.tenant_id = up.parent_id where t.org_id = ${orgId}
    ) select tenant_id from up`.execute(db)
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Nobody can be put into it any more until the transaction ends: whoever refers to the row waits. */
export async function lockTenant(db: Db, orgId: string, tenantId: string): Promise<void> {
  await db
    .selectFrom('tenant')
    .select('tenant_id')
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', tenantId)
    .forUpdate()
    .execute()
}

export async function holdTenant(db: Db, orgId: string, tenantId: string): Promise<void> {
  await db
    .selectFrom('tenant')
    .select('tenant_id')
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', tenantId)
    .forNoKeyUpdate()
    .execute()
}

export interface Contents {
  readonly tenants: number
  readonly users: number
  readonly agents: number
  readonly groups: number
}

export async function contents(db: Db, orgId: string, tenantId: string): Promise<Contents> {
  const { rows } = await sql<Contents>`select
    (select count(*) from tenant where org_id = ${orgId} and parent_id = ${tenantId} and status = 'active') as tenants,
    (select count(*) from org_user where org_id = ${orgId} and tenant_id = ${tenantId} and status <> 'removed') as users,
    (select count(*) from agent where org_id = ${orgId} and tenant_id = ${tenantId} and status = 'active') as agents,
    (select count(*) from security_group where org_id = ${orgId} and tenant_id = ${tenantId}) as groups`.execute(db)
  return rows[0] ?? { tenants: 0, users: 0, agents: 0, groups: 0 }
}

export async function updateTenant(
  db: Db,
  orgId: string,
  { tenantId, parentId, name, status }: Omit<TenantRow, 'createdAt'>,
): Promise<void> {
  await db
    .updateTable('tenant')
    .set({ parent_id: parentId, name, status })
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', tenantId)
    .execute()
}

/** Those of the named tenants that are active; they stay so while this transaction runs. */
export async function active(db: Db, orgId: string, tenantIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('tenant')
    .select('tenant_id as tenantId')
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', sql<string>`any(${[...tenantIds]}::text[])`)
    .where('status', '=', 'active')
    .orderBy('tenant_id')
    .forShare()
    .execute()
  return rows.map(({ tenantId }) => tenantId)
}
