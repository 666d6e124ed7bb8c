// The machine permissions: exact names, and the wider grants that include them.

const FAMILIES = {
  agent: ['read', 'write'],
  billing: ['read', 'write'],
  budget: ['read', 'write'],
  domain: ['read'],
  feedback: ['write'],
  license: ['read', 'write'],
  permissions: ['read', 'write'],
  project: ['read', 'write'],
  vault: ['read', 'secret.read', 'sync.read', 'write'],
  webhook: ['read', 'write'],
} as const

type Families = typeof FAMILIES
type Leaf = { [F in keyof Families]: `machine.${F}.${Families[F][number]}` }[keyof Families]
type Wide = `machine.${keyof Families}.all`

/** What a route can need. */
export type NeededPermission = Leaf | 'machine.monitoring.read' | 'machine.search.read' | 'machine.transparency.read'
/** What a policy can hold. */
export type Permission = NeededPermission | Wide | 'machine.all'

const leaves = Object.entries(FAMILIES).flatMap(([family, names]) => names.map((name) => `machine.${family}.${name}`))
const wide = Object.keys(FAMILIES).map((family) => `machine.${family}.all`)

export const PERMISSIONS = [
  'machine.all',
  ...wide,
  ...leaves,
  'machine.monitoring.read',
  'machine.search.read',
  'machine.transparency.read',
].sort() as readonly Permission[]

const familyOf = (permission: string): string => permission.split('.')[1] as string

/** Names match exactly; `machine.X.all` includes every `machine.X.…`, `machine.all` includes everything. */
export function holds(held: readonly string[], needed: string): boolean {
  return held.some(
    (one) =>
      one === needed ||
      one === 'machine.all' ||
      (one === `machine.${familyOf(one)}.all` && familyOf(one) === familyOf(needed)),
  )
}

/** Nobody can give what they do not hold: the members of `wanted` that `held` does not cover. */
export const notHeld = (held: readonly string[], wanted: readonly string[]): readonly string[] =>
  wanted.filter((permission) => !holds(held, permission))

export const ORG_ROLES = ['ORG_OWNER', 'ORG_ADMIN', 'ORG_BILLING_MANAGER'] as const
export const TENANT_ROLES = ['TENANT_ADMIN', 'TENANT_AGENT_MANAGER', 'TENANT_BUDGET_MANAGER', 'TENANT_MEMBER'] as const
export type OrgRole = (typeof ORG_ROLES)[number]
export type TenantRole = (typeof TENANT_ROLES)[number]

const MEMBER: readonly Permission[] = [
  'machine.vault.all',
  'machine.project.all',
  'machine.permissions.all',
  'machine.license.read',
  'machine.monitoring.read',
  'machine.search.read',
  'machine.transparency.read',
  'machine.webhook.all',
]

/** What a person's access token may do on the machine API: it follows from the roles, and access entries decide on the rest. */
export function permissionsOfUser(orgRoles: readonly string[], tenantRoles: readonly string[]): readonly Permission[] {
  if (orgRoles.includes('ORG_OWNER') || orgRoles.includes('ORG_ADMIN')) return ['machine.all']
  const has = (role: TenantRole): boolean => tenantRoles.includes(role) || tenantRoles.includes('TENANT_ADMIN')
  return [
    ...MEMBER,
    ...(has('TENANT_AGENT_MANAGER') ? (['machine.agent.all'] as const) : []),
    ...(has('TENANT_BUDGET_MANAGER') ? (['machine.budget.all'] as const) : []),
    ...(orgRoles.includes('ORG_BILLING_MANAGER')
      ? (['machine.billing.all', 'machine.budget.all', 'machine.license.all'] as const)
      : []),
  ]
}
