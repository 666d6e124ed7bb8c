import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'
import { vaultOfItem } from '../vaults/store.ts'

/** The tenant a caller works in; without one there is nothing to see. */
export interface Place {
  readonly orgId: string
  readonly tenantId: string | null
}

export interface AgentRow {
  readonly agentId: string
  readonly domainTenantId: string
  readonly name: string
  readonly description: string
  readonly status: 'active' | 'archived'
  readonly permissions: string[]
  readonly securityGroups: { groupId: string; name: string }[]
  readonly accessKey: string | null
  readonly vaultId: string | null
  readonly vaultItemId: string | null
  readonly expiresAt: Date | null
  readonly networks: string[]
  readonly createdBy: string
  readonly createdAt: Date
  readonly archivedAt: Date | null
}

const groupsOfAgent = sql<AgentRow['securityGroups']>`coalesce((
  select jsonb_agg(jsonb_build_object('groupId', g.group_id, 'name', g.name) order by g.name, g.group_id)
  from group_member m join security_group g on g.org_id = m.org_id and g.group_id = m.group_id
  where m.org_id = agent.org_id and m.agent_id = agent.agent_id), '[]')`

/** Looked up for each row by its index: joined, a planner without statistics compares every agent with every key. */
const activeKey = sql<string | null>`(
  select k.access_key from api_key k
  where k.org_id = agent.org_id and k.agent_id = agent.agent_id and k.status = 'active')`

const inPlace = (db: Db, { orgId, tenantId }: Place) =>
  db
    .selectFrom('agent')
    .where('agent.org_id', '=', orgId)
    .where('agent.tenant_id', '=', tenantId ?? '')
    .select([
      'agent.agent_id as agentId',
      'agent.tenant_id as domainTenantId',
      'agent.name',
      'agent.description',
      sql<AgentRow['status']>`agent.status`.as('status'),
      'agent.permissions',
      groupsOfAgent.as('securityGroups'),
      activeKey.as('accessKey'),
      vaultOfItem('agent', { vaultId: 'vault_id', itemId: 'vault_item_id' }).as('vaultId'),
      'agent.vault_item_id as vaultItemId',
      'agent.expires_at as expiresAt',
      'agent.networks',
      'agent.created_by as createdBy',
      'agent.created_at as createdAt',
      'agent.archived_at as archivedAt',
    ])

export function list(
  db: Db,
  place: Place,
  { status, ...page }: PageQuery & { status?: string },
): Promise<Listed<AgentRow>> {
  const all = inPlace(db, place)
  const select: Expression<AgentRow> = status === undefined ? all : all.where('agent.status', '=', status)
  return listRows(db, select, { time: 'createdAt', id: 'agentId' }, page)
}

export const agent = (db: Db, place: Place, agentId: string): Promise<AgentRow | undefined> =>
  inPlace(db, place).where('agent.agent_id', '=', agentId).executeTakeFirst()

export interface LockedAgent {
  readonly agentId: string
  readonly status: string
  readonly permissions: string[]
  readonly expiresAt: Date | null
  readonly networks: string[]
}

/** Whoever changes an agent takes its row first, so that changes of one agent follow one another. */
export const lockAgent = (db: Db, { orgId, tenantId }: Place, agentId: string): Promise<LockedAgent | undefined> =>
  db
    .selectFrom('agent')
    .select(['agent_id as agentId', 'status', 'permissions', 'expires_at as expiresAt', 'networks'])
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', tenantId ?? '')
    .where('agent_id', '=', agentId)
    .forNoKeyUpdate()
    .executeTakeFirst()

export interface NewAgent {
  readonly orgId: string
  readonly tenantId: string
  readonly agentId: string
  readonly name: string
  readonly description: string
  readonly permissions: readonly string[]
  readonly expiresAt: Date | null
  readonly networks: readonly string[]
  readonly createdBy: string
  readonly at: Date
}

/** False if an active agent of the tenant has the name. */
export async function insertAgent(db: Db, row: NewAgent): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('agent')
    .values({
      org_id: row.orgId,
      agent_id: row.agentId,
      tenant_id: row.tenantId,
      name: row.name,
      description: row.description,
      status: 'active',
      permissions: [...row.permissions],
      vault_id: null,
      vault_item_id: null,
      expires_at: row.expiresAt,
      networks: [...row.networks],
      created_by: row.createdBy,
      created_at: row.at,
      archived_at: null,
    })
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'tenant_id', 'name']).where('status', '=', 'active').doNothing(),
    )
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export interface AgentChange {
  readonly name?: string
  readonly description?: string
  readonly permissions?: string[]
  readonly vault_id?: string | null
  readonly vault_item_id?: string | null
  readonly expires_at?: Date | null
  readonly networks?: string[]
}

const UNIQUE_VIOLATION = '23505'

/** False if the new name is taken; the transaction is over then. */
export async function changeAgent(db: Db, orgId: string, agentId: string, change: AgentChange): Promise<boolean> {
  if (Object.keys(change).length === 0) return true
  return db
    .updateTable('agent')
    .set(change)
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .execute()
    .then(() => true)
    .catch((error: { code?: string; constraint?: string }) => {
      if (error.code === UNIQUE_VIOLATION && error.constraint === 'agent_name') return false
      throw error
    })
}

/** False if it was archived before. */
export async function archiveAgent(db: Db, orgId: string, agentId: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('agent')
    .set({ status: 'archived', archived_at: at })
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'active')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export const isActive = async (db: Db, orgId: string, agentId: string): Promise<boolean> =>
  (await db
    .selectFrom('agent')
    .select('agent_id')
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'active')
    .forShare()
    .executeTakeFirst()) !== undefined
