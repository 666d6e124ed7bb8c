import { type Static, Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed, Id, listOf, Name, Nullable, OneOf, Page, Time } from './shapes.ts'

export const Tenant = closed({
  tenantId: Id,
  parentId: Nullable(Id),
  name: Type.String(),
  status: OneOf(['active', 'archived']),
  createdAt: Time,
})
export type Tenant = Static<typeof Tenant>

export const tenants = {
  list: {
    api: 'platform',
    method: 'GET',
    path: '/tenant',
    summary: 'All tenants, or those the caller belongs to',
    access: { kind: 'user' },
    query: closed(Page),
    response: listOf('data', Tenant),
  },
  create: {
    api: 'platform',
    method: 'POST',
    path: '/tenant',
    summary: 'Create a tenant; whoever administers a tenant may create one below it',
    access: { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN', 'TENANT_ADMIN'] },
    body: closed({ name: Name, parentId: Type.Optional(Id) }),
    status: 201,
    response: Tenant,
    errors: ['tenant_not_found', 'role_required', 'name_taken'],
  },
  update: {
    api: 'platform',
    method: 'PATCH',
    path: '/tenant/:id',
    summary: 'Rename or move a tenant, or archive it when it is empty',
    access: { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN', 'TENANT_ADMIN'] },
    params: closed({ id: Id }),
    body: Type.Object(
      { name: Type.Optional(Name), parentId: Type.Optional(Nullable(Id)), status: Type.Optional(OneOf(['archived'])) },
      { additionalProperties: false, minProperties: 1 },
    ),
    response: Tenant,
    errors: ['tenant_not_found', 'role_required', 'name_taken', 'tenant_cycle', 'tenant_archived', 'tenant_not_empty'],
  },
} as const satisfies Routes
