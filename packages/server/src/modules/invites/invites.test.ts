import { api, type Input } from '@strongroom/contract'
import {
  documentHash,
  type Envelope,
  invite,
  keyAdd,
  makeDocument,
  makeInvite,
  openKeys,
  parseTrustAnchor,
  peekDocument,
} from '@strongroom/protocol'
import {
  type Accepted,
  acceptInvite,
  type Client,
  createClient,
  endorseInvite,
  type FirstPerson,
  login,
  makeUserInvite,
  memoryTrust,
  removeUser,
  Strongroom,
  type UserInvite,
} from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { bodyFor, codeOf, contentOf, foundOrg, keysOf, outcomes, refusal, seedUser } from '../../../test/people.ts'
import { inOrg } from '../../context.ts'

// Catches: an invite accepted twice (accept without `status = 'open'`), one taken after it expired or was revoked, an acceptance
// or an endorsement that is not the one signed (documentHash comparison left out), an inviter without authority, invites of
// another organisation or tenant seen or ended, the secret of a link at the server.

let h: Harness
let alice: FirstPerson
let anonymous: Client
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  anonymous = createClient({ baseUrl: h.url })
})
afterAll(() => h.close())

const PASSPHRASE = 'a passphrase of an invitee'
let count = 0
const invited = (more: { expiresInMs?: number } = {}): Promise<UserInvite> =>
  makeUserInvite(alice, { email: `invitee-${++count}@example.com`, name: 'Bob', tenantId: alice.tenantId, ...more })
const accept = (made: UserInvite, more: { fetch?: typeof fetch } = {}): Promise<Accepted> =>
  acceptInvite({ baseUrl: h.url, link: made.link, passphrase: PASSPHRASE, keys: keysOf('bob'), ...more })
const acceptBody = (made: UserInvite) => bodyFor(api.invites.accept, (fetch) => accept(made, { fetch }))
const statusOf = async (inviteId: string) =>
  (await alice.client.invites.list()).data.find((row) => row.inviteId === inviteId)?.status
const content = () => contentOf(h, alice.orgId)

it('lets somebody in: invited, accepted, endorsed, and able to use their keys', async () => {
  const made = await invited()
  expect(await anonymous.invites.show({ params: { id: made.inviteId } })).toMatchObject({
    org: { orgId: alice.orgId, name: 'acme' },
    userId: made.userId,
    trustAnchor: alice.trustAnchor,
  })
  const bob = await accept(made)
  const logIn = () =>
    login({
      baseUrl: h.url,
      email: bob.email,
      passphrase: PASSPHRASE,
      deviceSecret: bob.codes.deviceSecret,
      trustAnchor: bob.trustAnchor,
    })
  expect(await codeOf(logIn())).toBe('login_failed')
  expect(await statusOf(made.inviteId)).toBe('accepted')
  await endorseInvite(alice, made)
  expect(await statusOf(made.inviteId)).toBe('endorsed')

  const session = await logIn()
  expect(session.identity.kid).toBe(bob.identity.kid)
  expect(await session.client.identity.me()).toMatchObject({
    orgRoles: [],
    tenantRoles: [{ tenantId: alice.tenantId, role: 'TENANT_MEMBER' }],
  })
  expect(await alice.client.users.get({ params: { id: made.userId } })).toMatchObject({ status: 'active' })
  const { accessToken, identity: privateKey, trustAnchor } = alice
  const verifying = new Strongroom({ server: h.url, accessToken, privateKey, trustAnchor, trustStore: memoryTrust() })
  expect(await removeUser(alice, made.userId, verifying)).toEqual([bob.identity.kid])
  const state = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('map_state').select('state').where('name', '=', `kid/${bob.identity.kid}`).executeTakeFirstOrThrow(),
  )
  expect(state.state).toMatchObject({ status: 'removed' })
})

it('never sends the secret of the link to the server', async () => {
  const made = await invited()
  const sent: string[] = []
  const network: typeof fetch = (url, init) => {
    sent.push(String(url), String(init?.body ?? ''), JSON.stringify(init?.headers ?? {}))
    return fetch(url, init)
  }
  await accept(made, { fetch: network })
  const { s } = JSON.parse(Buffer.from(made.link.slice('vin1.'.length), 'base64url').toString()) as { s: string }
  expect(sent.join('\n')).not.toContain(s)
  expect(sent.join('\n')).not.toContain(PASSPHRASE)
})

it('is accepted once, also by twelve at a time', async () => {
  const made = await invited()
  const body = await acceptBody(made)
  const params = { id: made.inviteId }
  const { registrationRequest } = await bodyFor(api.invites.register, (fetch) => accept(made, { fetch }))
  const attempts = await Promise.all(
    Array.from({ length: 12 }, () => anonymous.invites.register({ params, body: { registrationRequest } })),
  )
  const ended = await outcomes(
    attempts.map(({ attemptId }) => anonymous.invites.accept({ params, body: { ...body, attemptId } })),
  )
  expect(ended.sort()).toEqual([...Array.from({ length: 11 }, () => 'invite_used'), 'ok'])
  const before = await content()
  expect(await codeOf(anonymous.invites.accept({ params, body }))).toBe('invite_used')
  expect(await codeOf(anonymous.invites.show({ params }))).toBe('invite_used')
  expect(await codeOf(anonymous.invites.register({ params, body: { registrationRequest: 'A'.repeat(43) } }))).toBe(
    'invite_used',
  )
  expect(await content()).toBe(before)
})

