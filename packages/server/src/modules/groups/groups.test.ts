import type { TenantRole } from '@strongroom/contract'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { codeOf, contentOf, outcomes, refusal, type SeededUser, seedUser } from '../../../test/people.ts'
import { inOrg } from '../../context.ts'

// Catches: roles gained through a group that nobody could give directly (ensureMayGive left out of setMembers), groups seen or
// changed from outside, members who are not there or not in sight, sessions that survive a role lost with a group.

let h: Harness
let org: { orgId: string; tenantId: string }
let second: string
let owner: SeededUser
let runner: SeededUser
let member: SeededUser
let groupId: string
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

beforeEach(async () => {
  org = await h.org(`acme ${h.deps.newId('n')}`)
  owner = await seedUser(h, org, { orgRoles: ['ORG_OWNER'] })
  runner = await seedUser(h, org, { tenantRoles: [{ tenantId: org.tenantId, role: 'TENANT_ADMIN' }] })
  member = await seedUser(h, org)
  second = (await owner.client.tenants.create({ body: { name: 'second' } })).tenantId
  groupId = (await runner.client.groups.create({ body: { tenantId: org.tenantId, name: 'ops' } })).groupId
})

type Members = { type: 'user' | 'agent'; id: string }[]
const setMembers = ({ client }: SeededUser, members: Members, id = groupId) =>
  client.groups.setMembers({ params: { id }, body: { members } })
const setRoles = ({ client }: SeededUser, tenantRoles: { tenantId: string; role: TenantRole }[], id = groupId) =>
  client.groups.setTenantRoles({ params: { id }, body: { tenantRoles } })
const user = ({ userId }: SeededUser): Members[number] => ({ type: 'user', id: userId })
const rolesOf = async ({ client }: SeededUser) => (await client.identity.me()).tenantRoles
const isLoggedIn = async ({ client }: SeededUser): Promise<boolean> =>
  (await outcomes([client.sessions.list()]))[0] === 'ok'

it('lists all groups to owners, to tenant admins those of their tenants, and none of another organisation', async () => {
  await owner.client.groups.create({ body: { tenantId: second, name: 'elsewhere' } })
  const stranger = await seedUser(h, await h.org('globex'), { orgRoles: ['ORG_OWNER'] })
  const names = async ({ client }: SeededUser) => (await client.groups.list()).data.map(({ name }) => name).sort()
  expect(await names(owner)).toEqual(['elsewhere', 'ops'])
  expect(await names(runner)).toEqual(['ops'])
  expect(await names(stranger)).toEqual([])
  expect(await codeOf(member.client.groups.list())).toBe('role_required')
  expect(await owner.client.groups.list({ query: { page: 1, limit: 1 } })).toMatchObject({
    meta: { total: 2, page: 1, limit: 1, totalPages: 2 },
  })
})

it('creates and renames groups with one name each in a tenant', async () => {
  const create = (by: SeededUser, tenantId: string, name: string) =>
    by.client.groups.create({ body: { tenantId, name } })
  expect(await create(owner, second, 'ops')).toMatchObject({
    tenantId: second,
    name: 'ops',
    members: [],
    tenantRoles: [],
  })
  const { groupId: dev } = await create(runner, org.tenantId, 'dev')
  const before = await contentOf(h, org.orgId)
  expect(await codeOf(create(runner, org.tenantId, 'ops'))).toBe('name_taken')
  expect(await codeOf(runner.client.groups.update({ params: { id: dev }, body: { name: 'ops' } }))).toBe('name_taken')
  expect(await codeOf(create(runner, second, 'x'))).toBe('tenant_not_found')
  expect(await codeOf(create(owner, 'ten_absent', 'x'))).toBe('tenant_not_found')
  expect(await contentOf(h, org.orgId)).toBe(before)
  expect(await runner.client.groups.update({ params: { id: dev }, body: { name: 'developers' } })).toMatchObject({
    name: 'developers',
  })
  const ended = await outcomes(
    Array.from({ length: 12 }, (_, i) =>
      i % 2 === 0
        ? create(runner, org.tenantId, 'wanted')
        : runner.client.groups.update({ params: { id: dev }, body: { name: 'wanted' } }),
    ),
  )
  expect(new Set(ended)).toEqual(new Set(['ok', 'name_taken']))
  expect((await runner.client.groups.list()).data.filter(({ name }) => name === 'wanted')).toHaveLength(1)
})

