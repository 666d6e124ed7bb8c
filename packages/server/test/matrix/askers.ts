import { sql } from 'kysely'
import { inOrg } from '../../src/context.ts'
import { makeApiKey } from '../../src/secrets/credentials.ts'
import { joinGroup, seedGroup, seedSession } from '../agent-seed.ts'
import { seedOperator } from '../principals.ts'
import type { Caller, Place, Principal } from './relations.ts'
import type { World } from './world.ts'

// How askers are made. Each is made by a function, so that a row that uses up a credential gets another of the same kind.

export interface Asker {
  readonly name: string
  make(world: World): Promise<Omit<Principal, 'name'>>
}

export const a1 = ({ orgs }: World): Place => orgs[0].places[0]
export const a2 = ({ orgs }: World): Place => orgs[0].places[1]
export const b1 = ({ orgs }: World): Place => orgs[1].places[0]

/** Changes the rows of a table that have this value. */
export const change = (
  { h }: World,
  { orgId }: Pick<Place, 'orgId'>,
  table: 'agent' | 'api_key' | 'org_user' | 'session',
  set: Readonly<Record<string, unknown>>,
  [column, value]: readonly [string, string],
): Promise<void> =>
  inOrg(h.deps, orgId, async (db) => {
    for (const [name, to] of Object.entries(set))
      await sql`update ${sql.table(table)} set ${sql.ref(name)} = ${to} where ${sql.ref(column)} = ${value}`.execute(db)
  })

const giveRole = (
  { h }: World,
  orgId: string,
  tenantId: string,
  role: string,
  to: { user_id?: string; agent_id?: string },
) =>
  inOrg(h.deps, orgId, (db) =>
    db
      .insertInto('tenant_role')
      .values({ org_id: orgId, tenant_id: tenantId, role, user_id: null, agent_id: null, group_id: null, ...to })
      .execute(),
  )

export interface Where {
  readonly at?: (world: World) => Place
  /** Roles in the home tenant. */
  readonly roles?: readonly string[]
  readonly rolesElsewhere?: { readonly in: (world: World) => Place; readonly roles: readonly string[] }
  /** The roles are held through a security group. */
  readonly throughGroup?: true
}

async function groupFor(world: World, home: Place, roles: readonly string[]): Promise<string> {
  return seedGroup(world.h, home, world.material.name(), roles)
}

export async function makeAgent(
  world: World,
  permissions: readonly string[],
  { at = a1, roles = [], rolesElsewhere, throughGroup }: Where,
): Promise<Principal & { readonly caller: Caller; readonly agentId: string; readonly apiKey: string }> {
  const home = at(world)
  const { agentId, apiKey } = await world.h.agent(home, permissions, throughGroup ? [] : roles)
  if (throughGroup) await joinGroup(world.h, home, await groupFor(world, home, roles), agentId)
  const elsewhere = rolesElsewhere?.in(world) ?? home
  for (const role of rolesElsewhere?.roles ?? [])
    await giveRole(world, home.orgId, elsewhere.tenantId, role, { agent_id: agentId })
  const caller: Caller = {
    type: 'agent',
    id: `agent:${agentId}`,
    credential: 'key',
    home,
    permissions,
    orgRoles: [],
    tenantRoles: [
      ...roles.map((role) => ({ tenantId: home.tenantId, role })),
      ...(rolesElsewhere?.roles ?? []).map((role) => ({ tenantId: elsewhere.tenantId, role })),
    ],
  }
  await world.settle(caller)
  return { name: '', headers: { 'x-api-key': apiKey }, caller, agentId, apiKey }
}

export const agent = (name: string, permissions: readonly string[], where: Where = {}): Asker => ({
  name,
  make: (world) => makeAgent(world, permissions, where),
})

export interface Person extends Where {
  readonly orgRoles?: readonly string[]
  readonly permissions: readonly string[]
}

export async function makePerson(
  world: World,
  { at = a1, roles = [], rolesElsewhere, throughGroup, orgRoles = [], permissions }: Person,
): Promise<
  Principal & {
    readonly caller: Caller
    readonly userId: string
    readonly sessionId: string
    readonly accessToken: string
  }
