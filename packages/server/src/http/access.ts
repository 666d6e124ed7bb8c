import { type Access, holds } from '@strongroom/contract'
import type { Principal } from '../context.ts'
import { ApiError } from '../errors.ts'

/** Nobody needs to be known: the service decides what that means. */
export const isPublic = (access: Access): boolean => access.kind === 'public' || access.kind === 'setup'

/** The first ring: what the credential may do at all. What belongs to somebody is decided in the service. */
export function ensureAccess(access: Access, principal: Principal): void {
  const need = (permission: string | undefined): void => {
    if (permission !== undefined && !holds(principal.permissions, permission))
      throw new ApiError('machine_permission_denied', { details: { permission } })
  }
  switch (access.kind) {
    case 'public':
    case 'setup':
    case 'principal':
      return
    case 'permission':
      need(access.permission)
      if (access.tenantRole !== undefined) ensureTenantRole(principal, access.tenantRole)
      return
    case 'agent':
      if (principal.type !== 'agent') throw new ApiError('agent_principal_required')
      need(access.permission)
      return
    case 'global-admin':
      need(access.permission)
      if (!principal.globalAdmin) throw new ApiError('global_admin_required')
      return
    case 'user':
      ensureUser(principal, access.anyOf)
      return
  }
}

/** In the tenant the session works in. Owners and admins of the organisation hold every tenant role. */
function ensureTenantRole(principal: Principal, role: string): void {
  const overall = principal.orgRoles.includes('ORG_OWNER') || principal.orgRoles.includes('ORG_ADMIN')
  const here = principal.tenantRoles.some(
    (entry) => entry.tenantId === principal.tenantId && (entry.role === role || entry.role === 'TENANT_ADMIN'),
  )
  if (!overall && !here && principal.type !== 'operator') throw new ApiError('role_required', { details: { role } })
}

function ensureUser(principal: Principal, anyOf: readonly string[] | undefined): void {
  if (principal.type !== 'user' || principal.authMethod !== 'access_token') throw new ApiError('key_kind_refused')
  if (anyOf === undefined) return
  const held = [...principal.orgRoles, ...principal.tenantRoles.map(({ role }) => role)]
  if (!anyOf.some((role) => held.includes(role as never))) throw new ApiError('role_required', { details: { anyOf } })
}
