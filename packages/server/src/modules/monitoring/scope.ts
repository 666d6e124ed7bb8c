import { holds } from '@strongroom/contract'
import { holdsTenantRole, tenantsRunBy } from '../../access/roles.ts'
import type { Principal } from '../../context.ts'

// Whose things a caller sees here: all of its organisation, those of some tenants, or none.

/** `null` is the whole organisation. */
export type TenantScope = readonly string[] | null

/** What people who administer see. An agent administers nobody, whatever roles it holds. */
export function administered(principal: Principal): TenantScope {
  if (principal.type === 'operator') return null
  return principal.type === 'user' ? tenantsRunBy(principal) : []
}

/** The agents that `GET /agent` would list. */
export function agentScope(principal: Principal): TenantScope {
  if (principal.type === 'operator') return null
  const { tenantId } = principal
  const lists =
    tenantId !== null &&
    holds(principal.permissions, 'machine.agent.read') &&
    holdsTenantRole(principal, { tenantId, role: 'TENANT_AGENT_MANAGER' })
  return lists ? [tenantId] : []
}
