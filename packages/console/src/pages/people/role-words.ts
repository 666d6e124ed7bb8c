import type { OrgRole, TenantRole } from '@strongroom/contract'

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
