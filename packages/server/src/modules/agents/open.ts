import { limitsOf } from '../../access/limits.ts'
import type { TenantRoleEntry } from '../../access/roles.ts'
import type { TxCtx } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import { ensureCanGive, type GroupWithRoles } from './grants.ts'
import * as roleStore from './role-store.ts'
import * as store from './store.ts'

// What a request points at, opened for the caller or refused.

/** The agent, locked for a change. One of another tenant does not exist; an archived one stays as it is. */
export async function openAgent({ db, principal }: TxCtx, agentId: string): Promise<store.LockedAgent> {
  const agent = found(await store.lockAgent(db, principal, agentId), 'agent_not_found')
  if (agent.status !== 'active') throw new ApiError('agent_archived')
  return agent
}

/** For answers that let the caller act as the agent, or say what it would meet: a gift to the caller, unless it is the agent itself. */
export async function ensureCanActAs(ctx: TxCtx, agent: Omit<store.LockedAgent, 'status'>): Promise<void> {
  const { agentId, permissions, ...kept } = agent
  if (agentId === ctx.principal.agentId) return
  const tenantRoles = await allRoles(ctx, agentId)
  ensureCanGive(ctx.principal, { permissions, tenantRoles, limits: { wanted: limitsOf(kept) } })
}

async function allRoles({ db, principal }: TxCtx, agentId: string): Promise<TenantRoleEntry[]> {
  const inherited = await roleStore.inheritedRoles(db, principal.orgId, agentId)
  return [
    ...(await roleStore.directRoles(db, principal.orgId, agentId)),
    ...inherited.map(({ tenantId, role }) => ({ tenantId, role })),
  ]
}

/** The named groups of the caller's tenant, all of them or none. */
export async function openGroups({ db, principal }: TxCtx, groupIds: readonly string[]): Promise<GroupWithRoles[]> {
  const groups = await roleStore.groupsWithRoles(db, principal.orgId, principal.tenantId ?? '', groupIds)
  if (groups.length !== groupIds.length) throw new ApiError('group_not_found')
  return groups
}

export async function ensureTenants({ db, principal }: TxCtx, entries: readonly TenantRoleEntry[]): Promise<void> {
  const named = [...new Set(entries.map(({ tenantId }) => tenantId))]
  const active = await roleStore.activeTenants(db, principal.orgId, named)
  if (active.length !== named.length) throw new ApiError('tenant_not_found')
}

/** For acts on the keys of an agent, which an admin of the directory does in any tenant. */
export async function ensureActiveAgent({ db, principal }: TxCtx, agentId: string): Promise<void> {
  if (!(await store.isActive(db, principal.orgId, agentId))) throw new ApiError('agent_not_found')
}
