import { api } from '@strongroom/contract'
import { keyRevoke, keyRotate, makeDocument, openKeys, peekDocument } from '@strongroom/protocol'
import {
  changePassphrase,
  connect,
  createClient,
  type FirstPerson,
  login,
  type Person,
  recover,
  renewRecoveryCode,
  rotateUserKey,
} from '@strongroom/sdk'
import type pg from 'pg'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import {
  bodyFor,
  codeOf,
  contentOf,
  FOUNDER,
  foundOrg,
  keysOf,
  outcomes,
  refusal,
  seedUser,
} from '../../../test/people.ts'
import { inOrg, outsideOrgs } from '../../context.ts'

// Catches: keys replaced by whoever has a token but not the passphrase (ensurePassphrase left out), a version overwritten by a
// change that did not see it (changeSecrets without `bundle_version =`), sessions or attempts that survive a new passphrase, a
// recovery code that works twice or for somebody else, a rotation half done, secrets in clear, work that tells whether an address is known
// (seen red: nothing asked for nobody).

let h: Harness
let alice: FirstPerson
beforeEach(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
})
afterEach(() => h.close())

const NEW = 'another passphrase'
const server = () => ({ baseUrl: h.url })
const own = () => ({ passphrase: FOUNDER.passphrase, deviceSecret: alice.codes.deviceSecret })
const logIn = (passphrase: string, deviceSecret = alice.codes.deviceSecret, network?: typeof fetch) =>
  login({ ...server(), email: FOUNDER.email, passphrase, deviceSecret, fetch: network })
const on = (person: Person, network: typeof fetch): Person => ({
  ...person,
  client: connect({ ...server(), fetch: network }, { accessToken: person.accessToken }),
})
const content = () => contentOf(h, alice.orgId)

it('gives people their own sealed keys, records that it did, and refuses agents', async () => {
  const keys = await alice.client.userKeys.get()
  expect(keys).toMatchObject({ kid: alice.identity.kid, bundleVersion: 1, hasRecovery: true, kdf: alice.kdf })
  expect(keys.privateBundle).toMatch(/^vub3\./)
  const events = await inOrg(h.deps, alice.orgId, (db) => db.selectFrom('audit_event').select('action').execute())
  expect(events).toContainEqual({ action: 'user-key.read' })
  const agent = await h.agent(alice, ['machine.all'])
  expect(await codeOf(agent.client.userKeys.get())).toBe('key_kind_refused')
})

it('changes the passphrase: the keys stay, the old passphrase and every session end, the new session goes on', async () => {
  const elsewhere = await logIn(FOUNDER.passphrase)
  const begun = await bodyFor(api.sessions.loginFinish, (fetch) =>
    logIn(FOUNDER.passphrase, alice.codes.deviceSecret, fetch),
  )
  const changed = await changePassphrase(alice, server(), own(), NEW)
  for (const { client } of [alice, elsewhere]) expect(await codeOf(client.sessions.list())).toBe('unauthorized')
  expect((await changed.client.sessions.list()).data).toHaveLength(1)
  expect(await codeOf(createClient(server()).sessions.loginFinish({ body: begun }))).toBe('login_failed')
  expect(await codeOf(logIn(FOUNDER.passphrase))).toBe('login_failed')
  const again = await logIn(NEW)
  expect(again.identity.kid).toBe(alice.identity.kid)
  expect(again.bundleVersion).toBe(2)
})

