import type { OrgRole, Tenant, TenantRole } from '@strongroom/contract'

export const ORG_ROLE_WORDS: Record<OrgRole, { readonly name: string; readonly says: string }> = {
  ORG_OWNER: { name: 'Owner', says: 'Everything, and who the other owners are.' },
  ORG_ADMIN: { name: 'Administrator', says: 'People, tenants, agents and all settings.' },
  ORG_BILLING_MANAGER: { name: 'Billing manager', says: 'Credit, budgets and licences of the organisation.' },
}

export const TENANT_ROLE_WORDS: Record<TenantRole, { readonly name: string; readonly says: string }> = {
  TENANT_ADMIN: { name: 'Administrator', says: 'People and groups of the tenant.' },
  TENANT_AGENT_MANAGER: { name: 'Agent manager', says: 'Makes and archives its agents.' },
  TENANT_BUDGET_MANAGER: { name: 'Budget manager', says: 'Sets its budgets.' },
  TENANT_MEMBER: { name: 'Member', says: 'Belongs to it.' },
}

/** An id says nothing to anybody; it is shown where there is no such tenant any more, and not while nobody has said which there are. */
export const tenantName = (id: string, tenants: readonly Tenant[] | undefined): string =>
  tenants ? (tenants.find(({ tenantId }) => tenantId === id)?.name ?? id) : 'a tenant'

interface RoleSomewhere {
  readonly tenantId: string
  readonly role: TenantRole
}

export const tenantRoleWords = ({ tenantId, role }: RoleSomewhere, tenants: readonly Tenant[] | undefined): string =>
  `${TENANT_ROLE_WORDS[role].name} of ${tenantName(tenantId, tenants)}`
