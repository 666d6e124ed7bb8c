import { afterAll, beforeAll, expect, it } from 'vitest'
import { inOrg } from '../../src/context.ts'
import { makeAccessToken, makeApiKey } from '../../src/secrets/credentials.ts'
import { seedGroup, seedSession, seedTenant } from '../agent-seed.ts'
import { type Harness, startHarness } from '../harness.ts'
import {
  administers,
  GIFTS,
  type Group,
  type Holder,
  type Model,
  ORG_ROLES,
  permissionsOf,
  powersOf,
  rolesOf,
  TENANT_ROLES,
} from './grant-model.ts'
import * as moves from './grant-moves.ts'
import { openState, type State } from './state.ts'

// A walk of grants by people and agents with random holdings. After each step the database holds what the model says, and
// nobody has gained a power that the one who acted did not have before. The walk can be taken again, or farther: STRONGROOM_SEED, STRONGROOM_STEPS.
//
// Catches, each seen red: a policy given without holding it; a group joined whose roles the giver lacks; a role given in a
// tenant of others; a group's roles or members changed by somebody who does not run all its tenants; an owner made by an admin;
// the last owner gone; the key of a mightier agent taken.

const STEPS = Number(process.env.STRONGROOM_STEPS ?? 200)
const SEED = Number(process.env.STRONGROOM_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** mulberry32 */
function makeRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
const random = makeRandom(SEED)
const below = (count: number): number => Math.floor(random() * count)
const pick = <T>(all: readonly T[]): T => all[below(all.length)] ?? expect.fail('nothing to choose from')
const some = <T>(all: readonly T[], most: number): T[] => [
  ...new Set(Array.from({ length: all.length === 0 ? 0 : below(most + 1) }, () => pick(all))),
]

let h: Harness
let state: State
let model: Model
let orgId: string
const counts = { allowed: 0, refused: 0 }
beforeAll(async () => {
  h = await startHarness()
  state = await openState(h)
  const first = await h.org('walk')
  orgId = first.orgId
  const others = [await seedTenant(h, first, 'second'), await seedTenant(h, first, 'third')]
  const tenants = [first, ...others].map(({ tenantId }) => tenantId)
  model = { tenants, holders: new Map(), groups: new Map() }
  for (const tenant of tenants) await populate(tenant)
})
afterAll(async () => {
  console.log(`escalation: ${counts.allowed} grants and ${counts.refused} refusals, seed ${SEED}`)
  await state.close()
  await h.close()
})

const anyRole = (): string => `${pick(model.tenants)} ${pick(TENANT_ROLES)}`

/** Three people, three agents and two groups, each with a foot in the next tenant; the first has owner, admin and biller. */
async function populate(tenantId: string): Promise<void> {
  const place = { orgId, tenantId }
  const at = model.tenants.indexOf(tenantId)
  const next = { orgId, tenantId: model.tenants[(at + 1) % model.tenants.length] ?? '' }
  for (const [rank, role] of ['TENANT_ADMIN', 'TENANT_AGENT_MANAGER', 'TENANT_MEMBER'].entries()) {
    const orgRoles = at === 0 ? [ORG_ROLES[rank] ?? ''] : []
    const { userId } = await seedSession(h, place, orgRoles, [role])
    await giveRole(next.tenantId, 'TENANT_AGENT_MANAGER', { user_id: userId })
    const own = [`${tenantId} ${role}`, `${next.tenantId} TENANT_AGENT_MANAGER`]
    add({ kind: 'user', id: userId, home: tenantId }, [], own, orgRoles)
    const permissions = rank === 0 ? ['machine.all'] : ['machine.agent.all', ...some(GIFTS.slice(2), 2)]
    const roles = rank < 2 ? ['TENANT_AGENT_MANAGER'] : []
    const { agentId } = await h.agent(place, permissions, roles)
    add(
      { kind: 'agent', id: agentId, home: tenantId },
      permissions,
      roles.map((role) => `${tenantId} ${role}`),
      [],
    )
  }
  const plain = await seedGroup(h, place, 'plain', [])
  model.groups.set(plain, { id: plain, tenant: tenantId, roles: new Set(), members: new Set() })
  const id = await seedGroup(h, place, 'wide', ['TENANT_MEMBER'])
  await giveRole(next.tenantId, 'TENANT_AGENT_MANAGER', { group_id: id })
  const roles = new Set([`${tenantId} TENANT_MEMBER`, `${next.tenantId} TENANT_AGENT_MANAGER`])
  model.groups.set(id, { id, tenant: tenantId, roles, members: new Set() })
}

const giveRole = (tenant_id: string, role: string, to: { user_id?: string; group_id?: string }) =>
  inOrg(h.deps, orgId, (db) =>
    db
      .insertInto('tenant_role')
      .values({ org_id: orgId, tenant_id, role, user_id: null, agent_id: null, group_id: null, ...to })
      .execute(),
  )

function add(who: Pick<Holder, 'kind' | 'id' | 'home'>, permissions: string[], roles: string[], orgRoles: string[]) {
  const held = { permissions: new Set(permissions), orgRoles: new Set(orgRoles), direct: new Set(roles) }
  model.holders.set(who.id, { ...who, ...held })
}

const all = (kind: Holder['kind']): Holder[] => [...model.holders.values()].filter((holder) => holder.kind === kind)
const mixed = (own: Iterable<string>, any: () => string): Set<string> =>
  new Set([...some([...own], 2), ...(below(3) === 0 ? [any()] : [])])

/** Whoever runs something is asked more often: the others are mostly refused. */
function nextActor(): Holder {
  const everybody = [...model.holders.values()]
  const mighty = everybody.filter((one) => administers(model, one))
  return pick(mighty.length > 0 && below(2) === 0 ? mighty : everybody)
}

/** Half of what is asked for is the actor's own; the rest is anything. */
function nextMove(actor: Holder, step: number): moves.Move {
  const permissions = mixed(permissionsOf(model, actor), () => pick(GIFTS))
  const roles = mixed(rolesOf(model, actor), anyRole)
  const groups = some([...model.groups.values()], 2)
  const near = (kind: Holder['kind']): Holder => {
    const home = all(kind).filter((one) => one.home === actor.home)
    return below(4) === 0 ? pick(all(kind)) : pick(home)
  }
  const group: Group = pick([...model.groups.values()])
  const known = new Set([...permissions].filter((one) => GIFTS.includes(one)))
  const byAgentManagers = [
    () => moves.createAgent(model, actor, { permissions: known, roles, groups: groups.slice(0, 1) }, `agent ${step}`),
    () => moves.updateAgent(model, actor, near('agent'), { permissions: known, groups }),
    () => moves.replaceAgentRoles(model, actor, near('agent'), roles),
    () => moves.regenerateKey(model, actor, near('agent')),
  ]
  const byAdministrators = [
    () => moves.setOrgRoles(model, actor, below(3) === 0 ? actor : pick(all('user')), new Set(some(ORG_ROLES, 2))),
    () => moves.setUserRoles(model, actor, near('user'), roles),
    () => moves.setMembers(model, actor, group, some([...model.holders.values()], 3)),
    () => moves.setGroupRoles(model, actor, group, roles),
  ]
  const isPerson = actor.kind === 'user' && below(3) > 0
  return pick(isPerson ? byAdministrators : byAgentManagers)()
}

/** A credential for this step: losing a role ends sessions, and a regenerated key ends the old one. */
async function credentialOf({ kind, id }: Holder): Promise<Record<string, string>> {
  const { deps } = h
  const at = deps.now()
  if (kind === 'agent') {
    const { accessKey, apiKey, secretHmac } = makeApiKey(deps.pepper)
    const change = { access_key: accessKey, secret_hmac: secretHmac }
    await inOrg(deps, orgId, (db) =>
      db.updateTable('api_key').set(change).where('agent_id', '=', id).where('status', '=', 'active').execute(),
    )
    return { 'x-api-key': apiKey }
  }
  const { token, hash } = makeAccessToken()
  await inOrg(deps, orgId, (db) =>
    db
      .insertInto('session')
      .values({
        org_id: orgId,
        session_id: deps.newId('ses'),
        token_hash: hash,
        user_id: id,
        device_installation_id: null,
        created_at: at,
        last_used_at: at,
        expires_at: new Date(at.getTime() + 3_600_000),
        revoked_at: null,
      })
      .execute(),
  )
  return { authorization: `Bearer ${token}` }
}

/** What the database holds, as one text for each person, agent and group. */
async function stored(): Promise<string[]> {
  const rows = await state.query(`
    select 'agent ' || agent_id || ' ' || array_to_string(array(select unnest(permissions) order by 1), ',') as line from agent
    union all select 'user ' || user_id || ' ' || array_to_string(array(select unnest(org_roles) order by 1), ',') from org_user
    union all select 'role ' || coalesce(user_id, agent_id, group_id) || ' ' || tenant_id || ' ' || role from tenant_role
    union all select 'member ' || group_id || ' ' || coalesce(user_id, agent_id) from group_member`)
  return rows.map(({ line }) => String(line)).sort()
}

function expected(): string[] {
  const sorted = (values: Iterable<string>): string => [...values].sort().join(',')
  const people = [...model.holders.values()]
  return [
    ...people.map((one) => `${one.kind} ${one.id} ${sorted(one.kind === 'agent' ? one.permissions : one.orgRoles)}`),
    ...[...people.map(({ id, direct }) => ({ id, roles: direct })), ...model.groups.values()].flatMap(({ id, roles }) =>
      [...roles].map((role) => `role ${id} ${role}`),
    ),
    ...[...model.groups.values()].flatMap(({ id, members }) => [...members].map((member) => `member ${id} ${member}`)),
  ].sort()
}

const powers = (): Map<string, Set<string>> =>
  new Map([...model.holders].map(([id, holder]) => [id, powersOf(model, holder)]))

it(`gives nobody what the giver does not hold, in ${STEPS} random grants (seed ${SEED})`, async () => {
  for (let step = 0; step < STEPS; step++) {
    const actor = nextActor()
    const before = powers()
    const move = nextMove(actor, step)
    const response = await fetch(`${h.url}/api/v1${move.path}`, {
      method: move.method,
      headers: {
        ...(await credentialOf(actor)),
        ...(move.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(move.body !== undefined && { body: JSON.stringify(move.body) }),
    })
    const answer = (await response.json()) as Record<string, never>
    const what = `step ${step} of seed ${SEED}: ${actor.kind} ${actor.id} ${move.method} ${move.path} ${JSON.stringify(move.body)}`
    expect(`${response.ok} ${response.status < 500}`, `${what} ${JSON.stringify(answer)}`).toBe(
      `${move.isAllowed} true`,
    )
    if (move.isAllowed) move.apply(answer)
    counts[move.isAllowed ? 'allowed' : 'refused']++
    expect(await stored(), what).toEqual(expected())
    const own = before.get(actor.id) ?? new Set()
    for (const [id, held] of powers()) {
      const gained = [...held].filter((power) => !before.get(id)?.has(power) && !own.has(power))
      expect(gained, `${what}: ${id} gained`).toEqual([])
    }
    expect(
      all('user').some(({ orgRoles }) => orgRoles.has('ORG_OWNER')),
      `${what}: an owner is left`,
    ).toBe(true)
  }
  expect(Math.min(counts.allowed, counts.refused)).toBeGreaterThan(STEPS / 10)
})
