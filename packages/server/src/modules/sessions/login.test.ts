import { api } from '@strongroom/contract'
import { formatDeviceSecret, formatTrustAnchor, makeDeviceSecret, parseTrustAnchor } from '@strongroom/protocol'
import { ApiError, type Client, createClient, type FirstPerson, login } from '@strongroom/sdk'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { bodyFor, codeOf, contentOf, FOUNDER, foundOrg, outcomes, refusal } from '../../../test/people.ts'
import { asSuperuser } from '../../../test/principals.ts'
import { outsideOrgs } from '../../context.ts'
import { countTry } from './throttle.ts'

// Catches: an attempt that serves twice (takeAttempt as a select), one that outlives two minutes (no `expires_at`), an answer
// that differs for unknown addresses (a constant kdf left out), state of a login readable in the database, tries that are not
// counted or counted per process, an outsider who locks a known device out, addresses of one network of IPv6 counted each (seen red).

let h: Harness
let alice: FirstPerson
let anonymous: Client
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  anonymous = createClient({ baseUrl: h.url })
})
afterAll(() => h.close())
// Tries of one test are forgotten before the next.
beforeEach(() => h.advance(10 * 60_000))

const known = { email: FOUNDER.email, passphrase: FOUNDER.passphrase }
const logIn = (
  more: { passphrase?: string; email?: string; fetch?: typeof fetch; deviceInstallationId?: string } = {},
) =>
  login({ baseUrl: h.url, ...known, deviceSecret: alice.codes.deviceSecret, trustAnchor: alice.trustAnchor, ...more })
const finishBody = (more: { deviceInstallationId?: string } = {}) =>
  bodyFor(api.sessions.loginFinish, (fetch) => logIn({ ...more, fetch }))
const startBody = () => bodyFor(api.sessions.loginStart, (fetch) => logIn({ fetch }))

it('refuses a wrong passphrase and an unknown address alike, and opens no keys with a wrong device secret', async () => {
  const before = await contentOf(h, alice.orgId)
  expect(await codeOf(logIn({ passphrase: 'wrong' }))).toBe('login_failed')
  expect(await codeOf(logIn({ email: 'nobody@example.com' }))).toBe('login_failed')
  expect(await contentOf(h, alice.orgId)).toBe(before)
  const deviceSecret = formatDeviceSecret(makeDeviceSecret())
  await expect(login({ baseUrl: h.url, ...known, deviceSecret })).rejects.toMatchObject({ code: 'aead' })
})

it('answers an unknown address like a known one, and always the same', async () => {
  const { startLoginRequest } = await startBody()
  const ask = (email: string) => anonymous.sessions.loginStart({ body: { email, startLoginRequest } })
  const [real, fake, again, spelled] = [
    await ask(known.email),
    await ask('nobody@example.com'),
    await ask('nobody@example.com'),
    await ask('NOBODY@example.com'),
  ]
  const shape = ({ attemptId, loginResponse, kdf }: typeof real) => [
    attemptId.replace(/_.*/, ''),
    attemptId.length,
    loginResponse.length,
    kdf.replace(/[^$]+$/, ''),
    kdf.length,
  ]
  expect(shape(fake)).toEqual(shape(real))
  expect([again.kdf, spelled.kdf]).toEqual([fake.kdf, fake.kdf])
  // The evaluated element, which comes first, depends on the address alone: it does not change when somebody registers.
  expect(again.loginResponse.slice(0, 40)).toBe(fake.loginResponse.slice(0, 40))
})

it('gives one body for every login that fails', async () => {
  const body = await finishBody()
  const { startLoginRequest } = await startBody()
  const { attemptId: fake } = await anonymous.sessions.loginStart({
    body: { email: 'nobody@example.com', startLoginRequest },
  })
  const { attemptId: real } = await anonymous.sessions.loginStart({ body: { email: known.email, startLoginRequest } })
  const bodies = [
    { ...body, attemptId: fake },
    { ...body, attemptId: real },
    { ...body, attemptId: 'att_unknown' },
    { ...body, finishLoginRequest: 'AAAA' },
  ]
  const refusals = await Promise.all(bodies.map((one) => refusal(anonymous.sessions.loginFinish({ body: one }))))
  for (const one of refusals)
    expect(one).toEqual({ status: 401, code: 'login_failed', details: undefined, retryAfter: undefined })
})