it('is over once it is revoked: it cannot be seen, registered for, accepted or endorsed, and its address is free', async () => {
  const made = await invited()
  const body = await acceptBody(made)
  const params = { id: made.inviteId }
  expect(await alice.client.invites.revoke({ params })).toEqual({ inviteId: made.inviteId, status: 'revoked' })
  const calls = [
    anonymous.invites.show({ params }),
    anonymous.invites.accept({ params, body }),
    alice.client.invites.revoke({ params }),
    alice.client.invites.endorse({ params, body: { keyAdd: body.acceptance } }),
  ]
  expect(await outcomes(calls)).toEqual([
    'invite_not_found',
    'invite_not_found',
    'invite_not_found',
    'invite_not_found',
  ])
  count--
  await invited()

  const accepted = await invited()
  await accept(accepted)
  await alice.client.users.remove({ params: { id: accepted.userId } })
  expect(await statusOf(accepted.inviteId)).toBe('revoked')
})

it('is over once it has expired, for the invitee and for the admin', async () => {
  const made = await invited({ expiresInMs: 120_000 })
  const late = await invited({ expiresInMs: 120_000 })
  await accept(late)
  const body = await acceptBody(made)
  h.advance(121_000)
  const params = { id: made.inviteId }
  expect(await outcomes([anonymous.invites.show({ params }), anonymous.invites.accept({ params, body })])).toEqual([
    'invite_not_found',
    'invite_not_found',
  ])
  expect(await statusOf(made.inviteId)).toBe('expired')
  expect(await codeOf(endorseInvite(alice, late))).toBe('invite_not_found')
})

type AcceptBody = Input<typeof api.invites.accept>['body']
it('refuses an acceptance that is not of this invite, this person and this key, and keeps nothing of it', async () => {
  const made = await invited()
  const other = await invited()
  const body = await acceptBody(made)
  const mallory = await openKeys(`user:${made.userId}`, keysOf('mallory'))
  const asked = peekDocument(keyAdd, body.acceptance).payload
  const sign = (members: object) => makeDocument(keyAdd, { ...asked, ...members }, [mallory])
  const before = await content()
  const wrong: readonly [Partial<AcceptBody>, string][] = [
    [{ acceptance: { ...body.acceptance, signatures: body.acceptance.signatures.slice(0, 1) } }, 'invalid_signature'],
    [{ acceptance: await sign({ kid: mallory.kid, key: mallory.key.bundle }), kid: mallory.kid }, 'invalid_signature'],
    [{ acceptance: (await acceptBody(other)).acceptance }, 'invalid_signature'],
    [{ kid: mallory.kid }, 'invalid_document'],
    [{ kdf: body.kdf.replace('t=3', 't=1') }, 'invalid_document'],
    [{ registrationRecord: 'AAAA' }, 'validation_failed'],
    [{ attemptId: (await acceptBody(other)).attemptId }, 'attempt_over'],
    [{ attemptId: 'att_absent' }, 'attempt_over'],
  ]
  for (const [change, code] of wrong)
    expect(
      await codeOf(anonymous.invites.accept({ params: { id: made.inviteId }, body: { ...body, ...change } })),
    ).toBe(code)
  expect(await content()).toBe(before)
  await anonymous.invites.accept({ params: { id: made.inviteId }, body })
})

it('endorses only the key.add that the invitee signed, completed by the admin, and only once', async () => {
  const made = await invited()
  const params = { id: made.inviteId }
  const body = await acceptBody(made)
  expect(await codeOf(alice.client.invites.endorse({ params, body: { keyAdd: body.acceptance } }))).toBe(
    'invite_not_accepted',
  )
  await anonymous.invites.accept({ params, body })
  const before = await content()
  // Without the admin's signature, and with another document that is valid in itself.
  expect(await codeOf(alice.client.invites.endorse({ params, body: { keyAdd: body.acceptance } }))).toBe(
    'invalid_signature',
  )
  const mallory = await openKeys(`user:${made.userId}`, keysOf('mallory'))
  const forged = await makeDocument(
    keyAdd,
    { org: alice.orgId, at: Date.now(), kid: mallory.kid, key: mallory.key.bundle, caps: ['member'] },
    [alice.identity, mallory],
  )
  expect(await codeOf(alice.client.invites.endorse({ params, body: { keyAdd: forged } }))).toBe('invalid_document')
  expect(await content()).toBe(before)

  const endorsement = await bodyFor(api.invites.endorse, (fetch) =>
    endorseInvite({ ...alice, client: createClient({ baseUrl: h.url, accessToken: alice.accessToken, fetch }) }, made),
  )
  const ended = await outcomes(
    Array.from({ length: 12 }, () => alice.client.invites.endorse({ params, body: endorsement })),
  )
  expect(ended.sort()).toEqual([...Array.from({ length: 11 }, () => 'invite_not_found'), 'ok'])
})

