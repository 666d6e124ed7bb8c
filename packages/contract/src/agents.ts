import { Type } from 'typebox'
import { TenantRoleEntry } from './identity.ts'
import { MAX_NETWORKS } from './networks.ts'
import { PERMISSIONS, TENANT_ROLES } from './permissions.ts'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, Moment, Name, NoPage, Nullable, OneOf, Page, Text, Time } from './shapes.ts'

const STATUS = OneOf(['active', 'archived'])
const reading = {
  kind: 'permission',
  permission: 'machine.agent.read',
  tenantRole: 'TENANT_AGENT_MANAGER',
} as const satisfies Access
const writing = {
  kind: 'permission',
  permission: 'machine.agent.write',
  tenantRole: 'TENANT_AGENT_MANAGER',
} as const satisfies Access

const params = closed({ id: Id })
const Description = Text(2000)
const PermissionNames = Type.Array(OneOf(PERMISSIONS), { maxItems: 64, uniqueItems: true })
const GroupIds = Type.Array(Id, { maxItems: 64, uniqueItems: true })
const TenantRoles = Type.Array(TenantRoleEntry, { maxItems: 64, uniqueItems: true })
const Networks = Type.Array(Type.String({ minLength: 2, maxLength: 49 }), {
  maxItems: MAX_NETWORKS,
  uniqueItems: true,
  description: 'Addresses and networks that its keys may be used from, such as 10.1.0.0/16 or 2001:db8::/32; none: any',
})
const ExpiresAt = Moment('In the future: its keys are refused from then on. ISO 8601, UTC')

const Agent = closed({
  agentId: Id,
  domainTenantId: Id,
  name: Type.String(),
  description: Type.String(),
  status: STATUS,
  permissions: Type.Array(Type.String()),
  securityGroups: Type.Array(closed({ groupId: Id, name: Type.String() })),
  accessKey: Nullable(Type.String({ description: 'The public half of the API key; null if there is none' })),
  vaultItem: Nullable(closed({ vaultId: Id, itemId: Id })),
  expiresAt: Nullable(Time),
  networks: Type.Array(Type.String()),
  createdBy: Type.String(),
  createdAt: Time,
  archivedAt: Nullable(Time),
})

const AgentAnswer = closed({ agent: Agent })
const AgentWithKey = closed({
  agent: Agent,
  apiKey: Nullable(Type.String({ description: 'Shown once; null when the answer is replayed' })),
  secretRedacted: Type.Optional(Type.Boolean()),
})

const RolesAnswer = closed({
  direct: Type.Array(TenantRoleEntry),
  inherited: Type.Array(closed({ tenantId: Id, role: OneOf(TENANT_ROLES), groupId: Id, groupName: Type.String() })),
})

/** In the order in which a request meets them. */
const CHECKS = ['key', 'expiry', 'network', 'permission', 'input', 'service'] as const
const Texts = (maxLength: number, minLength: number) =>
  Type.Record(Type.String({ pattern: '^[A-Za-z]{1,64}$' }), Type.String({ minLength, maxLength }), {
    additionalProperties: false,
    maxProperties: 16,
  })
const SimulatedCall = closed({
  call: Type.String({
    pattern: '^[A-Za-z]{1,64}\\.[A-Za-z]{1,64}$',
    description: 'A call of this reference by its name, such as vaults.environmentFields',
  }),
  params: Type.Optional(Texts(128, 1)),
  query: Type.Optional(Texts(2000, 0)),
  from: Type.Optional(
    Type.String({ minLength: 2, maxLength: 45, description: 'The address the call would come from' }),
  ),
})

