import { makeAccessToken, makeApiKey } from '../../src/secrets/credentials.ts'
import {
  type Asker,
  a1,
  a2,
  agent,
  b1,
  bearer,
  change,
  limited,
  makeAgent,
  makeOperator,
  makePerson,
  operator,
  type Person,
  person,
  personWithKey,
  unknown,
  userKey,
} from './askers.ts'
import type { World } from './world.ts'

// Everybody who asks. Their home is the first tenant of the first organisation unless they say otherwise.

/** What a person's access token may do follows from the roles; written out here, not computed. */
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

const MANAGER = ['TENANT_AGENT_MANAGER']
const ALL = ['machine.all']
const OWNER: Person = { orgRoles: ['ORG_OWNER'], roles: ['TENANT_ADMIN'], permissions: ALL }

/** A key that was good until something was changed. */
const spoiltKey = async (world: World, table: 'agent' | 'api_key', set: Record<string, unknown>) => {
  const { agentId, apiKey, caller } = await makeAgent(world, ALL, { roles: MANAGER })
  await change(world, caller.home, table, set, ['agent_id', agentId])
  return { 'x-api-key': apiKey }
}

const spoiltToken = async (world: World, set: Record<string, unknown>) => {
  const { sessionId, accessToken, caller } = await makePerson(world, OWNER)
  await change(world, caller.home, 'session', set, ['session_id', sessionId])
  return bearer(accessToken)
}

const ago = ({ h }: World, minutes: number): Date => new Date(h.deps.now().getTime() - minutes * 60_000)

/** The secret of another key under this access key; the checksum is over both, so it is made as if by somebody who knows it. */
async function wrongSecret(world: World): Promise<Record<string, string>> {
  const { agentId, caller } = await makeAgent(world, ALL, { roles: MANAGER })
  const key = makeApiKey(world.h.deps.pepper)
  const other = makeApiKey(world.h.deps.pepper)
  const set = { access_key: key.accessKey, secret_hmac: other.secretHmac }
  await change(world, caller.home, 'api_key', set, ['agent_id', agentId])
  return { 'x-api-key': key.apiKey }
}

const UNKNOWN: readonly Asker[] = [
  unknown('nobody', 'missing_machine_auth', () => ({})),
  unknown('a malformed key', 'invalid_api_key', () => ({ 'x-api-key': 'sra_nothing.at_all' })),
  unknown('a key nobody has', 'invalid_api_key', ({ h }) => ({ 'x-api-key': makeApiKey(h.deps.pepper).apiKey })),
  unknown('the right access key with a wrong secret', 'invalid_api_key', wrongSecret),
  unknown('a key that was rotated away', 'invalid_api_key', (world) =>
    spoiltKey(world, 'api_key', { status: 'rotated' }),
  ),
  unknown('a revoked key', 'invalid_api_key', (world) => spoiltKey(world, 'api_key', { status: 'revoked' })),
  unknown('the key of an archived agent', 'invalid_api_key', (world) =>
    spoiltKey(world, 'agent', { status: 'archived' }),
  ),
  unknown('the key of a removed user', 'invalid_api_key', async (world) => {
    const { caller, userId } = await makePerson(world, OWNER)
    await change(world, caller.home, 'org_user', { status: 'removed' }, ['user_id', userId])
    return { 'x-api-key': await userKey(world, caller, ALL) }
  }),
  unknown('a revoked operator key', 'invalid_api_key', async (world) => {
    const { apiKey, caller } = await makeOperator(world, a1(world))
    const keyId = caller.id.slice('operator:'.length)
    await change(world, caller.home, 'api_key', { status: 'revoked' }, ['key_id', keyId])
    return { 'x-api-key': apiKey }
  }),
  limited('the key of an expired agent', 'agent_expired', (world) => ({ expires_at: ago(world, 1) })),
  limited('the key of an agent of another network', 'network_not_allowed', () => ({ networks: ['192.0.2.0/24'] })),
  unknown('a token under another scheme', 'unauthorized', async (world) => ({
    authorization: `Token ${(await makePerson(world, OWNER)).accessToken}`,
  })),
  unknown('an API key as a bearer token', 'unauthorized', async (world) =>
    bearer((await makeAgent(world, ALL, { roles: MANAGER })).apiKey),
  ),
  unknown('a token nobody has', 'unauthorized', () => bearer(makeAccessToken().token)),
  unknown('an expired token', 'unauthorized', (world) => spoiltToken(world, { expires_at: ago(world, 1) })),
  unknown('a token that was idle', 'unauthorized', (world) => spoiltToken(world, { last_used_at: ago(world, 31) })),
  unknown('a token of an ended session', 'unauthorized', (world) => spoiltToken(world, { revoked_at: ago(world, 1) })),
  unknown('a token of a removed user', 'unauthorized', async (world) => {
    const { caller, userId, accessToken } = await makePerson(world, OWNER)
    await change(world, caller.home, 'org_user', { status: 'removed' }, ['user_id', userId])
    return bearer(accessToken)
  }),
  unknown('a token from another device', 'unauthorized', async (world) => ({
    ...(await spoiltToken(world, { device_installation_id: 'dev_own' })),
    'x-device-installation-id': 'dev_foreign',
  })),
  unknown('a token without its device', 'unauthorized', (world) =>
    spoiltToken(world, { device_installation_id: 'dev_own' }),
  ),
  unknown('a key and a token at once', 'unauthorized', async (world) => ({
    ...(await makeAgent(world, ALL, { roles: MANAGER })).headers,
    ...(await makePerson(world, OWNER)).headers,
  })),
]