it('replaces nothing for somebody who has the token and not the passphrase', async () => {
  const body = await bodyFor(api.userKeys.change, (fetch) => changePassphrase(on(alice, fetch), server(), own(), NEW))
  const { accessToken, userId } = await seedUser(h, alice)
  const thief = createClient({ ...server(), accessToken })
  await inOrg(h.deps, alice.orgId, async (db) => {
    const kid = `user:${userId}:${'a'.repeat(32)}`
    await db
      .insertInto('user_secret')
      .values({
        org_id: alice.orgId,
        user_id: userId,
        opaque_record: 'x',
        kid,
        bundle_version: 1,
        kdf: 'x',
        private_bundle: 'x',
        recovery_bundle: null,
        recovery_version: null,
        recovery_token_hash: null,
        updated_at: h.deps.now(),
      })
      .execute()
  })
  const before = await content()
  const { proof, ...rest } = body
  const forged = { attemptId: proof.attemptId, finishLoginRequest: 'A'.repeat(86) }
  expect(await refusal(alice.client.userKeys.change({ body: { ...rest, proof: forged } }))).toMatchObject({
    status: 401,
    code: 'login_failed',
  })
  expect(
    await codeOf(alice.client.userKeys.change({ body: { ...rest, proof: { ...proof, attemptId: 'att_absent' } } })),
  ).toBe('login_failed')
  const recovery = { bundle: body.privateBundle, token: 'A'.repeat(43) }
  expect(await codeOf(alice.client.userKeys.setRecovery({ body: { proof: forged, bundleVersion: 1, recovery } }))).toBe(
    'login_failed',
  )
  // The proof is alice's own, the token somebody else's.
  expect(await codeOf(thief.userKeys.change({ body }))).toBe('login_failed')
  expect(await content()).toBe(before)
})

it('refuses a version that does not follow the one that is there, also of two changes at once, and cheap stretching', async () => {
  const first = await bodyFor(api.userKeys.change, (fetch) => changePassphrase(on(alice, fetch), server(), own(), NEW))
  const second = await bodyFor(api.userKeys.change, (fetch) =>
    changePassphrase(on(alice, fetch), server(), own(), 'a third one'),
  )
  const before = await content()
  for (const bundleVersion of [1, 3])
    expect(await codeOf(alice.client.userKeys.change({ body: { ...first, bundleVersion } }))).toBe(
      'bundle_version_conflict',
    )
  expect(
    await refusal(alice.client.userKeys.change({ body: { ...first, kdf: first.kdf.replace('p=4', 'p=1') } })),
  ).toMatchObject({ code: 'invalid_document', details: { rule: 'kdf_floor' } })
  expect(await content()).toBe(before)
  const ended = await outcomes([
    alice.client.userKeys.change({ body: first }),
    alice.client.userKeys.change({ body: second }),
  ])
  expect(ended).toContain('ok')
  expect(ended.every((outcome) => ['ok', 'bundle_version_conflict', 'unauthorized'].includes(outcome))).toBe(true)
  expect(ended.filter((outcome) => outcome === 'ok')).toHaveLength(1)
})

it('lets somebody back in with the recovery code alone, once, also after the passphrase was changed', async () => {
  const changed = await changePassphrase(alice, server(), own(), NEW)
  const code = alice.codes.recoveryCode
  const back = await recover({
    ...server(),
    email: 'ALICE@example.com',
    recoveryCode: code,
    newPassphrase: 'found again',
    trustAnchor: alice.trustAnchor,
  })
  expect(back.identity.kid).toBe(alice.identity.kid)
  expect(await codeOf(changed.client.sessions.list())).toBe('unauthorized')
  expect((await back.client.sessions.list()).data).toHaveLength(1)
  expect(await codeOf(recover({ ...server(), email: FOUNDER.email, recoveryCode: code, newPassphrase: 'x' }))).toBe(
    'login_failed',
  )
  expect(await codeOf(logIn(NEW))).toBe('login_failed')
  const again = await logIn('found again', back.codes.deviceSecret)
  expect(again.identity.kid).toBe(alice.identity.kid)
  await recover({
    ...server(),
    email: FOUNDER.email,
    recoveryCode: back.codes.recoveryCode,
    newPassphrase: 'once more',
  })
})

