import type { ErrorCode } from '@strongroom/contract'
import type { Writer } from '../vault-writer.ts'
import type { KindName } from './kinds.ts'
import {
  type Caller,
  holdsPermission,
  holdsRole,
  type Relation,
  runs,
  runsOrg,
  seesTenant,
  type Thing,
} from './relations.ts'

// The notation of the oracle. Rows say what the specification and decisions.md 3 to 5 say; nothing is taken from the contract
// or the server, so that a mistake there is not repeated here.
//
// A new route is a new row in the file of its noun:
//
//   {
//     route: 'PATCH /machine/agent/:id',
//     may: permitted('machine.agent.write', 'TENANT_AGENT_MANAGER'),
//     ids: { id: agentHere('agent_archived'), group: groupHere },
//     body: ({ group }) => ({ description: 'changed', securityGroups: [group] }),
//   },
//
// `ids` names every id of the request, in path, query and body, in the order the route looks at them: each is tried in every
// relation its kind has, with the others in order. A new kind of object is an entry in kinds.ts.
//
// What belongs to a vault: `vaultFor` of rows-vaults.ts for the vault in the path, with the role the route needs, and `within` for
// what lies in it, so that the two stay together. Its kind is an entry in kinds-vaults.ts: a look into the vaults of a tenant
// (vault-set.ts), where everybody at home in the tenant is on every list but one. What a write wants signed, the founder signs:
//
//   { route: 'POST /machine/vault/:vaultId/things', may: WRITING, ids: { vaultId: vaultFor('write') }, body: …, ends: '…' },
//   { route: 'POST /machine/vault/:vaultId/things', by: 'founder', may: WRITING, ids: { vaultId: founders },
//     body: async ({ vaultId }, { founder }) => ({ commit: await … }) },

export type Rule = 'everybody' | ((caller: Caller) => ErrorCode | undefined)

export interface Slot {
  readonly kind: KindName
  /** What a caller who may call the route is refused with for this object; undefined if it is theirs to use. */
  readonly refuses: (caller: Caller, thing: Thing, others: Readonly<Record<string, Thing>>) => ErrorCode | undefined
  /** Relations that are not tried here. */
  readonly except?: readonly Relation[]
  /** The id it lies in: while that one is varied, it goes along. */
  readonly within?: string
}

export type Ids = Readonly<Record<string, string>>

/** What requests are made of besides ids. */
export interface Material {
  /** A name nobody has, without a canary. */
  name(): string
  readonly registrationRequest: string
  readonly registrationRecord: string
  readonly startLoginRequest: string
  readonly kdf: string
  readonly kid: string
  /** The head of no vault of the request, as if somebody else had signed it. */
  head(vaultId: string): unknown
  /** Half a registration of a key of the agent, asking the caller to endorse it. */
  keyRequest(agentId: string, caller: Caller): Promise<unknown>
  /** Of the first organisation. */
  readonly founder: Writer
}

export interface Row {
  /** Method and path under /api/v1. */
  readonly route: string
  readonly may: Rule
  /** Asked by the founder alone, who has keys in the log and signs the body. */
  readonly by?: 'founder'
  readonly ids?: Readonly<Record<string, Slot>>
  /** Path parameters that are no ids. */
  readonly path?: Ids | ((ids: Ids) => Ids)
  readonly query?: (ids: Ids) => Readonly<Record<string, string>>
  readonly body?: (
    ids: Ids,
    material: Material,
    things: Readonly<Record<string, Thing>>,
    caller: Caller,
  ) => unknown | Promise<unknown>
  /** A refusal of its own that depends on the caller and on nothing in the request. */
  readonly also?: (caller: Caller) => ErrorCode | undefined
  /** What everybody who may is told, where a valid request would have to be signed or proven: its module's tests do that. */
  readonly ends?: ErrorCode
  /** A success uses up the credential of the caller. */
  readonly spends?: true
  /** A GET that changes something all the same, as the specification has it. */
  readonly changes?: true
  /** A success changes nothing, so no audit event is due. */
  readonly silent?: true
  /** Server-owned names that this route does take from the caller. */
  readonly takes?: readonly string[]
  /** Whoever names the object is shown it, whoever they are. */
  readonly reveals?: true
  /** Answers with a ciphertext, a wrapped key or a ticket: each such answer leaves an audit event. */
  readonly secret?: true | ((caller: Caller) => boolean)
  /** An older name that takes API keys only: whoever brings none is told so, and nobody is known. */
  readonly keysOnly?: true
  /** The answer goes on; what it shows is read, and then it is left. */
  readonly streams?: true
  /** What a success must contain. */
  readonly shows?: (caller: Caller) => readonly string[]
}

