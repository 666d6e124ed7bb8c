import { type Static, Type } from 'typebox'
import { TenantRoleEntry } from './identity.ts'
import { ORG_ROLES } from './permissions.ts'
import type { Routes } from './route.ts'
import { closed, Id, listOf, Name, OneOf, Page, Time } from './shapes.ts'

export const User = closed({
  userId: Id,
  email: Type.String(),
  name: Type.String(),
  status: OneOf(['invited', 'active', 'removed']),
  tenantId: Id,
  orgRoles: Type.Array(OneOf(ORG_ROLES)),
  tenantRoles: Type.Array(TenantRoleEntry, { description: 'Held directly, in tenants the caller administers' }),
  createdAt: Time,
})
export type User = Static<typeof User>

export const TenantRoles = Type.Array(TenantRoleEntry, { maxItems: 200, uniqueItems: true })

export const users = {
  list: {
    api: 'platform',
    method: 'GET',
    path: '/user',
    summary: 'The people of the organisation, or of the tenants the caller administers',
    access: { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN', 'TENANT_ADMIN'] },
    query: closed(Page),
    response: listOf('users', User),
  },
  get: {
    api: 'platform',
    method: 'GET',
    path: '/user/:id',
    summary: 'One person; everybody sees themselves',
    access: { kind: 'user' },
    params: closed({ id: Id }),
    response: User,
    errors: ['user_not_found'],
  },
  update: {
    api: 'platform',
    method: 'PATCH',
    path: '/user/:id',
    summary: 'Change a person’s name; everybody may change their own',
    access: { kind: 'user' },
    params: closed({ id: Id }),
    body: closed({ name: Name }),
    response: User,
    errors: ['user_not_found', 'role_required'],
  },
  remove: {
    api: 'platform',
    method: 'DELETE',
    path: '/user/:id',
    summary: 'Remove a person: sessions, API keys, roles and sealed keys end; liveKeys still want a signed key.revoke',
    access: { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN', 'TENANT_ADMIN'] },
    params: closed({ id: Id }),
    response: closed({ userId: Id, status: OneOf(['removed']), liveKeys: Type.Array(Type.String()) }),
    errors: ['user_not_found', 'role_required', 'last_owner', 'quorum_unreachable'],
  },
  setOrgRoles: {
    api: 'platform',
    method: 'PUT',
    path: '/user/:id/org-roles',
    summary: 'Replace a person’s roles in the organisation',
    access: { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN'] },
    params: closed({ id: Id }),
    body: closed({ orgRoles: Type.Array(OneOf(ORG_ROLES), { maxItems: 3, uniqueItems: true }) }),
    response: User,
    errors: ['user_not_found', 'cannot_grant', 'last_owner'],
  },
  setTenantRoles: {
    api: 'platform',
    method: 'PUT',
    path: '/user/:id/tenant-roles',
    summary: 'Replace a person’s direct roles in the tenants the caller administers',
    access: { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN', 'TENANT_ADMIN'] },
    params: closed({ id: Id }),
    body: closed({ tenantRoles: TenantRoles }),
    response: User,
    errors: ['user_not_found', 'tenant_not_found', 'cannot_grant'],
  },
} as const satisfies Routes