it('answers a wrong recovery code like an unknown address, and gives no sealed keys', async () => {
  const { token, registrationRequest } = await bodyFor(api.userKeys.recoveryStart, (fetch) =>
    recover({ ...server(), email: FOUNDER.email, recoveryCode: alice.codes.recoveryCode, newPassphrase: NEW, fetch }),
  )
  const start = (email: string, shown: string) =>
    refusal(createClient(server()).userKeys.recoveryStart({ body: { email, token: shown, registrationRequest } }))
  const wrong = await start(FOUNDER.email, 'A'.repeat(43))
  expect(wrong).toEqual({ status: 401, code: 'login_failed', details: undefined, retryAfter: undefined })
  expect(await start('nobody@example.com', token)).toEqual(wrong)
})

it('asks the database as much for an unknown address as for a wrong recovery code', async () => {
  const { token, registrationRequest } = await bodyFor(api.userKeys.recoveryStart, (fetch) =>
    recover({ ...server(), email: FOUNDER.email, recoveryCode: alice.codes.recoveryCode, newPassphrase: NEW, fetch }),
  )
  const asked = async (email: string, shown: string): Promise<readonly string[]> => {
    const texts: string[] = []
    const { pool } = h.deps.database
    const listen = (client: pg.PoolClient): void => {
      const query = vi.spyOn(client, 'query')
      pool.once('release', () => {
        texts.push(...query.mock.calls.map(([statement]) => String((statement as { text?: string }).text ?? statement)))
        query.mockRestore()
      })
    }
    pool.on('acquire', listen)
    await refusal(createClient(server()).userKeys.recoveryStart({ body: { email, token: shown, registrationRequest } }))
    pool.off('acquire', listen)
    return texts
  }
  const wrong = await asked(FOUNDER.email, 'A'.repeat(43))
  expect(wrong.filter((text) => text.includes('recovery_token_hash'))).toHaveLength(1)
  expect(await asked('nobody@example.com', token)).toEqual(wrong)
})

it('finishes a recovery once, in time, and only from the version it began with', async () => {
  const recovering = (network: typeof fetch) =>
    recover({
      ...server(),
      email: FOUNDER.email,
      recoveryCode: alice.codes.recoveryCode,
      newPassphrase: NEW,
      fetch: network,
    })
  const anonymous = createClient(server())
  const body = await bodyFor(api.userKeys.recoveryFinish, recovering)
  const late = await bodyFor(api.userKeys.recoveryFinish, recovering)
  const before = await content()
  expect(await codeOf(anonymous.userKeys.recoveryFinish({ body: { ...body, bundleVersion: 3 } }))).toBe(
    'bundle_version_conflict',
  )
  expect(
    await codeOf(anonymous.userKeys.recoveryFinish({ body: { ...body, kdf: body.kdf.replace('m=65536', 'm=8') } })),
  ).toBe('invalid_document')
  expect(await content()).toBe(before)
  const ended = await outcomes(Array.from({ length: 12 }, () => anonymous.userKeys.recoveryFinish({ body })))
  expect(ended.sort()).toEqual([...Array.from({ length: 11 }, () => 'attempt_over'), 'ok'])
  expect(await codeOf(anonymous.userKeys.recoveryFinish({ body: late }))).toBe('bundle_version_conflict')
  h.advance(15 * 60_000)
  expect(await codeOf(anonymous.userKeys.recoveryFinish({ body: late }))).toBe('attempt_over')
})

it('renews the recovery code: the one before opens nothing any more', async () => {
  const code = await renewRecoveryCode(alice, server(), own())
  expect(
    await codeOf(
      recover({ ...server(), email: FOUNDER.email, recoveryCode: alice.codes.recoveryCode, newPassphrase: NEW }),
    ),
  ).toBe('login_failed')
  expect(
    (await recover({ ...server(), email: FOUNDER.email, recoveryCode: code, newPassphrase: NEW })).identity.kid,
  ).toBe(alice.identity.kid)
})

