import type { ErrorCode } from '@strongroom/contract'

// The words of the matrix: who asks, what is asked for, and how the two stand to each other.

/** How an object stands to whoever asks for it. A kind of object has those that exist for it. */
export type Relation =
  | 'own'
  | 'self'
  /** On the access list with WRITE, or with READ; `own` is ADMIN. */
  | 'writer'
  | 'reader'
  | 'no-access'
  | 'other-tenant'
  | 'other-org'
  | 'archived'
  | 'moved-away'
  | 'parent-mismatch'
  | 'absent'
  | 'malformed'

/** A tenant of one of the two organisations. Everything named in it carries its canary. */
export interface Place {
  readonly orgId: string
  readonly tenantId: string
  readonly parentId: string | null
  readonly canary: string
  readonly orgCanary: string
  /** In the vaults that everybody at home here is on the list of, and in those that only the founder is. */
  readonly vaultCanary: string
  readonly hiddenCanary: string
}

/** What is known of somebody with a valid credential: what they were given, not what the server makes of it. */
export interface Caller {
  readonly type: 'agent' | 'user' | 'operator'
  /** As audit events name it. */
  readonly id: string
  readonly credential: 'key' | 'token'
  readonly home: Place
  readonly userId?: string
  readonly permissions: readonly string[]
  readonly orgRoles: readonly string[]
  readonly tenantRoles: readonly { readonly tenantId: string; readonly role: string }[]
}

/** One of the two: somebody known, or the code everybody without a valid credential is refused with. */
export interface Principal {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly caller?: Caller
  readonly refusal?: ErrorCode
  /** Who it is all the same, if the server knows it before it refuses. */
  readonly limited?: Caller
}

/** An object of a request, as the oracle sees it. */
export interface Thing {
  readonly id: string
  readonly relation: Relation
  readonly place: Place | undefined
}

/** `X.all` includes every `X.*`, `machine.all` everything; names match exactly. */
export function holdsPermission(held: readonly string[], needed: string): boolean {
  const [, family] = needed.split('.')
  return held.includes(needed) || held.includes('machine.all') || held.includes(`machine.${family}.all`)
}

/** Owners and admins of an organisation run every tenant of it. */
export const runsOrg = ({ orgRoles }: Caller): boolean =>
  orgRoles.includes('ORG_OWNER') || orgRoles.includes('ORG_ADMIN')

/** An administrator of a tenant holds every role in it. */
export const holdsRole = (caller: Caller, place: Place, role: string): boolean =>
  (caller.home.orgId === place.orgId && runsOrg(caller)) ||
  caller.tenantRoles.some(
    (held) => held.tenantId === place.tenantId && (held.role === role || held.role === 'TENANT_ADMIN'),
  )

export const runs = (caller: Caller, place: Place): boolean => holdsRole(caller, place, 'TENANT_ADMIN')

/** A tenant is seen by those who run the organisation, and by those who have a role or their place in it. */
export const seesTenant = (caller: Caller, place: Place): boolean =>
  (caller.home.orgId === place.orgId && runsOrg(caller)) ||
  caller.home.tenantId === place.tenantId ||
  caller.tenantRoles.some(({ tenantId }) => tenantId === place.tenantId)

/** The operator works in no tenant. */
export const worksIn = (caller: Caller, place: Place): boolean =>
  caller.type !== 'operator' && caller.home.tenantId === place.tenantId