it('records a failed login in the organisation of whom it was for, and one for an unknown address nowhere', async () => {
  const body = await finishBody()
  const { attemptId: fake } = await anonymous.sessions.loginStart({
    body: { ...(await startBody()), email: 'nobody@example.com' },
  })
  const requestIdOf = async (wrong: object): Promise<string> => {
    const error = await anonymous.sessions.loginFinish({ body: { ...body, ...wrong } }).catch((cause: unknown) => cause)
    return error instanceof ApiError && error.code === 'login_failed' ? String(error.requestId) : String(error)
  }
  const ids = [await requestIdOf({ attemptId: fake }), await requestIdOf({ finishLoginRequest: 'AAAA' })]
  const recorded = () =>
    asSuperuser(h, async (client) => {
      const sql = 'select org_id, actor_id, action, outcome, error_code, request_id from audit_event'
      return (await client.query(`${sql} where request_id = any($1)`, [ids])).rows
    })
  const of = { org_id: alice.orgId, actor_id: `user:${alice.userId}`, request_id: ids[1] }
  await vi.waitFor(async () =>
    expect(await recorded()).toEqual([
      { ...of, action: 'session.login', outcome: 'refused', error_code: 'login_failed' },
    ]),
  )
})

it('uses an attempt once, whether it fails or succeeds, also for twelve at a time', async () => {
  const failed = await finishBody()
  expect(await codeOf(anonymous.sessions.loginFinish({ body: { ...failed, finishLoginRequest: 'AAAA' } }))).toBe(
    'login_failed',
  )
  expect(await codeOf(anonymous.sessions.loginFinish({ body: failed }))).toBe('login_failed')
  const body = await finishBody()
  const ended = await outcomes(Array.from({ length: 12 }, () => anonymous.sessions.loginFinish({ body })))
  expect(ended.sort()).toEqual([...Array.from({ length: 11 }, () => 'login_failed'), 'ok'])
})

it('ends an attempt after two minutes', async () => {
  const body = await finishBody()
  h.advance(2 * 60_000)
  expect(await codeOf(anonymous.sessions.loginFinish({ body }))).toBe('login_failed')
})

it('finishes in one process what was started in another, and keeps no state of it in clear', async () => {
  const sibling = await h.sibling()
  const body = await finishBody()
  const rows = await outsideOrgs(h.deps, (db) => db.selectFrom('login_attempt').select('state').execute())
  for (const { state } of rows) expect(Object.keys(Object(state))).toEqual(['sealed'])
  const { user } = await createClient({ baseUrl: sibling.url }).sessions.loginFinish({ body })
  expect(user.userId).toBe(alice.userId)
  await sibling.close()
})

it('refuses bytes that are no message of OPAQUE as a broken request, without quoting them', async () => {
  const refused = await refusal(
    anonymous.sessions.loginStart({ body: { email: known.email, startLoginRequest: 'canary' } }),
  )
  expect(refused).toMatchObject({ status: 400, code: 'validation_failed' })
  expect(JSON.stringify(refused.details)).not.toContain('canary')
})

it('slows guessing down at one address, for that account alone, and a success gives the try back', async () => {
  const { startLoginRequest } = await startBody()
  h.advance(10 * 60_000)
  const guess = (email: string) => anonymous.sessions.loginStart({ body: { email, startLoginRequest } })
  for (let i = 0; i < 9; i++) await guess(known.email)
  await logIn()
  await guess(known.email)
  const slowed = await refusal(guess(known.email))
  expect(slowed).toMatchObject({ status: 429, code: 'rate_limited' })
  expect(slowed.retryAfter).toBeGreaterThan(0)
  expect(slowed.retryAfter).toBeLessThanOrEqual(30)
  await guess('somebody.else@example.com')
  h.advance((slowed.retryAfter ?? 0) * 1000)
  await guess(known.email)
})