> {
  const { h } = world
  const home = at(world)
  const { orgId: org_id } = home
  const { userId, sessionId, accessToken } = await seedSession(h, home, orgRoles, throughGroup ? [] : roles)
  if (throughGroup) {
    const group_id = await groupFor(world, home, roles)
    await inOrg(h.deps, org_id, (db) =>
      db.insertInto('group_member').values({ org_id, group_id, user_id: userId, agent_id: null }).execute(),
    )
  }
  const elsewhere = rolesElsewhere?.in(world) ?? home
  for (const role of rolesElsewhere?.roles ?? [])
    await giveRole(world, org_id, elsewhere.tenantId, role, { user_id: userId })
  // The matrix moves the clock by hours.
  const expires_at = new Date(h.deps.now().getTime() + 30 * 86_400_000)
  await change(world, home, 'session', { expires_at }, ['session_id', sessionId])
  await inOrg(h.deps, org_id, (db) =>
    db
      .insertInto('user_secret')
      .values({
        org_id,
        user_id: userId,
        opaque_record: 'AAAA',
        kid: `user:${userId}:${'a'.repeat(32)}`,
        bundle_version: 1,
        kdf: world.material.kdf,
        private_bundle: 'vub3.AAAA',
        recovery_bundle: null,
        updated_at: h.deps.now(),
      })
      .execute(),
  )
  const caller: Caller = {
    type: 'user',
    id: `user:${userId}`,
    credential: 'token',
    home,
    userId,
    permissions,
    orgRoles,
    tenantRoles: [
      ...roles.map((role) => ({ tenantId: home.tenantId, role })),
      ...(rolesElsewhere?.roles ?? []).map((role) => ({ tenantId: elsewhere.tenantId, role })),
    ],
  }
  await world.settle(caller)
  return { name: '', headers: bearer(accessToken), caller, userId, sessionId, accessToken }
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
export const person = (name: string, options: Person): Asker => ({ name, make: (world) => makePerson(world, options) })

/** An API key of a person: the permissions of the key, the roles of the person. */
export const personWithKey = (name: string, permissions: readonly string[], options: Person): Asker => ({
  name,
  make: async (world) => {
    const { caller } = await makePerson(world, options)
    const headers = { 'x-api-key': await userKey(world, caller, permissions) }
    return { headers, caller: { ...caller, credential: 'key', permissions } }
  },
})

export async function userKey(
  { h: { deps } }: World,
  { home, userId }: Caller,
  permissions: readonly string[],
): Promise<string> {
  const key = makeApiKey(deps.pepper)
  await inOrg(deps, home.orgId, (db) =>
    db
      .insertInto('api_key')
      .values({
        org_id: home.orgId,
        key_id: deps.newId('key'),
        access_key: key.accessKey,
        secret_hmac: key.secretHmac,
        agent_id: null,
        user_id: userId ?? null,
        permissions: [...permissions],
        status: 'active',
        created_at: deps.now(),
        ended_at: null,
      })
      .execute(),
  )
  return key.apiKey
}

export async function makeOperator(world: World, home: Place): Promise<Principal & { caller: Caller; apiKey: string }> {
  const { apiKey } = await seedOperator(world.h, home)
  const [accessKey = ''] = apiKey.split('.')
  const { key_id } = await inOrg(world.h.deps, home.orgId, (db) =>
    db.selectFrom('api_key').select('key_id').where('access_key', '=', accessKey).executeTakeFirstOrThrow(),
  )
  const caller: Caller = {
    type: 'operator',
    id: `operator:${key_id}`,
    credential: 'key',
    home,
    permissions: ['machine.all'],
    orgRoles: [],
    tenantRoles: [],
  }
  return { name: '', headers: { 'x-api-key': apiKey }, caller, apiKey }
}

export const operator = (name: string, at: (world: World) => Place): Asker => ({
  name,
  make: (world) => makeOperator(world, at(world)),
})

export const unknown = (
  name: string,
  refusal: 'missing_machine_auth' | 'invalid_api_key' | 'unauthorized',
  headers: (world: World) => Promise<Record<string, string>> | Record<string, string>,
): Asker => ({ name, make: async (world) => ({ headers: await headers(world), refusal }) })

/** Known, and held back by the limits of the agent: refused like a stranger, and recorded. */
export const limited = (
  name: string,
  refusal: 'agent_expired' | 'network_not_allowed',
  set: (world: World) => Readonly<Record<string, unknown>>,
): Asker => ({
  name,
  make: async (world) => {
    const { agentId, headers, caller } = await makeAgent(world, ['machine.all'], { roles: ['TENANT_AGENT_MANAGER'] })
    await change(world, caller.home, 'agent', set(world), ['agent_id', agentId])
    return { headers, refusal, limited: caller }
  },
})