const Simulation = closed({
  call: Type.String(),
  method: Type.String(),
  path: Type.String(),
  outcome: Type.Enum(['answered', 'refused', 'admitted'], {
    description: 'admitted: nothing that was tried refuses it, and not everything was tried',
  }),
  status: Nullable(Type.Integer({ description: 'Of the answer; null where it is not known' })),
  checks: Type.Array(
    closed({
      check: OneOf(CHECKS),
      result: OneOf(['passed', 'refused', 'not_tried']),
      reason: Type.Optional(Type.String({ description: 'Why it was not tried' })),
    }),
  ),
  refusal: Nullable(
    closed({
      status: Type.Integer(),
      code: Type.String(),
      message: Type.String(),
      hint: Type.String(),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
  ),
})

export const agents = {
  list: {
    api: 'machine',
    method: 'GET',
    path: '/agent',
    summary: 'The agents of the current tenant, newest first',
    access: reading,
    query: closed({ ...Page, status: Type.Optional(STATUS) }),
    response: listOf('agents', Agent),
  },
  create: {
    api: 'machine',
    method: 'POST',
    path: '/agent',
    summary: 'A new agent in the current tenant; the answer carries its API key exactly once',
    access: writing,
    body: closed({
      name: Name,
      description: Type.Optional(Description),
      permissions: PermissionNames,
      securityGroups: Type.Optional(GroupIds),
      tenantRoles: Type.Optional(TenantRoles),
      expiresAt: Type.Optional(ExpiresAt),
      networks: Type.Optional(Networks),
    }),
    status: 201,
    response: AgentWithKey,
    errors: ['cannot_grant', 'group_not_found', 'tenant_not_found', 'name_taken'],
    onceOnly: ['apiKey'],
  },
  me: {
    api: 'machine',
    method: 'GET',
    path: '/agent/me',
    summary: 'The agent that asks',
    access: { kind: 'agent' },
    response: AgentAnswer,
    errors: ['agent_principal_required'],
  },
  get: {
    api: 'machine',
    method: 'GET',
    path: '/agent/:id',
    summary: 'One agent of the current tenant',
    access: reading,
    params,
    response: AgentAnswer,
    errors: ['agent_not_found'],
  },
  update: {
    api: 'machine',
    method: 'PATCH',
    path: '/agent/:id',
    summary: 'Changes name, description, permissions, security groups or limits; what is left out stays',
    access: writing,
    params,
    body: Type.Object(
      {
        name: Type.Optional(Name),
        description: Type.Optional(Description),
        permissions: Type.Optional(PermissionNames),
        securityGroups: Type.Optional(GroupIds),
        expiresAt: Type.Optional(Nullable(ExpiresAt)),
        networks: Type.Optional(Networks),
      },
      { additionalProperties: false, minProperties: 1 },
    ),
    response: AgentAnswer,
    errors: ['agent_not_found', 'agent_archived', 'cannot_grant', 'group_not_found', 'name_taken'],
  },
  archive: {
    api: 'machine',
    method: 'PATCH',
    path: '/agent/:id/archive',
    summary: 'Archives an agent for good; its API key is dead from the next request on',
    access: writing,
    params,
    response: AgentAnswer,
    errors: ['agent_not_found'],
  },
  regenerateApiKey: {
    api: 'machine',
    method: 'POST',
    path: '/agent/:id/regenerate-api-key',
    summary: 'A new API key, shown once; the old one is dead from the next request on',
    access: writing,
    params,
    response: AgentWithKey,
    errors: ['agent_not_found', 'agent_archived', 'cannot_grant'],
    onceOnly: ['apiKey'],
  },
  simulate: {
    api: 'machine',
    method: 'POST',
    path: '/agent/:id/simulate',
    summary: 'What a call of the agent would be answered now, and why; nothing of it is done, counted or shown',
    access: writing,
    params,
    body: SimulatedCall,
    response: Simulation,
    errors: ['agent_not_found', 'agent_archived', 'cannot_grant', 'route_not_found'],
  },
  linkVaultItem: {
    api: 'machine',
    method: 'PATCH',
    path: '/agent/:id/vault-item',
    summary: 'Names the vault item that keeps the API key of the agent, or none',
    access: writing,
    params,
    body: Type.Union([closed({ vaultId: Id, itemId: Id }), closed({ vaultId: Type.Null(), itemId: Type.Null() })]),
    response: AgentAnswer,
    errors: ['agent_not_found', 'agent_archived', 'vault_item_not_found'],
  },
  tenantRoles: {
    api: 'machine',
    method: 'GET',
    path: '/agent/:id/tenant-roles',
    summary: 'The tenant roles of an agent: direct ones, and through which group it inherits others',
    access: reading,
    params,
    query: closed(NoPage),
    response: RolesAnswer,
    errors: ['agent_not_found'],
  },
  replaceTenantRoles: {
    api: 'machine',
    method: 'PATCH',
    path: '/agent/:id/tenant-roles',
    summary: 'Replaces the direct tenant roles of an agent',
    access: writing,
    params,
    body: closed({ tenantRoles: TenantRoles }),
    response: RolesAnswer,
    errors: ['agent_not_found', 'agent_archived', 'cannot_grant', 'tenant_not_found'],
  },
} as const satisfies Routes