it('counts the tries of several processes together, and admits exactly ten of thirty at once', async () => {
  const sibling = await h.sibling()
  const { startLoginRequest } = await startBody()
  const clients = [anonymous, createClient({ baseUrl: sibling.url })]
  const ended = await outcomes(
    Array.from({ length: 30 }, (_, i) =>
      (clients[i % 2] as Client).sessions.loginStart({ body: { email: 'crowd@example.com', startLoginRequest } }),
    ),
  )
  expect(ended.filter((outcome) => outcome === 'ok')).toHaveLength(10)
  expect(ended.filter((outcome) => outcome === 'rate_limited')).toHaveLength(20)
  await sibling.close()
})

it('counts whoever has a network of IPv6 as one, whichever of its addresses they come from', async () => {
  const now = h.deps.now()
  const tries = (ip: (i: number) => string, email: (i: number) => string) =>
    outsideOrgs(h.deps, async (db) => {
      const waits = []
      for (let i = 0; i < 70; i++)
        waits.push(await countTry({ now: () => now }, db, { email: email(i), ip: ip(i), knownDevice: undefined }))
      return waits.filter(({ retryAfterSeconds }) => retryAfterSeconds === 0).length
    })
  const spray = (i: number): string => `sprayed${i}@example.com`
  expect(await tries((i) => `2001:db8:1:2::${i.toString(16)}`, spray)).toBe(60)
  expect(
    await tries(
      (i) => `2001:db8:7:${i.toString(16)}::1`,
      (i) => `other${i}@example.com`,
    ),
  ).toBe(70)
  expect(
    await tries(
      (i) => `2001:db8:9:9::${i.toString(16)}`,
      () => 'guessed@example.com',
    ),
  ).toBe(10)
})

it('lets a device that has logged in before in, however many outsiders guess', async () => {
  const deviceInstallationId = 'device-of-alice'
  await logIn({ deviceInstallationId })
  h.advance(10 * 60_000)
  const from = (ip: string, knownDevice?: string) =>
    outsideOrgs(h.deps, (db) => countTry(h.deps, db, { email: known.email, ip, knownDevice }))
  for (let i = 0; i < 60; i++) await from(`203.0.113.${i}`)
  expect((await from('198.51.100.1')).retryAfterSeconds).toBeGreaterThan(0)
  expect((await from('198.51.100.1')).retryAfterSeconds).toBeLessThanOrEqual(60)
  expect(await codeOf(logIn())).toBe('rate_limited')
  await logIn({ deviceInstallationId })
})

/** A server that answers the start of a login with other stretching parameters. */
const naming =
  (change: (kdf: string) => string): typeof fetch =>
  async (url, init) => {
    const response = await fetch(url, init)
    if (!String(url).endsWith('/login/start')) return response
    const body = Object(await response.json())
    return Response.json({ ...body, kdf: change(body.kdf) })
  }

it('lets no server lower the stretching, nor put another organisation in place of the one that is known', async () => {
  const weaker = logIn({ fetch: naming((kdf) => kdf.replace('m=65536', 'm=65535')) })
  await expect(weaker).rejects.toMatchObject({ code: 'kdf_floor' })
  const dearer = alice.kdf.replace('t=3', 't=4')
  await expect(
    login({ baseUrl: h.url, ...known, deviceSecret: alice.codes.deviceSecret, lastKdf: dearer }),
  ).rejects.toMatchObject({ code: 'kdf_floor' })
  const trustAnchor = formatTrustAnchor({ ...parseTrustAnchor(alice.trustAnchor), genesis: 'A'.repeat(43) })
  await expect(
    login({ baseUrl: h.url, ...known, deviceSecret: alice.codes.deviceSecret, trustAnchor }),
  ).rejects.toMatchObject({ code: 'genesis_mismatch' })
})
