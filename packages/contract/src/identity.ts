import { Type } from 'typebox'
import { ORG_ROLES, TENANT_ROLES } from './permissions.ts'
import type { Routes } from './route.ts'
import { closed, Id, Nullable, OneOf } from './shapes.ts'

export const TenantRoleEntry = closed({ tenantId: Id, role: OneOf(TENANT_ROLES) })

const Principal = closed({
  type: OneOf(['agent', 'user', 'operator']),
  id: Type.String({ description: 'agent:<agentId>, user:<orgUserId> or operator:<keyId>' }),
  name: Type.String(),
})

const Warning = closed({ code: Type.String(), message: Type.String() })

export const identity = {
  me: {
    api: 'machine',
    method: 'GET',
    path: '/me',
    summary: 'The authenticated principal, how it authenticated, and its organisation, tenant and agent',
    access: { kind: 'principal' },
    response: closed({
      principal: Principal,
      authMethod: OneOf(['api_key', 'access_token']),
      org: closed({ orgId: Id }),
      tenant: Nullable(closed({ domainTenantId: Id })),
      agent: Nullable(closed({ agentId: Id, name: Type.String(), domainTenantId: Id })),
      permissions: Type.Array(Type.String()),
      orgRoles: Type.Array(OneOf(ORG_ROLES)),
      tenantRoles: Type.Array(TenantRoleEntry),
      globalAdmin: Type.Boolean(),
      warnings: Type.Array(Warning),
    }),
  },
  tenantContext: {
    api: 'machine',
    method: 'GET',
    path: '/tenant-context',
    summary: 'The active tenant and the default domainTenantId',
    access: { kind: 'principal' },
    response: closed({
      orgId: Id,
      domainTenantId: Nullable(Id),
      tenant: Nullable(closed({ domainTenantId: Id, name: Type.String(), parentId: Nullable(Id) })),
    }),
  },
} as const satisfies Routes
