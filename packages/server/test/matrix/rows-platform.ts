import { administrators, type Material, people, type Row, type Slot, slot, tenantRunBy } from './oracle.ts'
import { type Caller, type Place, runs, runsOrg, seesTenant } from './relations.ts'

// The platform API: people, their tenants and groups, and how they come in (decisions.md 3, docs/reference/protocol.md 4 and 8).

const userInSight = (caller: Caller, place: Place): boolean =>
  caller.home.orgId === place.orgId && (runsOrg(caller) || runs(caller, place))
/** Everybody sees themselves; others are seen by those who administer their tenant. */
const userSlot = (options: Parameters<typeof slot>[3] = {}): Slot =>
  slot(
    'user',
    'user_not_found',
    (caller, { relation, place }) => relation !== 'archived' && (relation === 'self' || userInSight(caller, place)),
    options,
  )
/** Oneself among others is tried where it changes nothing that the caller stands on. */
const another = userSlot({ except: ['self'] })

const users: readonly Row[] = [
  { route: 'GET /platform/user', may: administrators },
  { route: 'GET /platform/user/:id', may: people(), ids: { id: userSlot() } },
  {
    route: 'PATCH /platform/user/:id',
    may: people(),
    ids: { id: userSlot() },
    body: (_, { name }) => ({ name: name() }),
  },
  { route: 'DELETE /platform/user/:id', may: administrators, ids: { id: another } },
  {
    route: 'PUT /platform/user/:id/org-roles',
    may: people('ORG_OWNER', 'ORG_ADMIN'),
    ids: { id: another },
    body: () => ({ orgRoles: ['ORG_BILLING_MANAGER'] }),
  },
  {
    route: 'PUT /platform/user/:id/tenant-roles',
    may: administrators,
    ids: { id: another, tenant: tenantRunBy('cannot_grant') },
    body: ({ tenant }) => ({ tenantRoles: [{ tenantId: tenant, role: 'TENANT_MEMBER' }] }),
  },
]

/** Somebody who sees a tenant and does not run it is told so. */
const tenantToChange: Slot = {
  kind: 'tenant',
  refuses: (caller, { relation, place }) => {
    if (relation === 'absent' || !place) return 'tenant_not_found'
    if (relation === 'archived') return runsOrg(caller) ? 'tenant_archived' : 'tenant_not_found'
    if (!seesTenant(caller, place)) return 'tenant_not_found'
    return runs(caller, place) ? undefined : 'role_required'
  },
}

/** In each organisation the second tenant lies below the first, so every other move would close a circle. */
const tenantAbove: Slot = {
  kind: 'tenant',
  refuses: (caller, { relation, place }, { id }) => {
    if (relation !== 'archived' && place && id?.place?.parentId === place.tenantId) return undefined
    if (relation === 'absent' || relation === 'archived' || !place || !seesTenant(caller, place))
      return 'tenant_not_found'
    return runs(caller, place) ? 'tenant_cycle' : 'role_required'
  },
}

const tenants: readonly Row[] = [
  { route: 'GET /platform/tenant', may: people() },
  {
    route: 'POST /platform/tenant',
    may: administrators,
    ids: { parent: tenantRunBy('role_required') },
    body: ({ parent }, { name }) => ({ name: name(), parentId: parent }),
  },
  {
    route: 'POST /platform/tenant',
    may: administrators,
    // At the top of the organisation only those who run all of it.
    also: (caller) => (runsOrg(caller) ? undefined : 'role_required'),
    body: (_, { name }) => ({ name: name() }),
  },
  {
    route: 'PATCH /platform/tenant/:id',
    may: administrators,
    ids: { id: tenantToChange },
    // Under the name it has: that carries the canary.
    body: (_, { name }, { id }) => ({ name: id?.place?.canary ?? name() }),
    takes: ['status'],
  },
  {
    route: 'PATCH /platform/tenant/:id',
    may: administrators,
    ids: { id: tenantToChange, parent: tenantAbove },
    body: ({ parent }) => ({ parentId: parent }),
    takes: ['status'],
  },
]

const groupSlot = slot('group', 'group_not_found', (caller, { place }) => runs(caller, place))
const member = (type: 'user' | 'agent', id: string | undefined) => ({ members: [{ type, id }] })

const groups: readonly Row[] = [
  { route: 'GET /platform/security-group', may: administrators },
  {
    route: 'POST /platform/security-group',
    may: administrators,
    ids: { tenant: tenantRunBy('role_required') },
    body: ({ tenant }, { name }) => ({ tenantId: tenant, name: name() }),
  },
  {
    route: 'PATCH /platform/security-group/:id',
    may: administrators,
    ids: { id: groupSlot },
    body: (_, { name }) => ({ name: name() }),
  },
  { route: 'DELETE /platform/security-group/:id', may: administrators, ids: { id: groupSlot } },
  {
    route: 'PUT /platform/security-group/:id/members',
    may: administrators,
    ids: { id: groupSlot, user: another },
    body: ({ user }) => member('user', user),
  },
  {
    route: 'PUT /platform/security-group/:id/members',
    may: administrators,
    ids: {
      id: groupSlot,
      agent: slot(
        'agent',
        'agent_not_found',
        (caller, { relation, place }) => relation !== 'archived' && runs(caller, place),
      ),
    },
    body: ({ agent }) => member('agent', agent),
  },
  {
    route: 'PUT /platform/security-group/:id/tenant-roles',
    may: administrators,
    ids: { id: groupSlot, tenant: tenantRunBy('cannot_grant') },
    body: ({ tenant }) => ({ tenantRoles: [{ tenantId: tenant, role: 'TENANT_MEMBER' }] }),
  },
]

