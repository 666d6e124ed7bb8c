import type { identity } from '@strongroom/contract'
import { transact } from '../../context.ts'
import type { Handler } from '../../http/mount.ts'
import * as store from './store.ts'

export const me: Handler<typeof identity.me> = async ({ principal }) => {
  const { agentId, tenantId, orgId, name } = principal
  return {
    principal: { type: principal.type, id: principal.id, name },
    authMethod: principal.authMethod,
    org: { orgId },
    tenant: tenantId === null ? null : { domainTenantId: tenantId },
    agent: agentId === null || tenantId === null ? null : { agentId, name, domainTenantId: tenantId },
    permissions: [...principal.permissions],
    orgRoles: [...principal.orgRoles],
    tenantRoles: [...principal.tenantRoles],
    globalAdmin: principal.globalAdmin,
    warnings:
      principal.permissions.length === 0
        ? [{ code: 'empty_policy', message: 'This principal holds no permission.' }]
        : [],
  }
}

export const tenantContext: Handler<typeof identity.tenantContext> = (ctx) =>
  transact(ctx, async ({ db, principal }) => {
    const { orgId, tenantId } = principal
    const tenant = tenantId === null ? undefined : await store.tenant(db, orgId, tenantId)
    return { orgId, domainTenantId: tenantId, tenant: tenant ?? null }
  })