// Who may.

export const anyone: Rule = () => undefined

export const permitted =
  (permission: string, tenantRole?: string): Rule =>
  (caller) => {
    if (!holdsPermission(caller.permissions, permission)) return 'machine_permission_denied'
    const hasRole = tenantRole === undefined || caller.type === 'operator' || holdsRole(caller, caller.home, tenantRole)
    return hasRole ? undefined : 'role_required'
  }

export const agentsOnly =
  (permission?: string): Rule =>
  (caller) => {
    if (caller.type !== 'agent') return 'agent_principal_required'
    return permission === undefined || holdsPermission(caller.permissions, permission)
      ? undefined
      : 'machine_permission_denied'
  }

export const operatorsOnly =
  (permission: string): Rule =>
  (caller) => {
    if (!holdsPermission(caller.permissions, permission)) return 'machine_permission_denied'
    return caller.type === 'operator' ? undefined : 'global_admin_required'
  }

/** People with an access token; with roles, those who hold one of them in the organisation or in any tenant. */
export const people =
  (...roles: readonly string[]): Rule =>
  (caller) => {
    if (caller.type !== 'user' || caller.credential !== 'token') return 'key_kind_refused'
    const held = [...caller.orgRoles, ...caller.tenantRoles.map(({ role }) => role)]
    return roles.length === 0 || roles.some((role) => held.includes(role)) ? undefined : 'role_required'
  }

export const administrators = people('ORG_OWNER', 'ORG_ADMIN', 'TENANT_ADMIN')

// What they may do it to.

/** What is out of sight does not exist; what is archived answers in its own way. */
export const slot = (
  kind: KindName,
  notFound: ErrorCode,
  sees: (caller: Caller, thing: Thing & { readonly place: NonNullable<Thing['place']> }) => boolean,
  options: { readonly archived?: ErrorCode; readonly except?: readonly Relation[] } = {},
): Slot => ({
  kind,
  refuses: (caller, { id, relation, place }) => {
    if (relation === 'absent' || place === undefined || !sees(caller, { id, relation, place })) return notFound
    return relation === 'archived' ? options.archived : undefined
  },
  ...(options.except && { except: options.except }),
})

/** A tenant named in a body: it must be there, be seen, and be run by the caller. */
export const tenantRunBy = (unlessRun: ErrorCode): Slot => ({
  kind: 'tenant',
  refuses: (caller, { relation, place }) => {
    if (relation === 'absent' || relation === 'archived' || !place || !seesTenant(caller, place))
      return 'tenant_not_found'
    return runs(caller, place) ? undefined : unlessRun
  },
})

/** A tenant in which a role is given to an agent: nobody can give what they do not hold. */
export const tenantOfRole = (role: string): Slot => ({
  kind: 'tenant',
  refuses: (caller, { relation, place }) => {
    const isThere = place !== undefined && relation !== 'absent' && relation !== 'archived'
    if (runsOrg(caller)) return isThere && place.orgId === caller.home.orgId ? undefined : 'tenant_not_found'
    return isThere && holdsRole(caller, place, role) ? undefined : 'cannot_grant'
  },
})
