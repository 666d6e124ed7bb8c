import type { OrgRole, TenantRole } from '@strongroom/contract'
import { createClient } from '@strongroom/sdk'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { codeOf, contentOf, outcomes, refusal, type SeededUser, seedUser } from '../../../test/people.ts'
import { inOrg } from '../../context.ts'
import { issueKey } from '../api-keys/service.ts'

// Catches: roles given that the giver does not hold (ensureMayGive left out), people of other tenants or organisations seen or
// changed, an admin who removes an owner (ensureOutranks left out), an organisation without owner by two who leave at once
// (lockOwners without a lock), sessions that survive a lost role.

interface Place {
  readonly orgId: string
  readonly tenantId: string
}

let h: Harness
let org: Place
let other: Place
let owner: SeededUser
let admin: SeededUser
let tenantAdmin: SeededUser
let member: SeededUser
beforeAll(async () => {
  h = await startHarness()
  await h.org('globex')
})
afterAll(() => h.close())

beforeEach(async () => {
  org = await h.org(`acme ${h.deps.newId('n')}`)
  other = { orgId: org.orgId, tenantId: await addTenant('second') }
  owner = await seedUser(h, org, { orgRoles: ['ORG_OWNER'], name: 'owner' })
  admin = await seedUser(h, org, { orgRoles: ['ORG_ADMIN'], name: 'admin' })
  tenantAdmin = await seedUser(h, org, {
    tenantRoles: [{ tenantId: org.tenantId, role: 'TENANT_ADMIN' }],
    name: 'tenant admin',
  })
  member = await seedUser(h, org, { tenantRoles: [{ tenantId: org.tenantId, role: 'TENANT_MEMBER' }], name: 'member' })
})

async function addTenant(name: string): Promise<string> {
  const tenantId = h.deps.newId('ten')
  await inOrg(h.deps, org.orgId, (db) =>
    db
      .insertInto('tenant')
      .values({
        org_id: org.orgId,
        tenant_id: tenantId,
        parent_id: null,
        name,
        status: 'active',
        created_at: h.deps.now(),
      })
      .execute(),
  )
  return tenantId
}

const names = async ({ client }: SeededUser): Promise<string[]> =>
  (await client.users.list()).users.map(({ name }) => name).sort()
const setOrg = ({ client }: SeededUser, target: SeededUser, orgRoles: OrgRole[]) =>
  client.users.setOrgRoles({ params: { id: target.userId }, body: { orgRoles } })
const setTenant = ({ client }: SeededUser, target: SeededUser, tenantRoles: { tenantId: string; role: TenantRole }[]) =>
  client.users.setTenantRoles({ params: { id: target.userId }, body: { tenantRoles } })
const isLoggedIn = async ({ client }: SeededUser): Promise<boolean> =>
  (await outcomes([client.sessions.list()]))[0] === 'ok'

it('lists everybody to owners and admins, the people of their tenants to tenant admins, and refuses everybody else', async () => {
  const elsewhere = await seedUser(h, other, { name: 'elsewhere' })
  const guest = await seedUser(h, other, {
    name: 'guest',
    tenantRoles: [
      { tenantId: org.tenantId, role: 'TENANT_MEMBER' },
      { tenantId: other.tenantId, role: 'TENANT_MEMBER' },
    ],
  })
  const all = ['admin', 'elsewhere', 'guest', 'member', 'owner', 'tenant admin']
  expect(await names(owner)).toEqual(all)
  expect(await names(admin)).toEqual(all)
  expect(await names(tenantAdmin)).toEqual(all.filter((name) => name !== 'elsewhere'))
  expect(await refusal(member.client.users.list())).toMatchObject({ status: 403, code: 'role_required' })

  const seen = (await tenantAdmin.client.users.list()).users.find(({ userId }) => userId === guest.userId)
  expect(seen?.tenantRoles).toEqual([{ tenantId: org.tenantId, role: 'TENANT_MEMBER' }])
  expect(await codeOf(tenantAdmin.client.users.get({ params: { id: elsewhere.userId } }))).toBe('user_not_found')
  expect(await owner.client.users.list({ query: { page: 2, limit: 4 } })).toMatchObject({
    users: [{}, {}],
    meta: { total: 6, page: 2, limit: 4, totalPages: 2 },
  })
})

it('shows somebody to those who may see them, and answers alike for absent people and people of another organisation', async () => {
  const foreign = await seedUser(h, await h.org('initech'), { orgRoles: ['ORG_OWNER'] })
  expect(await member.client.users.get({ params: { id: member.userId } })).toMatchObject({
    userId: member.userId,
    status: 'active',
    orgRoles: [],
  })
  expect(await codeOf(member.client.users.get({ params: { id: owner.userId } }))).toBe('user_not_found')
  const [absent, ours] = [
    await refusal(owner.client.users.get({ params: { id: 'usr_absent' } })),
    await refusal(owner.client.users.get({ params: { id: foreign.userId } })),
  ]
  expect(ours).toEqual(absent)
  const before = await contentOf(h, org.orgId)
  const ended = await outcomes([
    foreign.client.users.remove({ params: { id: member.userId } }),
    setOrg(foreign, member, ['ORG_ADMIN']),
    setTenant(foreign, member, []),
    foreign.client.users.update({ params: { id: member.userId }, body: { name: 'x' } }),
  ])
  expect(new Set(ended)).toEqual(new Set(['user_not_found']))
  expect(await contentOf(h, org.orgId)).toBe(before)
})