it('takes an invite only from somebody who may make good on it', async () => {
  const { genesis } = parseTrustAnchor(alice.trustAnchor)
  const at = Date.now()
  const terms = { org: alice.orgId, genesis, caps: ['member'] as const, expires: at + 1000_000, note: '', at }
  const person = { email: 'new@example.com', name: 'New', tenantId: alice.tenantId }
  const mallory = await openKeys(`user:${alice.userId}`, keysOf('mallory'))
  const colleague = await seedUser(h, alice, { orgRoles: ['ORG_ADMIN'] })
  const member = await seedUser(h, alice)
  const before = await content()
  const send = (envelope: Envelope, more: Partial<typeof person> = {}, client = alice.client) =>
    codeOf(client.invites.create({ body: { ...person, ...more, invite: envelope } }))
  const good = await makeInvite(terms, alice.identity)
  expect(await send((await makeInvite(terms, mallory)).envelope)).toBe('invalid_signature')
  expect(await send((await makeInvite({ ...terms, org: 'org_other' }, alice.identity)).envelope)).toBe(
    'invalid_document',
  )
  expect(await send((await makeInvite({ ...terms, caps: ['agent'] }, alice.identity)).envelope)).toBe(
    'invalid_document',
  )
  expect(await send((await makeInvite({ ...terms, at: at - 10, expires: at - 1 }, alice.identity)).envelope)).toBe(
    'invalid_document',
  )
  expect(await send((await makeInvite({ ...terms, expires: at + 40 * 86_400_000 }, alice.identity)).envelope)).toBe(
    'invalid_document',
  )
  expect(await send(good.envelope, { tenantId: 'ten_absent' })).toBe('tenant_not_found')
  expect(await send(good.envelope, { email: 'ALICE@example.com' })).toBe('email_taken')
  expect(await send(good.envelope, {}, colleague.client)).toBe('signer_not_authorised')
  expect(await send(good.envelope, {}, member.client)).toBe('role_required')
  expect(await content()).toBe(before)

  await alice.client.invites.create({ body: { ...person, invite: good.envelope } })
  expect(await send(good.envelope, { email: 'second@example.com' })).toBe('invite_exists')
  expect(await alice.client.users.list()).not.toMatchObject({
    users: expect.arrayContaining([expect.objectContaining({ email: 'second@example.com' })]),
  })
})

it('refuses an invite by a member who is no directory admin, though the organisation made them one of its admins', async () => {
  const made = await invited()
  const bob = await accept(made)
  await endorseInvite(alice, made)
  await alice.client.users.setOrgRoles({ params: { id: made.userId }, body: { orgRoles: ['ORG_ADMIN'] } })
  const session = await login({
    baseUrl: h.url,
    email: bob.email,
    passphrase: PASSPHRASE,
    deviceSecret: bob.codes.deviceSecret,
  })
  const refused = await refusal(
    makeUserInvite(session, { email: 'x@example.com', name: 'X', tenantId: alice.tenantId }),
  )
  expect(refused).toMatchObject({ status: 422, code: 'signer_not_authorised', details: { rule: 'endorser_not_admin' } })
})

it('shows invites to those who run the tenant, with what an admin needs to endorse, and to nobody of another organisation', async () => {
  const { tenantId: apart } = await alice.client.tenants.create({ body: { name: 'apart' } })
  const made = await makeUserInvite(alice, { email: 'apart@example.com', name: 'A', tenantId: apart })
  const runner = await seedUser(h, alice, { tenantRoles: [{ tenantId: alice.tenantId, role: 'TENANT_ADMIN' }] })
  const stranger = await seedUser(h, await h.org('globex'), { orgRoles: ['ORG_OWNER'] })
  const member = await seedUser(h, alice)
  const seen = async (client: Client) => (await client.invites.list()).data.map(({ inviteId }) => inviteId)
  expect(await seen(alice.client)).toContain(made.inviteId)
  expect(await seen(runner.client)).not.toContain(made.inviteId)
  expect(await seen(stranger.client)).toEqual([])
  expect(await codeOf(member.client.invites.list())).toBe('role_required')
  const params = { id: made.inviteId }
  for (const { client } of [runner, stranger])
    expect(await codeOf(client.invites.revoke({ params }))).toBe('invite_not_found')
  const page = await alice.client.invites.list({ query: { page: 1, limit: 1 } })
  expect(page.data).toHaveLength(1)
  expect(page.meta?.total).toBe((await seen(alice.client)).length)
  const [row] = page.data
  expect(row && documentHash(row.invite)).toBe(row && peekDocument(invite, row.invite).hash)
})

it('answers alike for absent invites and for what cannot be one', async () => {
  const absent = await refusal(anonymous.invites.show({ params: { id: 'inv_absent' } }))
  expect(absent).toMatchObject({ status: 404, code: 'invite_not_found' })
  expect(await refusal(anonymous.invites.show({ params: { id: alice.userId } }))).toEqual(absent)
})
