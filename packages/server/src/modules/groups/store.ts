import { type Expression, sql } from 'kysely'
import type { TenantRoleEntry } from '../../access/roles.ts'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'

export interface Member {
  readonly type: 'user' | 'agent'
  readonly id: string
}

export interface GroupRow {
  readonly groupId: string
  readonly tenantId: string
  readonly name: string
  readonly members: Member[]
  readonly tenantRoles: TenantRoleEntry[]
  readonly createdAt: Date
}

const members = sql<Member[]>`coalesce((
  select jsonb_agg(jsonb_build_object('type', case when m.user_id is null then 'agent' else 'user' end, 'id', coalesce(m.user_id, m.agent_id)) order by m.user_id, m.agent_id)
  from group_member m where m.org_id = g.org_id and m.group_id = g.group_id), '[]')`

const roles = sql<TenantRoleEntry[]>`coalesce((
  select jsonb_agg(jsonb_build_object('tenantId', r.tenant_id, 'role', r.role) order by r.tenant_id, r.role)
  from tenant_role r where r.org_id = g.org_id and r.group_id = g.group_id), '[]')`

/** null shows the groups of every tenant, a list those of these tenants and no others. */
export interface Sight {
  readonly orgId: string
  readonly tenantIds: readonly string[] | null
}

const inSight = (db: Db, { orgId, tenantIds }: Sight) => {
  const all = db
    .selectFrom('security_group as g')
    .select([
      'g.group_id as groupId',
      'g.tenant_id as tenantId',
      'g.name',
      members.as('members'),
      roles.as('tenantRoles'),
      'g.created_at as createdAt',
    ])
    .where('g.org_id', '=', orgId)
  return tenantIds === null ? all : all.where('g.tenant_id', '=', sql<string>`any(${[...tenantIds]}::text[])`)
}

export const list = (db: Db, sight: Sight, page: PageQuery): Promise<Listed<GroupRow>> => {
  const select: Expression<GroupRow> = inSight(db, sight)
  return listRows(db, select, { time: 'createdAt', id: 'groupId' }, page)
}

export const group = (db: Db, sight: Sight, groupId: string): Promise<GroupRow | undefined> =>
  inSight(db, sight).where('g.group_id', '=', groupId).executeTakeFirst()

/** Until the transaction ends nobody else changes the group, and nobody is put into it. */
export async function lockGroup(db: Db, orgId: string, groupId: string): Promise<void> {
  await db
    .selectFrom('security_group')
    .select('group_id')
    .where('org_id', '=', orgId)
    .where('group_id', '=', groupId)
    .forUpdate()
    .execute()
}

/** false if a group of the tenant has the name. */
export async function insertGroup(
  db: Db,
  { orgId, groupId, tenantId, name, at }: { orgId: string; groupId: string; tenantId: string; name: string; at: Date },
): Promise<boolean> {
  const made = await db
    .insertInto('security_group')
    .values({ org_id: orgId, group_id: groupId, tenant_id: tenantId, name, created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return made.numInsertedOrUpdatedRows === 1n
}

/** false if another group of the tenant has the name. The caller holds the tenant, so nobody takes it meanwhile. */
export async function rename(
  db: Db,
  orgId: string,
  { groupId, tenantId }: Pick<GroupRow, 'groupId' | 'tenantId'>,
  name: string,
): Promise<boolean> {
  const taken = await db
    .selectFrom('security_group')
    .select('group_id')
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', tenantId)
    .where('name', '=', name)
    .where('group_id', '<>', groupId)
    .executeTakeFirst()
  if (taken) return false
  await db
    .updateTable('security_group')
    .set({ name })
    .where('org_id', '=', orgId)
    .where('group_id', '=', groupId)
    .execute()
  return true
}

/** Members and roles go with it. */
export async function deleteGroup(db: Db, orgId: string, groupId: string): Promise<void> {
  await db.deleteFrom('security_group').where('org_id', '=', orgId).where('group_id', '=', groupId).execute()
}

const idsOf = (members: readonly Member[], type: Member['type']): string[] =>
  members.filter((member) => member.type === type).map(({ id }) => id)

export async function addMembers(db: Db, orgId: string, groupId: string, added: readonly Member[]): Promise<void> {
  if (added.length === 0) return
  await db
    .insertInto('group_member')
    .values(
      added.map(({ type, id }) => ({
        org_id: orgId,
        group_id: groupId,
        user_id: type === 'user' ? id : null,
        agent_id: type === 'agent' ? id : null,
      })),
    )
    .execute()
}

export async function removeMembers(db: Db, orgId: string, groupId: string, removed: readonly Member[]): Promise<void> {
  await db
    .deleteFrom('group_member')
    .where('org_id', '=', orgId)
    .where('group_id', '=', groupId)
    .where(
      sql<boolean>`(user_id = any(${idsOf(removed, 'user')}::text[]) or agent_id = any(${idsOf(removed, 'agent')}::text[]))`,
    )
    .execute()
}

export async function replaceRoles(
  db: Db,
  orgId: string,
  groupId: string,
  entries: readonly TenantRoleEntry[],
): Promise<void> {
  await db.deleteFrom('tenant_role').where('org_id', '=', orgId).where('group_id', '=', groupId).execute()
  if (entries.length === 0) return
  await db
    .insertInto('tenant_role')
    .values(
      entries.map(({ tenantId, role }) => ({
        org_id: orgId,
        tenant_id: tenantId,
        role,
        user_id: null,
        agent_id: null,
        group_id: groupId,
      })),
    )
    .execute()
}

/** How many of the named agents are active and in sight. */
export async function countAgents(db: Db, { orgId, tenantIds }: Sight, agentIds: readonly string[]): Promise<number> {
  let agents = db
    .selectFrom('agent')
    .select(sql<number>`count(*)`.as('count'))
    .where('org_id', '=', orgId)
    .where('status', '=', 'active')
    .where('agent_id', '=', sql<string>`any(${[...agentIds]}::text[])`)
  if (tenantIds !== null) agents = agents.where('tenant_id', '=', sql<string>`any(${[...tenantIds]}::text[])`)
  return (await agents.executeTakeFirstOrThrow()).count
}
