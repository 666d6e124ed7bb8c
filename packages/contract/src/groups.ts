import { type Static, Type } from 'typebox'
import { TenantRoleEntry } from './identity.ts'
import type { Routes } from './route.ts'
import { closed, Id, listOf, Name, OneOf, Page, Time } from './shapes.ts'
import { TenantRoles } from './users.ts'

const Member = closed({ type: OneOf(['user', 'agent']), id: Id })

export const Group = closed({
  groupId: Id,
  tenantId: Id,
  name: Type.String(),
  members: Type.Array(Member),
  tenantRoles: Type.Array(TenantRoleEntry, { description: 'Held by every member' }),
  createdAt: Time,
})
export type Group = Static<typeof Group>

const ADMINS = { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN', 'TENANT_ADMIN'] } as const

export const groups = {
  list: {
    api: 'platform',
    method: 'GET',
    path: '/security-group',
    summary: 'The security groups of the organisation, or of the tenants the caller administers',
    access: ADMINS,
    query: closed(Page),
    response: listOf('data', Group),
  },
  create: {
    api: 'platform',
    method: 'POST',
    path: '/security-group',
    summary: 'Create a security group in a tenant',
    access: ADMINS,
    body: closed({ tenantId: Id, name: Name }),
    status: 201,
    response: Group,
    errors: ['tenant_not_found', 'name_taken'],
  },
  update: {
    api: 'platform',
    method: 'PATCH',
    path: '/security-group/:id',
    summary: 'Rename a security group',
    access: ADMINS,
    params: closed({ id: Id }),
    body: closed({ name: Name }),
    response: Group,
    errors: ['group_not_found', 'name_taken'],
  },
  remove: {
    api: 'platform',
    method: 'DELETE',
    path: '/security-group/:id',
    summary: 'Delete a security group; its members lose the roles it gave them',
    access: ADMINS,
    params: closed({ id: Id }),
    response: closed({ groupId: Id }),
    errors: ['group_not_found', 'cannot_grant'],
  },
  setMembers: {
    api: 'platform',
    method: 'PUT',
    path: '/security-group/:id/members',
    summary: 'Replace the members of a security group',
    access: ADMINS,
    params: closed({ id: Id }),
    body: closed({ members: Type.Array(Member, { maxItems: 1000, uniqueItems: true }) }),
    response: Group,
    errors: ['group_not_found', 'user_not_found', 'agent_not_found', 'cannot_grant'],
  },
  setTenantRoles: {
    api: 'platform',
    method: 'PUT',
    path: '/security-group/:id/tenant-roles',
    summary: 'Replace the roles every member of a security group holds',
    access: ADMINS,
    params: closed({ id: Id }),
    body: closed({ tenantRoles: TenantRoles }),
    response: Group,
    errors: ['group_not_found', 'tenant_not_found', 'cannot_grant'],
  },
} as const satisfies Routes
