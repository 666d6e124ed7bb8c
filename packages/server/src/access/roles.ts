import { ORG_ROLES, type OrgRole, type TenantRole } from '@strongroom/contract'
import type { Principal } from '../context.ts'
import { ApiError } from '../errors.ts'

// Who holds what, who runs what, and the one rule of giving: nobody gives or takes what they do not hold themselves.

export interface TenantRoleEntry {
  readonly tenantId: string
  readonly role: TenantRole
}

type Holder = Pick<Principal, 'orgRoles' | 'tenantRoles'>

/** Each role with those it includes. A role that is missing here includes itself and nothing else. */
const INCLUDED: Readonly<Partial<Record<OrgRole, readonly OrgRole[]>>> = {
  ORG_OWNER: ORG_ROLES,
  ORG_ADMIN: ['ORG_ADMIN', 'ORG_BILLING_MANAGER'],
}

/** Owners and admins run every tenant of the organisation. */
export const runsOrg = ({ orgRoles }: Pick<Holder, 'orgRoles'>): boolean =>
  orgRoles.includes('ORG_OWNER') || orgRoles.includes('ORG_ADMIN')

/** The tenants the holder administers, or null for every one there is. Tenants below them are not included. */
export const tenantsRunBy = (holder: Holder): readonly string[] | null =>
  runsOrg(holder)
    ? null
    : holder.tenantRoles.filter(({ role }) => role === 'TENANT_ADMIN').map(({ tenantId }) => tenantId)

export const runsTenant = (holder: Holder, tenantId: string): boolean =>
  tenantsRunBy(holder)?.includes(tenantId) ?? true

export const holdsOrgRole = ({ orgRoles }: Pick<Holder, 'orgRoles'>, role: OrgRole): boolean =>
  orgRoles.some((held) => held === role || (INCLUDED[held]?.includes(role) ?? false))

/** Whoever manages the money of the organisation sees all of it: what was bought by whom, every budget, every charge. */
export const managesMoney = (holder: Pick<Holder, 'orgRoles'>): boolean => holdsOrgRole(holder, 'ORG_BILLING_MANAGER')

/** An administrator of a tenant holds every role in it; other roles include nothing but themselves. */
export const holdsTenantRole = (holder: Holder, { tenantId, role }: TenantRoleEntry): boolean =>
  runsTenant(holder, tenantId) || holder.tenantRoles.some((held) => held.tenantId === tenantId && held.role === role)

export interface RoleChange {
  readonly orgRoles?: readonly OrgRole[]
  readonly tenantRoles?: readonly TenantRoleEntry[]
}

/**
 * Refuses to give or take roles the holder does not hold; details name them. In a tenant only its administrator gives roles,
 * and holds all of them.
 */
export function ensureMayGive(holder: Holder, { orgRoles = [], tenantRoles = [] }: RoleChange): void {
  const missingOrgRoles = orgRoles.filter((role) => !holdsOrgRole(holder, role))
  const missingTenantRoles = tenantRoles.filter(({ tenantId }) => !runsTenant(holder, tenantId))
  if (missingOrgRoles.length + missingTenantRoles.length === 0) return
  throw new ApiError('cannot_grant', { details: { orgRoles: missingOrgRoles, tenantRoles: missingTenantRoles } })
}

export function ensureRunsTenant(holder: Holder, tenantId: string): void {
  if (!runsTenant(holder, tenantId))
    throw new ApiError('role_required', { details: { role: 'TENANT_ADMIN', tenantId } })
}

/** Whoever acts on a person must hold everything that person holds in the organisation: an admin cannot remove an owner. */
export function ensureOutranks(holder: Holder, target: { readonly orgRoles: readonly OrgRole[] }): void {
  const above = target.orgRoles.filter((role) => !holdsOrgRole(holder, role))
  if (above.length > 0) throw new ApiError('role_required', { details: { orgRoles: above } })
}

export const roleKey = ({ tenantId, role }: TenantRoleEntry): string => `${tenantId} ${role}`

/** What a replacement adds and what it takes away. */
export function changeOf<T>(
  before: readonly T[],
  after: readonly T[],
  key: (entry: T) => string,
): { readonly added: readonly T[]; readonly removed: readonly T[] } {
  const had = new Set(before.map(key))
  const has = new Set(after.map(key))
  return {
    added: after.filter((entry) => !had.has(key(entry))),
    removed: before.filter((entry) => !has.has(key(entry))),
  }
}

/** Rows hold text; what is no role (any more) counts for nothing. */
export const asOrgRoles = (texts: readonly string[]): OrgRole[] => ORG_ROLES.filter((role) => texts.includes(role))