/** Each with the role agent management wants, so that the permission alone decides. */
const ONE_PERMISSION = [
  'machine.agent.read',
  'machine.agent.write',
  'machine.agent.all',
  'machine.billing.all',
  'machine.budget.all',
  'machine.domain.read',
  'machine.feedback.write',
  'machine.feedback.all',
  'machine.license.all',
  'machine.monitoring.read',
  'machine.permissions.all',
  'machine.project.all',
  'machine.search.read',
  'machine.transparency.read',
  'machine.vault.read',
  'machine.vault.secret.read',
  'machine.vault.sync.read',
  'machine.vault.write',
  'machine.vault.all',
  'machine.webhook.all',
]

const AGENTS: readonly Asker[] = [
  agent('an agent with an empty policy', []),
  agent('an agent manager with an empty policy', [], { roles: MANAGER }),
  ...ONE_PERMISSION.map((permission) => agent(`an agent with ${permission}`, [permission], { roles: MANAGER })),
  agent('an agent with all permissions and no role', ALL),
  agent('an agent with all permissions and all roles but agent manager', ALL, {
    roles: ['TENANT_MEMBER', 'TENANT_BUDGET_MANAGER'],
  }),
  agent('an agent with all permissions and the role in another tenant', ALL, {
    rolesElsewhere: { in: a2, roles: MANAGER },
  }),
  agent('a master agent', ['machine.agent.all', 'machine.permissions.all'], { roles: MANAGER }),
  agent('an agent with all permissions', ALL, { roles: MANAGER }),
  agent('an agent with all permissions, manager through a group', ALL, { roles: MANAGER, throughGroup: true }),
  agent('an agent with all permissions, tenant admin', ALL, { roles: ['TENANT_ADMIN'] }),
  agent('an agent with all permissions of another tenant', ALL, { at: a2, roles: MANAGER }),
  agent('an agent with all permissions of another organisation', ALL, { at: b1, roles: MANAGER }),
]

const TENANT_ADMIN = [...MEMBER, 'machine.agent.all', 'machine.budget.all']

const PEOPLE: readonly Asker[] = [
  person('a member', { roles: ['TENANT_MEMBER'], permissions: MEMBER }),
  person('an agent manager', { roles: MANAGER, permissions: [...MEMBER, 'machine.agent.all'] }),
  person('a budget manager', { roles: ['TENANT_BUDGET_MANAGER'], permissions: [...MEMBER, 'machine.budget.all'] }),
  person('a tenant admin', { roles: ['TENANT_ADMIN'], permissions: TENANT_ADMIN }),
  person('a tenant admin through a group', { roles: ['TENANT_ADMIN'], throughGroup: true, permissions: TENANT_ADMIN }),
  person('a tenant admin at home elsewhere', {
    at: a2,
    rolesElsewhere: { in: a1, roles: ['TENANT_ADMIN'] },
    permissions: TENANT_ADMIN,
  }),
  person('a billing manager', {
    orgRoles: ['ORG_BILLING_MANAGER'],
    permissions: [...MEMBER, 'machine.billing.all', 'machine.budget.all', 'machine.license.all'],
  }),
  person('an org admin', { orgRoles: ['ORG_ADMIN'], permissions: ALL }),
  person('an org owner', OWNER),
  person('a tenant admin of another tenant', { at: a2, roles: ['TENANT_ADMIN'], permissions: TENANT_ADMIN }),
  person('an owner of another organisation', { ...OWNER, at: b1 }),
  {
    name: 'a member on the device of the session',
    make: async (world) => {
      const { caller, accessToken, sessionId } = await makePerson(world, {
        roles: ['TENANT_MEMBER'],
        permissions: MEMBER,
      })
      await change(world, caller.home, 'session', { device_installation_id: 'dev_own' }, ['session_id', sessionId])
      return { headers: { ...bearer(accessToken), 'x-device-installation-id': 'dev_own' }, caller }
    },
  },
  personWithKey('an API key of an owner', ALL, OWNER),
  personWithKey('an API key of a tenant admin', ['machine.agent.read'], { roles: ['TENANT_ADMIN'], permissions: [] }),
]

export const ASKERS: readonly Asker[] = [
  ...UNKNOWN,
  ...AGENTS,
  ...PEOPLE,
  operator('an operator key', a1),
  operator('an operator key of another organisation', b1),
]