/** Well-formed, and signed by nobody. */
const document = { payload: 'e30', payloadType: 'application/json', signatures: [] }
const secrets = ({ registrationRecord, kdf }: Material) => ({
  registrationRecord,
  kdf,
  bundleVersion: 2,
  privateBundle: 'vub3.AAAA',
})
const recovery = { bundle: 'vub3.AAAA', token: 'A'.repeat(43) }
const proof = { attemptId: 'att_00000000000000000000', finishLoginRequest: 'AAAA' }

const inviteSlot = (isPublic: boolean): Slot =>
  slot(
    'invite',
    'invite_not_found',
    (caller, { relation, place }) => relation !== 'archived' && (isPublic || runs(caller, place)),
  )

/** Whoever has the link needs no account: its id is as hard to guess as its secret. */
const invites: readonly Row[] = [
  { route: 'GET /platform/invite', may: administrators },
  {
    route: 'POST /platform/invite',
    may: administrators,
    ids: { tenant: tenantRunBy('role_required') },
    body: ({ tenant }, { name }) => ({ email: 'new@example.com', name: name(), tenantId: tenant, invite: document }),
    ends: 'invalid_document',
  },
  { route: 'DELETE /platform/invite/:id', may: administrators, ids: { id: inviteSlot(false) } },
  {
    route: 'POST /platform/invite/:id/endorse',
    may: administrators,
    ids: { id: inviteSlot(false) },
    body: () => ({ keyAdd: document }),
    ends: 'invite_not_accepted',
  },
  { route: 'GET /platform/invite/:id', may: 'everybody', ids: { id: inviteSlot(true) }, reveals: true },
  {
    route: 'POST /platform/invite/:id/registration',
    may: 'everybody',
    ids: { id: inviteSlot(true) },
    body: (_, { registrationRequest }) => ({ registrationRequest }),
  },
  {
    route: 'POST /platform/invite/:id/accept',
    may: 'everybody',
    ids: { id: inviteSlot(true) },
    body: (_, material) => ({
      attemptId: 'att_00000000000000000000',
      acceptance: document,
      kid: material.kid,
      ...secrets(material),
    }),
    ends: 'attempt_over',
  },
]

const login: readonly Row[] = [
  { route: 'GET /platform/setup', may: 'everybody' },
  {
    route: 'POST /platform/setup/start',
    may: 'everybody',
    body: (_, { registrationRequest }) => ({ email: 'first@example.com', registrationRequest }),
    ends: 'already_set_up',
  },
  {
    route: 'POST /platform/setup/finish',
    may: 'everybody',
    body: (_, material) => ({
      attemptId: 'att_00000000000000000000',
      orgName: 'another',
      userName: 'somebody',
      tenantName: 'main',
      genesis: document,
      kid: material.kid,
      ...secrets(material),
    }),
    ends: 'already_set_up',
  },
  {
    route: 'POST /platform/login/start',
    may: 'everybody',
    body: (_, { startLoginRequest, name }) => ({
      email: `${name().replaceAll(' ', '-')}@example.com`,
      startLoginRequest,
    }),
  },
  { route: 'POST /platform/login/finish', may: 'everybody', body: () => proof, ends: 'login_failed' },
]

const sessions: readonly Row[] = [
  { route: 'GET /platform/session', may: people() },
  {
    route: 'DELETE /platform/session/:id',
    may: people(),
    ids: { id: slot('session', 'session_not_found', (_, { relation }) => relation === 'own') },
  },
  { route: 'POST /platform/logout', may: people(), spends: true },
]

const signed = (path: string): Row => ({
  route: `POST /platform/${path}`,
  may: people(),
  body: () => ({ event: document }),
  ends: 'invalid_document',
})

const keys: readonly Row[] = [
  { route: 'GET /platform/user-key', may: people() },
  {
    route: 'POST /platform/user-key/registration',
    may: people(),
    body: (_, { registrationRequest }) => ({ registrationRequest }),
    silent: true,
  },
  {
    route: 'PUT /platform/user-key',
    may: people(),
    body: (_, material) => ({ proof, ...secrets(material) }),
    ends: 'login_failed',
  },
  {
    route: 'POST /platform/user-key/rotate',
    may: people(),
    body: () => ({ event: document, replacements: [], bundleVersion: 2, privateBundle: 'vub3.AAAA' }),
    ends: 'invalid_document',
  },
  signed('user-key/revoke'),
  {
    route: 'PUT /platform/user-key/recovery',
    may: people(),
    body: () => ({ proof, bundleVersion: 1, recovery }),
    ends: 'login_failed',
  },
  {
    route: 'POST /platform/user-key/recovery/start',
    may: 'everybody',
    body: (_, { registrationRequest }) => ({
      email: 'somebody@example.com',
      token: recovery.token,
      registrationRequest,
    }),
    ends: 'login_failed',
  },
  {
    route: 'POST /platform/user-key/recovery/finish',
    may: 'everybody',
    body: (_, material) => ({ attemptId: 'att_00000000000000000000', ...secrets(material), recovery }),
    ends: 'attempt_over',
  },
  signed('directory/caps'),
  signed('directory/policy'),
  signed('directory/recover'),
  signed('directory/recover-log'),
  { route: 'GET /platform/directory/witnesses', may: people('ORG_OWNER', 'ORG_ADMIN') },
  {
    route: 'PUT /platform/directory/witnesses',
    may: people('ORG_OWNER', 'ORG_ADMIN'),
    body: () => ({ witnesses: [] }),
  },
]

export const PLATFORM: readonly Row[] = [...users, ...tenants, ...groups, ...invites, ...login, ...sessions, ...keys]
