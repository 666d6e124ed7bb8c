import { notHeld } from '@strongroom/contract'
import { holdsTenantRole, type TenantRoleEntry } from '../../access/roles.ts'
import type { Principal } from '../../context.ts'
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
}

/** Refuses the whole gift and names every part of it that the giver does not hold. */
export function ensureCanGive(
  giver: Principal,
  { permissions = [], tenantRoles = [], securityGroups = [] }: Gift,
): void {
  const missing = {
    permissions: notHeld(giver.permissions, permissions),
    tenantRoles: tenantRoles.filter((entry) => !holdsTenantRole(giver, entry)),
    securityGroups: securityGroups
      .filter(({ roles }) => roles.some((entry) => !holdsTenantRole(giver, entry)))
      .map(({ groupId }) => groupId),
  }
  const named = Object.fromEntries(Object.entries(missing).filter(([, parts]) => parts.length > 0))
  if (Object.keys(named).length > 0) throw new ApiError('cannot_grant', { details: named })
}
