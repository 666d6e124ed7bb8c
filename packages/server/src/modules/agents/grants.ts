import { notHeld } from '@strongroom/contract'
import { beyond, type Limit, NO_LIMITS } from '../../access/limits.ts'
import { holdsTenantRole, type TenantRoleEntry } from '../../access/roles.ts'
import type { AgentLimits, Principal } from '../../context.ts'
import { ApiError } from '../../errors.ts'

// Nobody can give what they do not hold.

/** A security group with the roles everybody in it inherits. */
export interface GroupWithRoles {
  readonly groupId: string
  readonly roles: readonly TenantRoleEntry[]
}

export interface Gift {
  readonly permissions?: readonly string[]
  readonly tenantRoles?: readonly TenantRoleEntry[]
  readonly securityGroups?: readonly GroupWithRoles[]
  /** What is to hold an agent back. Where there were limits before, only what becomes wider is a gift. */
  readonly limits?: { readonly wanted: AgentLimits; readonly before?: AgentLimits }
}

function missingRoom({ limits = NO_LIMITS }: Principal, room: Gift['limits']): Limit[] {
  if (!room) return []
  const { wanted, before } = room
  const added = before ? beyond(wanted, before) : undefined
  return beyond(wanted, limits).filter((limit) => added?.includes(limit) ?? true)
}

/** Refuses the whole gift and names every part of it that the giver does not hold. */
export function ensureCanGive(
  giver: Principal,
  { permissions = [], tenantRoles = [], securityGroups = [], limits }: Gift,
): void {
  const missing = {
    permissions: notHeld(giver.permissions, permissions),
    tenantRoles: tenantRoles.filter((entry) => !holdsTenantRole(giver, entry)),
    securityGroups: securityGroups
      .filter(({ roles }) => roles.some((entry) => !holdsTenantRole(giver, entry)))
      .map(({ groupId }) => groupId),
    limits: missingRoom(giver, limits),
  }
  const named = Object.fromEntries(Object.entries(missing).filter(([, parts]) => parts.length > 0))
  if (Object.keys(named).length > 0) throw new ApiError('cannot_grant', { details: named })
}
