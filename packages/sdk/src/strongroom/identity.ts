import type { Output, identity as routes } from '@strongroom/contract'

export interface PrincipalInfo {
  readonly kind: 'agent' | 'user' | 'operator'
  /** `agent:…`, `user:…` or `operator:…` */
  readonly id: string
  readonly name: string
  readonly org: string
  readonly tenant?: string
  readonly authMethod: string
  readonly permissions: readonly string[]
  readonly orgRoles: readonly string[]
  readonly tenantRoles: readonly { readonly tenantId: string; readonly role: string }[]
  readonly warnings: readonly string[]
}

export interface TenantContext {
  readonly org: string
  readonly domainTenantId: string | null
  readonly name: string | null
}

export const principalInfo = (me: Output<typeof routes.me>): PrincipalInfo => ({
  kind: me.principal.type,
  id: me.principal.id,
  name: me.principal.name,
  org: me.org.orgId,
  ...(me.tenant && { tenant: me.tenant.domainTenantId }),
  authMethod: me.authMethod,
  permissions: me.permissions,
  orgRoles: me.orgRoles,
  tenantRoles: me.tenantRoles,
  warnings: me.warnings.map(({ message }) => message),
})

export const tenantContext = ({
  orgId,
  domainTenantId,
  tenant,
}: Output<typeof routes.tenantContext>): TenantContext => ({
  org: orgId,
  domainTenantId,
  name: tenant?.name ?? null,
})
