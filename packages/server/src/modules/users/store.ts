import type { OrgRole } from '@strongroom/contract'
import { type Expression, sql } from 'kysely'
import { asOrgRoles, type TenantRoleEntry } from '../../access/roles.ts'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'

export interface Owner {
  readonly orgId: string
  readonly userId: string
}

export interface UserRow {
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly status: 'invited' | 'active' | 'removed'
  readonly tenantId: string
  readonly orgRoles: OrgRole[]
  readonly tenantRoles: TenantRoleEntry[]
  readonly createdAt: Date
}

const directRoles = sql<TenantRoleEntry[]>`coalesce((
  select jsonb_agg(jsonb_build_object('tenantId', r.tenant_id, 'role', r.role) order by r.tenant_id, r.role)
  from tenant_role r where r.org_id = u.org_id and r.user_id = u.user_id), '[]')`

/** Who may be seen: everybody, or oneself and those who belong to or hold a role in one of the tenants. */
export interface Sight {
  readonly orgId: string
  readonly userId: string
  readonly tenantIds: readonly string[] | null
}

const inSight = (db: Db, { orgId, userId, tenantIds }: Sight) => {
  const all = db
    .selectFrom('org_user as u')
    .select([
      'u.user_id as userId',
      'u.email',
      'u.name',
      sql<UserRow['status']>`u.status`.as('status'),
      'u.tenant_id as tenantId',
      sql<OrgRole[]>`u.org_roles`.as('orgRoles'),
      directRoles.as('tenantRoles'),
      'u.created_at as createdAt',
    ])
    .where('u.org_id', '=', orgId)
  if (tenantIds === null) return all
  const tenants = sql`any(${[...tenantIds]}::text[])`
  return all.where(sql<boolean>`(u.user_id = ${userId} or u.tenant_id = ${tenants} or exists (
    select 1 from jsonb_to_recordset(roles_of(u.org_id, null, u.user_id)) as held ("tenantId" text) where held."tenantId" = ${tenants}))`)
}

export const list = (db: Db, sight: Sight, page: PageQuery): Promise<Listed<UserRow>> => {
  const select: Expression<UserRow> = inSight(db, sight).where('u.status', '<>', 'removed')
  return listRows(db, select, { time: 'createdAt', id: 'userId' }, page)
}

export const user = (db: Db, sight: Sight, userId: string): Promise<UserRow | undefined> =>
  inSight(db, sight).where('u.user_id', '=', userId).where('u.status', '<>', 'removed').executeTakeFirst()

/** Changes of one person follow one another. */
export async function lockUser(db: Db, { orgId, userId }: Owner): Promise<void> {
  await db
    .selectFrom('org_user')
    .select('user_id')
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .forNoKeyUpdate()
    .execute()
}

/** The active owners, and nobody else becomes or ceases to be one of them until the transaction ends. */
export async function lockOwners(db: Db, orgId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('org_user')
    .select('user_id as userId')
    .where('org_id', '=', orgId)
    .where('status', '=', 'active')
    .where(sql<boolean>`'ORG_OWNER' = any(org_roles)`)
    .orderBy('user_id')
    .forNoKeyUpdate()
    .execute()
  return rows.map(({ userId }) => userId)
}

/** Everybody who is active but this person, those who came first before the others. */
export async function activePeople(db: Db, orgId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('org_user')
    .select('user_id as userId')
    .where('org_id', '=', orgId)
    .where('status', '=', 'active')
    .orderBy('created_at')
    .execute()
  return rows.map((row) => row.userId)
}

export const othersThan = async (db: Db, { orgId, userId }: Owner): Promise<string[]> =>
  (await activePeople(db, orgId)).filter((one) => one !== userId)

export interface ActiveUser {
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly tenantId: string
  readonly orgRoles: OrgRole[]
}

/** Whoever removes the person meanwhile waits, and so sees what was decided on them. */
export async function activeUser(db: Db, { orgId, userId }: Owner): Promise<ActiveUser | undefined> {
  const row = await db
    .selectFrom('org_user')
    .select(['user_id as userId', 'email', 'name', 'tenant_id as tenantId', 'org_roles as orgRoles'])
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('status', '=', 'active')
    .forShare()
    .executeTakeFirst()
  return row && { ...row, orgRoles: asOrgRoles(row.orgRoles) }
}

export interface NewUser extends Owner {
  readonly email: string
  readonly name: string
  readonly tenantId: string
  readonly status: 'invited' | 'active'
  readonly orgRoles: readonly OrgRole[]
  readonly at: Date
}

/** false if somebody who is not removed has the address. */
export async function insertUser(
  db: Db,
  { orgId, userId, email, name, tenantId, status, orgRoles, at }: NewUser,
): Promise<boolean> {
  const made = await db
    .insertInto('org_user')
    .values({
      org_id: orgId,
      user_id: userId,
      email,
      name,
      status,
      org_roles: [...orgRoles],
      tenant_id: tenantId,
      created_at: at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return made.numInsertedOrUpdatedRows === 1n
}

export async function activate(db: Db, { orgId, userId }: Owner): Promise<boolean> {
  const done = await db
    .updateTable('org_user')
    .set({ status: 'active' })
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('status', '=', 'invited')
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

export async function rename(db: Db, { orgId, userId }: Owner, name: string): Promise<void> {
  await db.updateTable('org_user').set({ name }).where('org_id', '=', orgId).where('user_id', '=', userId).execute()
}

export async function setOrgRoles(db: Db, { orgId, userId }: Owner, orgRoles: readonly OrgRole[]): Promise<void> {
  await db
    .updateTable('org_user')
    .set({ org_roles: [...orgRoles] })
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .execute()
}

/** Without roles, groups and address in use; the row stays, since history names the person. */
export async function remove(db: Db, { orgId, userId }: Owner): Promise<void> {
  await db
    .updateTable('org_user')
    .set({ status: 'removed', org_roles: [] })
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .execute()
  await db.deleteFrom('tenant_role').where('org_id', '=', orgId).where('user_id', '=', userId).execute()
  await db.deleteFrom('group_member').where('org_id', '=', orgId).where('user_id', '=', userId).execute()
}

export async function addTenantRoles(
  db: Db,
  { orgId, userId }: Owner,
  entries: readonly TenantRoleEntry[],
): Promise<void> {
  if (entries.length === 0) return
  await db
    .insertInto('tenant_role')
    .values(
      entries.map(({ tenantId, role }) => ({
        org_id: orgId,
        tenant_id: tenantId,
        role,
        user_id: userId,
        agent_id: null,
        group_id: null,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function removeTenantRoles(
  db: Db,
  { orgId, userId }: Owner,
  entries: readonly TenantRoleEntry[],
): Promise<void> {
  if (entries.length === 0) return
  await db
    .deleteFrom('tenant_role')
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where(
      sql<boolean>`(tenant_id, role) in (select * from unnest(${entries.map(({ tenantId }) => tenantId)}::text[], ${entries.map(({ role }) => role)}::text[]))`,
    )
    .execute()
}
