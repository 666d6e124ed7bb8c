import { createClient } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { codeOf, refusal, type SeededUser, seedUser } from '../../../test/people.ts'
import { inOrg } from '../../context.ts'
import { startSession } from './service.ts'

// Catches: sessions of others listed or ended (endSession without user_id), a session that works from another device, idle or
// absolute time that is not counted, a refused request that counts as use (it revived an idle session), a token kept in clear.

let h: Harness
let org: { orgId: string; tenantId: string }
beforeAll(async () => {
  h = await startHarness()
  org = await h.org('acme')
})
afterAll(() => h.close())

const request = { requestId: 'req', ip: '127.0.0.1', userAgent: 'test', routeName: 'test' }
const session = (user: SeededUser, deviceInstallationId?: string) =>
  inOrg(h.deps, org.orgId, (db) =>
    startSession({ ...h.deps, request }, db, { orgId: org.orgId, userId: user.userId, deviceInstallationId }),
  )
const clientOf = (accessToken: string, deviceInstallationId?: string) =>
  createClient({ baseUrl: h.url, accessToken, ...(deviceInstallationId !== undefined && { deviceInstallationId }) })

it('lists the own live sessions, newest first, the current one marked, and of nobody else', async () => {
  const other = await h.org('globex')
  await seedUser(h, other)
  await seedUser(h, org)
  const user = await seedUser(h, org)
  const { data, meta } = await user.client.sessions.list()
  expect(data).toEqual([expect.objectContaining({ current: true, deviceInstallationId: null })])
  expect(meta).toBeUndefined()

  const second = await session(user, 'phone')
  const { data: both } = await user.client.sessions.list()
  expect(both.map(({ sessionId, current }) => [sessionId === second.sessionId, current])).toEqual([
    [true, false],
    [false, true],
  ])
  expect(await user.client.sessions.list({ query: { page: 2, limit: 1 } })).toMatchObject({
    data: [{ current: true }],
    meta: { total: 2, page: 2, limit: 1, totalPages: 2 },
  })
})

it('ends an own session from the next request on, in every process, and no session of anybody else', async () => {
  const user = await seedUser(h, org)
  const stranger = await seedUser(h, org)
  const foreigner = await seedUser(h, await h.org('initech'))
  const { sessionId, accessToken } = await session(user)
  const sibling = await h.sibling()
  for (const other of [stranger, foreigner])
    expect(await codeOf(other.client.sessions.end({ params: { id: sessionId } }))).toBe('session_not_found')
  expect(await codeOf(user.client.sessions.end({ params: { id: 'ses_absent' } }))).toBe('session_not_found')
  await clientOf(accessToken).sessions.list()

  expect(await user.client.sessions.end({ params: { id: sessionId } })).toMatchObject({ sessionId })
  expect(await codeOf(clientOf(accessToken).sessions.list())).toBe('unauthorized')
  expect(await codeOf(createClient({ baseUrl: sibling.url, accessToken }).sessions.list())).toBe('unauthorized')
  expect(await codeOf(user.client.sessions.end({ params: { id: sessionId } }))).toBe('session_not_found')
  await sibling.close()
})

it('logs out the current session and no other', async () => {
  const user = await seedUser(h, org)
  const { accessToken } = await session(user)
  await user.client.sessions.logout()
  expect(await codeOf(user.client.sessions.list())).toBe('unauthorized')
  expect((await clientOf(accessToken).sessions.list()).data).toHaveLength(1)
})

it('works from the device it was bound to and from no other', async () => {
  const user = await seedUser(h, org)
  const { accessToken } = await session(user, 'laptop')
  await clientOf(accessToken, 'laptop').sessions.list()
  expect(await refusal(clientOf(accessToken, 'phone').sessions.list())).toMatchObject({
    status: 401,
    code: 'unauthorized',
  })
  expect(await refusal(clientOf(accessToken).sessions.list())).toMatchObject({ status: 401, code: 'unauthorized' })
})

it('ends after half an hour without use, for good, and after twelve hours in any case', async () => {
  const user = await seedUser(h, org)
  const busy = await session(user)
  const idle = await session(user)
  for (let minutes = 0; minutes < 720 - 29; minutes += 29) {
    await clientOf(busy.accessToken).sessions.list()
    h.advance(29 * 60_000)
  }
  for (let i = 0; i < 2; i++) expect(await codeOf(clientOf(idle.accessToken).sessions.list())).toBe('unauthorized')
  expect((await clientOf(busy.accessToken).sessions.list()).data).toHaveLength(1)
  h.advance(29 * 60_000)
  expect(await codeOf(clientOf(busy.accessToken).sessions.list())).toBe('unauthorized')
})

it('keeps no access token', async () => {
  const user = await seedUser(h, org)
  const { accessToken } = await session(user)
  const rows = await inOrg(h.deps, org.orgId, (db) => db.selectFrom('session').selectAll().execute())
  expect(JSON.stringify(rows)).not.toContain(accessToken.slice(4, 20))
})

it('is for people: an agent is refused', async () => {
  const agent = await h.agent(org, ['machine.all'])
  expect(await codeOf(agent.client.sessions.list())).toBe('key_kind_refused')
  expect(await codeOf(agent.client.sessions.logout())).toBe('key_kind_refused')
})