it('rotates the key pair: logged, sealed, and opened at the next login; the old recovery code is over', async () => {
  const rotated = await rotateUserKey(alice, server(), own(), { held: [], keys: keysOf('mallory') })
  expect(rotated.identity.kid).not.toBe(alice.identity.kid)
  expect((await logIn(FOUNDER.passphrase)).identity.kid).toBe(rotated.identity.kid)
  expect(
    await codeOf(
      recover({ ...server(), email: FOUNDER.email, recoveryCode: alice.codes.recoveryCode, newPassphrase: NEW }),
    ),
  ).toBe('login_failed')
  const states = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('map_state').select(['name', 'state']).where('principal', '=', `user:${alice.userId}`).execute(),
  )
  expect(states.map(({ name, state }) => [name.slice(4), Object(state).status]).sort()).toEqual(
    [
      [alice.identity.kid, 'superseded'],
      [rotated.identity.kid, 'active'],
    ].sort(),
  )
})

it('logs no rotation whose sealed keys do not follow, and none of somebody else', async () => {
  const body = await bodyFor(api.userKeys.rotate, (fetch) =>
    rotateUserKey(on(alice, fetch), server(), own(), { held: [], keys: keysOf('mallory') }),
  )
  const stranger = await seedUser(h, alice, { orgRoles: ['ORG_OWNER'] })
  const before = await content()
  expect(await codeOf(alice.client.userKeys.rotate({ body: { ...body, bundleVersion: 3 } }))).toBe(
    'bundle_version_conflict',
  )
  expect(await refusal(stranger.client.userKeys.rotate({ body }))).toMatchObject({
    status: 422,
    code: 'signer_not_authorised',
  })
  const { org, at, oldKid, kid, key, batch } = peekDocument(keyRotate, body.event).payload
  const next = await openKeys(`user:${alice.userId}`, keysOf('mallory'))
  const half = await makeDocument(keyRotate, { org, at, oldKid, kid, key, batch }, [next])
  expect(await codeOf(alice.client.userKeys.rotate({ body: { ...body, event: half } }))).toBe('invalid_signature')
  expect(await content()).toBe(before)
  expect(await alice.client.userKeys.rotate({ body })).toEqual({ kid, bundleVersion: 2 })
})

it('logs a revocation that the caller has signed, and none that somebody else has', async () => {
  const revoke = await makeDocument(
    keyRevoke,
    { org: alice.orgId, at: Date.now(), kid: alice.identity.kid, reason: 'compromised' },
    [alice.identity],
  )
  const event = revoke
  const stranger = await seedUser(h, alice, { orgRoles: ['ORG_OWNER'] })
  const before = await content()
  expect(await codeOf(stranger.client.userKeys.revoke({ body: { event } }))).toBe('signer_not_authorised')
  expect(await codeOf(alice.client.userKeys.revoke({ body: { event: { ...event, signatures: [] } } }))).toBe(
    'invalid_signature',
  )
  expect(await content()).toBe(before)
  expect(await alice.client.userKeys.revoke({ body: { event } })).toEqual({ kid: alice.identity.kid })
})

it('keeps no passphrase, device secret, recovery code, token or private key where the database could show it', async () => {
  await changePassphrase(alice, server(), own(), NEW)
  const rows = [
    await content(),
    JSON.stringify(await outsideOrgs(h.deps, (db) => db.selectFrom('login_attempt').selectAll().execute())),
  ].join()
  const { token } = await bodyFor(api.userKeys.recoveryStart, (fetch) =>
    recover({ ...server(), email: FOUNDER.email, recoveryCode: alice.codes.recoveryCode, newPassphrase: NEW, fetch }),
  )
  const pem = Buffer.from(keysOf('alice').enc)
  for (const secret of [
    FOUNDER.passphrase,
    NEW,
    alice.codes.deviceSecret,
    alice.codes.recoveryCode,
    alice.accessToken,
    token,
    pem.toString('base64url').slice(80, 140),
    pem.toString('base64').slice(80, 140),
  ])
    expect(rows).not.toContain(secret)
})
