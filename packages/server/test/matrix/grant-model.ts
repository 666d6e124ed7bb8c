// Who holds what, and the one rule of giving, written from decisions.md 3 and 4 alone: nobody can give what they do not hold.

export const TENANT_ROLES = ['TENANT_ADMIN', 'TENANT_AGENT_MANAGER', 'TENANT_BUDGET_MANAGER', 'TENANT_MEMBER']
export const ORG_ROLES = ['ORG_OWNER', 'ORG_ADMIN', 'ORG_BILLING_MANAGER']
export const GIFTS = [
  'machine.all',
  'machine.agent.all',
  'machine.agent.read',
  'machine.agent.write',
  'machine.vault.all',
  'machine.vault.read',
  'machine.vault.secret.read',
  'machine.billing.all',
  'machine.feedback.write',
]

/** `tenantId ROLE` */
export type TenantRole = string

export interface Holder {
  readonly kind: 'agent' | 'user'
  readonly id: string
  readonly home: string
  permissions: Set<string>
  orgRoles: Set<string>
  direct: Set<TenantRole>
}

export interface Group {
  readonly id: string
  readonly tenant: string
  roles: Set<TenantRole>
  /** Ids of people and agents. */
  members: Set<string>
}

export interface Model {
  readonly tenants: readonly string[]
  readonly holders: Map<string, Holder>
  readonly groups: Map<string, Group>
}

export const groupsOf = ({ groups }: Model, { id }: Holder): Group[] =>
  [...groups.values()].filter(({ members }) => members.has(id))

export const rolesOf = (model: Model, holder: Holder): Set<TenantRole> =>
  new Set([...holder.direct, ...groupsOf(model, holder).flatMap(({ roles }) => [...roles])])

export const runsOrg = ({ orgRoles }: Holder): boolean => orgRoles.has('ORG_OWNER') || orgRoles.has('ORG_ADMIN')

export function holdsRole(model: Model, holder: Holder, entry: TenantRole): boolean {
  const [tenant = ''] = entry.split(' ')
  const held = rolesOf(model, holder)
  return runsOrg(holder) || held.has(entry) || held.has(`${tenant} TENANT_ADMIN`)
}

export const runs = (model: Model, holder: Holder, tenant: string): boolean =>
  holdsRole(model, holder, `${tenant} TENANT_ADMIN`)

export function holdsOrgRole({ orgRoles }: Holder, role: string): boolean {
  if (orgRoles.has('ORG_OWNER')) return true
  return orgRoles.has(role) || (role === 'ORG_BILLING_MANAGER' && orgRoles.has('ORG_ADMIN'))
}

const MEMBER = [
  'machine.vault.all',
  'machine.project.all',
  'machine.permissions.all',
  'machine.license.read',
  'machine.monitoring.read',
  'machine.search.read',
  'machine.transparency.read',
  'machine.webhook.all',
]

/** An agent's policy; of a person, what the roles give. */
export function permissionsOf(model: Model, holder: Holder): Set<string> {
  if (holder.kind === 'agent') return holder.permissions
  if (runsOrg(holder)) return new Set(['machine.all'])
  const has = (role: string): boolean =>
    [...rolesOf(model, holder)].some((entry) => entry.endsWith(` ${role}`) || entry.endsWith(' TENANT_ADMIN'))
  const isBiller = holder.orgRoles.has('ORG_BILLING_MANAGER')
  return new Set([
    ...MEMBER,
    ...(has('TENANT_AGENT_MANAGER') ? ['machine.agent.all'] : []),
    ...(has('TENANT_BUDGET_MANAGER') || isBiller ? ['machine.budget.all'] : []),
    ...(isBiller ? ['machine.billing.all', 'machine.license.all'] : []),
  ])
}

export const covers = (held: ReadonlySet<string>, wanted: string): boolean =>
  held.has('machine.all') || held.has(wanted) || held.has(`${wanted.split('.').slice(0, 2).join('.')}.all`)

/** Agents are managed by whoever holds the permission and, where they work, the role. */
export const managesAgents = (model: Model, actor: Holder): boolean =>
  covers(permissionsOf(model, actor), 'machine.agent.write') &&
  holdsRole(model, actor, `${actor.home} TENANT_AGENT_MANAGER`)

export const administers = (model: Model, actor: Holder): boolean =>
  actor.kind === 'user' &&
  (runsOrg(actor) || [...rolesOf(model, actor)].some((entry) => entry.endsWith(' TENANT_ADMIN')))

export const seesTenant = (model: Model, actor: Holder, tenant: string): boolean =>
  runsOrg(actor) || actor.home === tenant || [...rolesOf(model, actor)].some((entry) => entry.startsWith(`${tenant} `))

export const seesUser = (model: Model, actor: Holder, user: Holder): boolean =>
  actor === user ||
  runs(model, actor, user.home) ||
  [...rolesOf(model, user)].some((entry) => runs(model, actor, entry.split(' ')[0] ?? ''))

/** Everything somebody can do with what they hold, one line each: what may never come from nowhere. */
export function powersOf(model: Model, holder: Holder): Set<string> {
  const roles = model.tenants.flatMap((tenant) => TENANT_ROLES.map((role) => `${tenant} ${role}`))
  return new Set([
    ...roles.filter((entry) => holdsRole(model, holder, entry)),
    ...ORG_ROLES.filter((role) => holdsOrgRole(holder, role)),
    ...GIFTS.filter((permission) => covers(permissionsOf(model, holder), permission)),
  ])
}
