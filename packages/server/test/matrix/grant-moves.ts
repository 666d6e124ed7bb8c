import {
  administers,
  covers,
  type Group,
  groupsOf,
  type Holder,
  holdsOrgRole,
  holdsRole,
  type Model,
  managesAgents,
  permissionsOf,
  rolesOf,
  runs,
  runsOrg,
  seesTenant,
  seesUser,
  type TenantRole,
} from './grant-model.ts'

// Every way to give something: the request, whether the rule allows it, and what it then changes.

export interface Move {
  readonly method: 'POST' | 'PATCH' | 'PUT'
  readonly path: string
  readonly body?: unknown
  readonly isAllowed: boolean
  /** Takes place in the model once the server has answered. */
  apply(answer: Record<string, never>): void
}

const entries = (roles: Iterable<TenantRole>) =>
  [...roles].map((entry) => {
    const [tenantId, role] = entry.split(' ')
    return { tenantId, role }
  })
const tenantOf = (entry: TenantRole): string => entry.split(' ')[0] ?? ''
const without = <T>(all: Iterable<T>, some: ReadonlySet<T>): T[] => [...all].filter((one) => !some.has(one))

const holdsAll = (model: Model, actor: Holder, roles: Iterable<TenantRole>): boolean =>
  [...roles].every((entry) => holdsRole(model, actor, entry))
const runsAll = (model: Model, actor: Holder, roles: Iterable<TenantRole>): boolean =>
  [...roles].every((entry) => runs(model, actor, tenantOf(entry)))

const mayJoin = (model: Model, actor: Holder, groups: readonly Group[]): boolean =>
  groups.every(({ tenant, roles }) => tenant === actor.home && holdsAll(model, actor, roles))

export function createAgent(
  model: Model,
  actor: Holder,
  wanted: { permissions: Set<string>; roles: Set<TenantRole>; groups: readonly Group[] },
  name: string,
): Move {
  const { permissions, roles, groups } = wanted
  return {
    method: 'POST',
    path: '/machine/agent',
    body: {
      name,
      permissions: [...permissions],
      tenantRoles: entries(roles),
      securityGroups: groups.map(({ id }) => id),
    },
    isAllowed:
      managesAgents(model, actor) &&
      [...permissions].every((one) => covers(permissionsOf(model, actor), one)) &&
      holdsAll(model, actor, roles) &&
      mayJoin(model, actor, groups),
    apply: (answer) => {
      const { agentId } = (answer as unknown as { agent: { agentId: string } }).agent
      const made: Holder = {
        kind: 'agent',
        id: agentId,
        home: actor.home,
        permissions,
        orgRoles: new Set(),
        direct: roles,
      }
      model.holders.set(agentId, made)
      for (const { members } of groups) members.add(agentId)
    },
  }
}

export function updateAgent(
  model: Model,
  actor: Holder,
  target: Holder,
  { permissions, groups }: { permissions: Set<string>; groups: readonly Group[] },
): Move {
  const added = [...permissions].filter((one) => !covers(target.permissions, one))
  const now = groupsOf(model, target)
  return {
    method: 'PATCH',
    path: `/machine/agent/${target.id}`,
    body: { permissions: [...permissions], securityGroups: groups.map(({ id }) => id) },
    isAllowed:
      managesAgents(model, actor) &&
      target.home === actor.home &&
      added.every((one) => covers(permissionsOf(model, actor), one)) &&
      mayJoin(
        model,
        actor,
        groups.filter((group) => !now.includes(group)),
      ),
    apply: () => {
      target.permissions = permissions
      for (const { members } of now) members.delete(target.id)
      for (const { members } of groups) members.add(target.id)
    },
  }
}

export const replaceAgentRoles = (model: Model, actor: Holder, target: Holder, roles: Set<TenantRole>): Move => ({
  method: 'PATCH',
  path: `/machine/agent/${target.id}/tenant-roles`,
  body: { tenantRoles: entries(roles) },
  isAllowed:
    managesAgents(model, actor) && target.home === actor.home && holdsAll(model, actor, without(roles, target.direct)),
  apply: () => {
    target.direct = roles
  },
})

/** Whoever is shown the key can act as the agent: a gift to oneself. */
export const regenerateKey = (model: Model, actor: Holder, target: Holder): Move => ({
  method: 'POST',
  path: `/machine/agent/${target.id}/regenerate-api-key`,
  isAllowed:
    managesAgents(model, actor) &&
    target.home === actor.home &&
    (actor === target ||
      ([...target.permissions].every((one) => covers(permissionsOf(model, actor), one)) &&
        holdsAll(model, actor, rolesOf(model, target)))),
  apply: () => undefined,
})

export function setOrgRoles(model: Model, actor: Holder, target: Holder, roles: Set<string>): Move {
  const changed = [...without(roles, target.orgRoles), ...without(target.orgRoles, roles)]
  const owners = [...model.holders.values()].filter(({ orgRoles }) => orgRoles.has('ORG_OWNER'))
  const isLastOwner = owners.length === 1 && owners[0] === target && !roles.has('ORG_OWNER')
  return {
    method: 'PUT',
    path: `/platform/user/${target.id}/org-roles`,
    body: { orgRoles: [...roles] },
    isAllowed:
      actor.kind === 'user' && runsOrg(actor) && changed.every((role) => holdsOrgRole(actor, role)) && !isLastOwner,
    apply: () => {
      target.orgRoles = roles
    },
  }
}

/** Only roles in tenants the caller runs are replaced; the others stay. */
export function setUserRoles(model: Model, actor: Holder, target: Holder, roles: Set<TenantRole>): Move {
  const kept = [...target.direct].filter((entry) => !runs(model, actor, tenantOf(entry)))
  const replaced = new Set(without(target.direct, new Set(kept)))
  const added = without(roles, replaced)
  return {
    method: 'PUT',
    path: `/platform/user/${target.id}/tenant-roles`,
    body: { tenantRoles: entries(roles) },
    isAllowed: administers(model, actor) && seesUser(model, actor, target) && runsAll(model, actor, added),
    apply: () => {
      target.direct = new Set([...kept, ...roles])
    },
  }
}

export function setMembers(model: Model, actor: Holder, group: Group, members: readonly Holder[]): Move {
  const ids = new Set(members.map(({ id }) => id))
  const added = members.filter(({ id }) => !group.members.has(id))
  const isChanged = added.length > 0 || without(group.members, ids).length > 0
  const inReach = (one: Holder): boolean =>
    one.kind === 'user' ? seesUser(model, actor, one) : runs(model, actor, one.home)
  return {
    method: 'PUT',
    path: `/platform/security-group/${group.id}/members`,
    body: { members: members.map(({ kind, id }) => ({ type: kind, id })) },
    isAllowed:
      administers(model, actor) &&
      runs(model, actor, group.tenant) &&
      added.every(inReach) &&
      (!isChanged || runsAll(model, actor, group.roles)),
    apply: () => {
      group.members = ids
    },
  }
}

export function setGroupRoles(model: Model, actor: Holder, group: Group, roles: Set<TenantRole>): Move {
  const changed = [...without(roles, group.roles), ...without(group.roles, roles)]
  return {
    method: 'PUT',
    path: `/platform/security-group/${group.id}/tenant-roles`,
    body: { tenantRoles: entries(roles) },
    isAllowed:
      administers(model, actor) &&
      runs(model, actor, group.tenant) &&
      changed.every((entry) => seesTenant(model, actor, tenantOf(entry))) &&
      runsAll(model, actor, changed),
    apply: () => {
      group.roles = roles
    },
  }
}