it('lets people change their own name, and those who run their tenant; nobody else', async () => {
  const change = (by: SeededUser, target: SeededUser, name: string) =>
    by.client.users.update({ params: { id: target.userId }, body: { name } })
  expect(await change(member, member, 'Mia')).toMatchObject({ name: 'Mia' })
  expect(await change(tenantAdmin, member, 'Mina')).toMatchObject({ name: 'Mina' })
  expect(await codeOf(change(member, admin, 'x'))).toBe('user_not_found')
  expect(await refusal(change(tenantAdmin, owner, 'x'))).toMatchObject({
    code: 'role_required',
    details: { orgRoles: ['ORG_OWNER'] },
  })
  const guest = await seedUser(h, other, { tenantRoles: [{ tenantId: org.tenantId, role: 'TENANT_MEMBER' }] })
  expect(await codeOf(change(tenantAdmin, guest, 'x'))).toBe('role_required')
  expect((await owner.client.users.get({ params: { id: member.userId } })).name).toBe('Mina')
})

it('removes somebody: sessions, API keys, roles and groups end, and they are not listed any more', async () => {
  const { apiKey } = await inOrg(h.deps, org.orgId, (db) =>
    issueKey({ ...h.deps, db }, org.orgId, { userId: member.userId, permissions: [] }),
  )
  const byKey = createClient({ baseUrl: h.url, apiKey })
  await byKey.identity.me()
  const group = await owner.client.groups.create({ body: { tenantId: org.tenantId, name: 'ops' } })
  await owner.client.groups.setMembers({
    params: { id: group.groupId },
    body: { members: [{ type: 'user', id: member.userId }] },
  })
  expect(await tenantAdmin.client.users.remove({ params: { id: member.userId } })).toEqual({
    userId: member.userId,
    status: 'removed',
    liveKeys: [],
  })
  expect(await isLoggedIn(member)).toBe(false)
  expect(await codeOf(byKey.identity.me())).toBe('invalid_api_key')
  expect(await names(owner)).not.toContain('member')
  expect((await owner.client.groups.list()).data[0]?.members).toEqual([])
  expect(await codeOf(owner.client.users.remove({ params: { id: member.userId } }))).toBe('user_not_found')
})

it('lets nobody remove somebody who holds more than they do', async () => {
  const before = await contentOf(h, org.orgId)
  expect(await refusal(admin.client.users.remove({ params: { id: owner.userId } }))).toMatchObject({
    code: 'role_required',
    details: { orgRoles: ['ORG_OWNER'] },
  })
  expect(await codeOf(tenantAdmin.client.users.remove({ params: { id: admin.userId } }))).toBe('role_required')
  expect(await codeOf(member.client.users.remove({ params: { id: tenantAdmin.userId } }))).toBe('role_required')
  expect(await contentOf(h, org.orgId)).toBe(before)
})

it('lets nobody give or take organisation roles they do not hold', async () => {
  const before = await contentOf(h, org.orgId)
  expect(await refusal(setOrg(admin, member, ['ORG_OWNER']))).toMatchObject({
    status: 403,
    code: 'cannot_grant',
    details: { orgRoles: ['ORG_OWNER'] },
  })
  expect(await refusal(setOrg(admin, owner, []))).toMatchObject({
    code: 'cannot_grant',
    details: { orgRoles: ['ORG_OWNER'] },
  })
  expect(await codeOf(setOrg(admin, admin, ['ORG_ADMIN', 'ORG_OWNER']))).toBe('cannot_grant')
  for (const caller of [tenantAdmin, member])
    expect(await codeOf(setOrg(caller, caller, ['ORG_BILLING_MANAGER']))).toBe('role_required')
  expect(await contentOf(h, org.orgId)).toBe(before)
  expect(await setOrg(admin, member, ['ORG_BILLING_MANAGER', 'ORG_ADMIN'])).toMatchObject({
    orgRoles: ['ORG_BILLING_MANAGER', 'ORG_ADMIN'],
  })
  expect(await isLoggedIn(member)).toBe(true)
  expect(await setOrg(owner, member, ['ORG_OWNER'])).toMatchObject({ orgRoles: ['ORG_OWNER'] })
  expect(await isLoggedIn(member)).toBe(false)
})