it('gives its roles to its members, people and agents alike, from the next request on', async () => {
  const agent = await h.agent(org, [])
  const role = { tenantId: org.tenantId, role: 'TENANT_BUDGET_MANAGER' as const }
  await setRoles(runner, [role])
  expect(await setMembers(runner, [user(member), { type: 'agent', id: agent.agentId }])).toMatchObject({
    members: expect.arrayContaining([user(member), { type: 'agent', id: agent.agentId }]),
    tenantRoles: [role],
  })
  expect(await rolesOf(member)).toEqual([role])
  expect((await agent.client.identity.me()).tenantRoles).toEqual([role])
  await setMembers(runner, [])
  expect((await agent.client.identity.me()).tenantRoles).toEqual([])
})

it('is no way around the rule that nobody gives what they do not hold', async () => {
  const foreignRole = { tenantId: second, role: 'TENANT_ADMIN' as const }
  await setRoles(owner, [foreignRole])
  const before = await contentOf(h, org.orgId)
  expect(await refusal(setMembers(runner, [user(runner)]))).toMatchObject({
    status: 403,
    code: 'cannot_grant',
    details: { tenantRoles: [foreignRole] },
  })
  expect(await codeOf(setRoles(runner, []))).toBe('cannot_grant')
  expect(await codeOf(runner.client.groups.remove({ params: { id: groupId } }))).toBe('cannot_grant')
  expect(await codeOf(setRoles(runner, [foreignRole, { tenantId: second, role: 'TENANT_MEMBER' }]))).toBe(
    'tenant_not_found',
  )
  expect(await codeOf(setRoles(owner, [{ tenantId: 'ten_absent', role: 'TENANT_MEMBER' }]))).toBe('tenant_not_found')
  expect(await codeOf(setMembers(member, [user(member)]))).toBe('role_required')
  expect(await contentOf(h, org.orgId)).toBe(before)
  const own = { tenantId: org.tenantId, role: 'TENANT_MEMBER' as const }
  expect((await setRoles(runner, [foreignRole, own])).tenantRoles).toHaveLength(2)
})

it('takes only members who are there and in sight', async () => {
  const hidden = await seedUser(h, { orgId: org.orgId, tenantId: second })
  const hiddenAgent = await h.agent({ orgId: org.orgId, tenantId: second }, [])
  const foreign = await seedUser(h, await h.org('initech'))
  const before = await contentOf(h, org.orgId)
  for (const one of [hidden, foreign])
    expect(await codeOf(setMembers(runner, [user(member), user(one)]))).toBe('user_not_found')
  for (const id of [hiddenAgent.agentId, 'agt_absent'])
    expect(await codeOf(setMembers(runner, [{ type: 'agent', id }]))).toBe('agent_not_found')
  expect(await contentOf(h, org.orgId)).toBe(before)
  expect(await setMembers(owner, [user(hidden), { type: 'agent', id: hiddenAgent.agentId }])).toMatchObject({
    members: expect.any(Array),
  })
})

it('ends the sessions of people who lose a role by leaving, by its loss, or with the group, and only then', async () => {
  const roles = [{ tenantId: org.tenantId, role: 'TENANT_BUDGET_MANAGER' as const }]
  const people = [await seedUser(h, org), await seedUser(h, org), await seedUser(h, org)] as const
  await setMembers(runner, people.map(user))
  await setMembers(runner, people.slice(0, 2).map(user))
  expect(await isLoggedIn(people[2])).toBe(true)
  await setRoles(runner, roles)
  await setMembers(runner, [user(people[0])])
  expect(await Promise.all(people.map(isLoggedIn))).toEqual([true, false, true])
  await setRoles(runner, [])
  expect(await isLoggedIn(people[0])).toBe(false)
  await setRoles(runner, roles)
  await setMembers(runner, [user(people[2])])
  expect(await runner.client.groups.remove({ params: { id: groupId } })).toEqual({ groupId })
  expect(await isLoggedIn(people[2])).toBe(false)
  expect(await inOrg(h.deps, org.orgId, (db) => db.selectFrom('group_member').selectAll().execute())).toEqual([])
})

it('answers alike for absent groups, groups of another organisation and groups out of sight', async () => {
  const { groupId: hidden } = await owner.client.groups.create({ body: { tenantId: second, name: 'hidden' } })
  const foreign = await seedUser(h, await h.org('umbrella'), { orgRoles: ['ORG_OWNER'] })
  for (const [caller, id] of [
    [runner, hidden],
    [runner, 'grp_absent'],
    [foreign, groupId],
  ] as const) {
    expect(await codeOf(caller.client.groups.update({ params: { id }, body: { name: 'x' } }))).toBe('group_not_found')
    expect(await codeOf(caller.client.groups.remove({ params: { id } }))).toBe('group_not_found')
    expect(await codeOf(setMembers(caller, [], id))).toBe('group_not_found')
    expect(await codeOf(setRoles(caller, [], id))).toBe('group_not_found')
  }
})
