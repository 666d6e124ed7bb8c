import type { TenantRole } from '@strongroom/contract'
import { sql } from 'kysely'
import type { TenantRoleEntry } from '../../access/roles.ts'
import type { Db } from '../../db/database.ts'
import type { GroupWithRoles } from './grants.ts'

// The roles and groups of agents: only rows that name an agent are written here.

export interface InheritedRole extends TenantRoleEntry {
  readonly groupId: string
  readonly groupName: string
}

export const directRoles = (db: Db, orgId: string, agentId: string): Promise<TenantRoleEntry[]> =>
  db
    .selectFrom('tenant_role')
    .select(['tenant_id as tenantId', sql<TenantRole>`role`.as('role')])
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .orderBy('tenant_id')
    .orderBy('role')
    .execute()

export const inheritedRoles = (db: Db, orgId: string, agentId: string): Promise<InheritedRole[]> =>
  db
    .selectFrom('group_member as m')
    .innerJoin('security_group as g', (join) =>
      join.onRef('g.org_id', '=', 'm.org_id').onRef('g.group_id', '=', 'm.group_id'),
    )
    .innerJoin('tenant_role as r', (join) =>
      join.onRef('r.org_id', '=', 'm.org_id').onRef('r.group_id', '=', 'm.group_id'),
    )
    .select([
      'r.tenant_id as tenantId',
      sql<TenantRole>`r.role`.as('role'),
      'g.group_id as groupId',
      'g.name as groupName',
    ])
    .where('m.org_id', '=', orgId)
    .where('m.agent_id', '=', agentId)
    .orderBy('r.tenant_id')
    .orderBy('r.role')
    .orderBy('g.group_id')
    .execute()

export async function replaceDirectRoles(
  db: Db,
  orgId: string,
  agentId: string,
  entries: readonly TenantRoleEntry[],
): Promise<void> {
  await db.deleteFrom('tenant_role').where('org_id', '=', orgId).where('agent_id', '=', agentId).execute()
  if (entries.length === 0) return
  const rows = entries.map(({ tenantId, role }) => ({
    org_id: orgId,
    tenant_id: tenantId,
    role,
    user_id: null,
    agent_id: agentId,
    group_id: null,
  }))
  await db.insertInto('tenant_role').values(rows).execute()
}

/** Those of the named tenants that exist and are active; they stay while this transaction runs. */
export async function activeTenants(db: Db, orgId: string, tenantIds: readonly string[]): Promise<string[]> {
  if (tenantIds.length === 0) return []
  const rows = await db
    .selectFrom('tenant')
    .select('tenant_id')
    .where('org_id', '=', orgId)
    .where('tenant_id', 'in', tenantIds)
    .where('status', '=', 'active')
    .forShare()
    .execute()
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Those of the named groups that belong to the tenant, with what their members inherit; they stay while this transaction runs. */
export async function groupsWithRoles(
  db: Db,
  orgId: string,
  tenantId: string,
  groupIds: readonly string[],
): Promise<GroupWithRoles[]> {
  if (groupIds.length === 0) return []
  return db
    .selectFrom('security_group')
    .select([
      'group_id as groupId',
      sql<TenantRoleEntry[]>`coalesce((
        select jsonb_agg(jsonb_build_object('tenantId', r.tenant_id, 'role', r.role))
        from tenant_role r where r.org_id = security_group.org_id and r.group_id = security_group.group_id), '[]')`.as(
        'roles',
      ),
    ])
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', tenantId)
    .where('group_id', 'in', groupIds)
    .forKeyShare()
    .execute()
}

export async function groupIdsOf(db: Db, orgId: string, agentId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('group_member')
    .select('group_id')
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .execute()
  return rows.map(({ group_id }) => group_id)
}

/** Takes the agent out of every group but these. */
export async function leaveGroups(db: Db, orgId: string, agentId: string, but: readonly string[]): Promise<void> {
  await sql`
    delete from group_member
    where org_id = ${orgId} and agent_id = ${agentId} and group_id <> all(${[...but]}::text[])`.execute(db)
}

/** Only groups that were opened for it: whoever is in one already is not put into it again. */
export async function joinGroups(
  db: Db,
  orgId: string,
  agentId: string,
  groups: readonly GroupWithRoles[],
): Promise<void> {
  if (groups.length === 0) return
  const rows = groups.map(({ groupId }) => ({ org_id: orgId, group_id: groupId, user_id: null, agent_id: agentId }))
  await db
    .insertInto('group_member')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