it('lets nobody give or take tenant roles in tenants they do not run, and leaves roles elsewhere as they are', async () => {
  const elsewhere = { tenantId: other.tenantId, role: 'TENANT_AGENT_MANAGER' as const }
  await setTenant(owner, member, [elsewhere, { tenantId: org.tenantId, role: 'TENANT_MEMBER' }])
  // A mere member of the other tenant, who runs this one.
  const mixed = await seedUser(h, org, {
    tenantRoles: [
      { tenantId: org.tenantId, role: 'TENANT_ADMIN' },
      { tenantId: other.tenantId, role: 'TENANT_MEMBER' },
    ],
  })
  expect(await refusal(setTenant(mixed, member, [{ tenantId: other.tenantId, role: 'TENANT_MEMBER' }]))).toMatchObject({
    code: 'cannot_grant',
    details: { tenantRoles: [{ tenantId: other.tenantId, role: 'TENANT_MEMBER' }] },
  })
  expect(await codeOf(setTenant(tenantAdmin, member, [{ tenantId: other.tenantId, role: 'TENANT_MEMBER' }]))).toBe(
    'tenant_not_found',
  )
  expect(await codeOf(setTenant(owner, member, [{ tenantId: 'ten_absent', role: 'TENANT_MEMBER' }]))).toBe(
    'tenant_not_found',
  )
  expect(await codeOf(setTenant(member, member, [{ tenantId: org.tenantId, role: 'TENANT_ADMIN' }]))).toBe(
    'role_required',
  )

  const given = { tenantId: org.tenantId, role: 'TENANT_BUDGET_MANAGER' as const }
  expect(await setTenant(tenantAdmin, member, [given])).toMatchObject({ tenantRoles: [given] })
  const { tenantRoles } = await owner.client.users.get({ params: { id: member.userId } })
  expect(tenantRoles).toHaveLength(2)
  expect(tenantRoles).toEqual(expect.arrayContaining([given, elsewhere]))
})

it('ends the sessions of whoever loses a role, and of nobody who only gains one', async () => {
  const gained = [
    { tenantId: org.tenantId, role: 'TENANT_MEMBER' as const },
    { tenantId: org.tenantId, role: 'TENANT_AGENT_MANAGER' as const },
  ]
  await setTenant(tenantAdmin, member, gained)
  expect(await isLoggedIn(member)).toBe(true)
  await setTenant(tenantAdmin, member, gained.slice(0, 1))
  expect(await isLoggedIn(member)).toBe(false)
  expect(await isLoggedIn(tenantAdmin)).toBe(true)
})

it('keeps the last owner: neither removed nor demoted, by themselves or others', async () => {
  const before = await contentOf(h, org.orgId)
  expect(await refusal(setOrg(owner, owner, ['ORG_ADMIN']))).toMatchObject({ status: 409, code: 'last_owner' })
  expect(await codeOf(owner.client.users.remove({ params: { id: owner.userId } }))).toBe('last_owner')
  expect(await contentOf(h, org.orgId)).toBe(before)
})

it('keeps one owner of thirteen who all leave at the same time', async () => {
  const owners = [owner]
  for (let i = 0; i < 12; i++) owners.push(await seedUser(h, org, { orgRoles: ['ORG_OWNER'] }))
  const ended = await outcomes(
    owners.map((one, i) =>
      i % 2 === 0 ? one.client.users.remove({ params: { id: one.userId } }) : setOrg(one, one, []),
    ),
  )
  expect(ended.sort()).toEqual(['last_owner', ...Array.from({ length: 12 }, () => 'ok')])
  const left = await inOrg(h.deps, org.orgId, (db) =>
    db.selectFrom('org_user').select('org_roles').where('status', '=', 'active').execute(),
  )
  expect(left.filter(({ org_roles }) => org_roles.includes('ORG_OWNER'))).toHaveLength(1)
})

it('records who changed whom, and what was refused', async () => {
  await setTenant(tenantAdmin, member, [])
  await codeOf(setOrg(admin, member, ['ORG_OWNER']))
  const events = await inOrg(h.deps, org.orgId, (db) =>
    db.selectFrom('audit_event').select(['action', 'actor_id', 'outcome', 'error_code']).orderBy('seq').execute(),
  )
  expect(events).toEqual([
    { action: 'user.set-tenant-roles', actor_id: `user:${tenantAdmin.userId}`, outcome: 'success', error_code: null },
    { action: 'users.setOrgRoles', actor_id: `user:${admin.userId}`, outcome: 'refused', error_code: 'cannot_grant' },
  ])
})

it('lets a tenant admin take the last role from somebody who is at home elsewhere, and is out of sight then', async () => {
  const here = { tenantId: org.tenantId, role: 'TENANT_MEMBER' } as const
  const there = { tenantId: other.tenantId, role: 'TENANT_MEMBER' } as const
  const guest = await seedUser(h, other, { name: 'guest', tenantRoles: [here, there] })
  expect(await setTenant(tenantAdmin, guest, [])).toMatchObject({ userId: guest.userId, tenantRoles: [] })
  expect((await owner.client.users.get({ params: { id: guest.userId } })).tenantRoles).toEqual([there])
  expect(await codeOf(setTenant(tenantAdmin, guest, []))).toBe('user_not_found')
})
