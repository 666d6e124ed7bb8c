import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { codeOf, contentOf, outcomes, refusal, type SeededUser, seedUser } from '../../../test/people.ts'

// Catches: a circle of tenants, also by two moves at once (lockTree left out), tenants seen or changed from outside, one that is
// archived with somebody in it, two of one name beside each other.

let h: Harness
let org: { orgId: string; tenantId: string }
let owner: SeededUser
let runner: SeededUser
let member: SeededUser
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

beforeEach(async () => {
  org = await h.org(`acme ${h.deps.newId('n')}`)
  owner = await seedUser(h, org, { orgRoles: ['ORG_OWNER'] })
  runner = await seedUser(h, org, { tenantRoles: [{ tenantId: org.tenantId, role: 'TENANT_ADMIN' }] })
  member = await seedUser(h, org)
})

const create = ({ client }: SeededUser, name: string, parentId?: string) =>
  client.tenants.create({ body: { name, ...(parentId !== undefined && { parentId }) } })
const update = (
  { client }: SeededUser,
  id: string,
  body: { name?: string; parentId?: string | null; status?: 'archived' },
) => client.tenants.update({ params: { id }, body })
const ids = async ({ client }: SeededUser): Promise<string[]> =>
  (await client.tenants.list()).data.map(({ tenantId }) => tenantId).sort()

it('lists all tenants to owners, to others those they belong to, and none of another organisation', async () => {
  const stranger = await seedUser(h, await h.org('globex'), { orgRoles: ['ORG_OWNER'] })
  const { tenantId } = await create(owner, 'research')
  expect(await ids(owner)).toEqual([org.tenantId, tenantId].sort())
  expect(await ids(runner)).toEqual([org.tenantId])
  expect(await ids(member)).toEqual([org.tenantId])
  expect(await ids(stranger)).not.toContain(tenantId)
  expect(await owner.client.tenants.list({ query: { page: 1, limit: 1 } })).toMatchObject({
    data: [{ tenantId, name: 'research', parentId: null, status: 'active' }],
    meta: { total: 2, totalPages: 2 },
  })
})

it('creates tenants: anywhere for owners, below their own for tenant admins, who run what they made', async () => {
  const below = await create(runner, 'below', org.tenantId)
  expect(below).toMatchObject({ parentId: org.tenantId, status: 'active' })
  expect(await update(runner, below.tenantId, { name: 'renamed' })).toMatchObject({ name: 'renamed' })
  const { tenantId: apart } = await create(owner, 'apart')
  const before = await contentOf(h, org.orgId)
  expect(await codeOf(create(runner, 'top'))).toBe('role_required')
  expect(await codeOf(create(runner, 'x', apart))).toBe('tenant_not_found')
  expect(await codeOf(create(member, 'x', org.tenantId))).toBe('role_required')
  expect(await codeOf(create(owner, 'x', 'ten_absent'))).toBe('tenant_not_found')
  expect(await contentOf(h, org.orgId)).toBe(before)
})

it('refuses a name that a tenant beside it has, at creation, renaming and moving, and one of twelve at once gets it', async () => {
  const { tenantId: parent } = await create(owner, 'parent')
  const { tenantId: one } = await create(owner, 'one', parent)
  await create(owner, 'one')
  const { tenantId: two } = await create(owner, 'two', parent)
  expect(await codeOf(create(owner, 'one', parent))).toBe('name_taken')
  expect(await codeOf(update(owner, two, { name: 'one' }))).toBe('name_taken')
  expect(await codeOf(update(owner, one, { parentId: null }))).toBe('name_taken')
  const ended = await outcomes(Array.from({ length: 12 }, () => create(owner, 'wanted')))
  expect(ended.sort()).toEqual([...Array.from({ length: 11 }, () => 'name_taken'), 'ok'])
})

it('moves a tenant, and never below itself, also when two move at once', async () => {
  const { tenantId: a } = await create(owner, 'a')
  const { tenantId: b } = await create(owner, 'b', a)
  const { tenantId: c } = await create(owner, 'c', b)
  for (const parentId of [a, b, c])
    expect(await refusal(update(owner, a, { parentId }))).toMatchObject({ status: 409, code: 'tenant_cycle' })
  expect(await update(owner, b, { parentId: null })).toMatchObject({ parentId: null })
  for (let round = 0; round < 5; round++) {
    const ended = await outcomes([update(owner, a, { parentId: b }), update(owner, b, { parentId: a })])
    expect(ended.sort()).toEqual(['ok', 'tenant_cycle'])
    await update(owner, a, { parentId: null })
    await update(owner, b, { parentId: null })
  }
  expect(await codeOf(update(runner, org.tenantId, { parentId: a }))).toBe('tenant_not_found')
  const { tenantId: below } = await create(runner, 'below', org.tenantId)
  expect(await codeOf(update(runner, below, { parentId: null }))).toBe('role_required')
})

it('archives an empty tenant only, and then changes it no more', async () => {
  const { tenantId } = await create(owner, 'leaving')
  const { tenantId: child } = await create(owner, 'child', tenantId)
  const group = await owner.client.groups.create({ body: { tenantId, name: 'ops' } })
  await seedUser(h, { orgId: org.orgId, tenantId })
  await h.agent({ orgId: org.orgId, tenantId }, [])
  const before = await contentOf(h, org.orgId)
  expect(await refusal(update(owner, tenantId, { status: 'archived' }))).toMatchObject({
    status: 409,
    code: 'tenant_not_empty',
    details: { tenants: 1, users: 1, agents: 1, groups: 1 },
  })
  expect(await contentOf(h, org.orgId)).toBe(before)
  expect(await codeOf(update(owner, org.tenantId, { status: 'archived' }))).toBe('tenant_not_empty')

  expect(await update(owner, child, { status: 'archived' })).toMatchObject({ status: 'archived' })
  expect(await codeOf(update(owner, child, { name: 'back' }))).toBe('tenant_archived')
  expect(await codeOf(create(owner, 'x', child))).toBe('tenant_not_found')
  await create(owner, 'child', tenantId)
  await owner.client.groups.remove({ params: { id: group.groupId } })
})

it('answers alike for absent tenants, tenants of another organisation and tenants out of sight', async () => {
  const foreign = await h.org('initech')
  const { tenantId: apart } = await create(owner, 'apart')
  const absent = await refusal(update(runner, 'ten_absent', { name: 'x' }))
  expect(absent).toMatchObject({ status: 404, code: 'tenant_not_found' })
  expect(await refusal(update(runner, foreign.tenantId, { name: 'x' }))).toEqual(absent)
  expect(await refusal(update(runner, apart, { name: 'x' }))).toEqual(absent)
  expect(await refusal(update(owner, foreign.tenantId, { name: 'x' }))).toEqual(absent)
  const plain = await seedUser(h, org, {
    tenantRoles: [
      { tenantId: apart, role: 'TENANT_ADMIN' },
      { tenantId: org.tenantId, role: 'TENANT_MEMBER' },
    ],
  })
  expect(await codeOf(update(plain, org.tenantId, { name: 'x' }))).toBe('role_required')
  expect(await codeOf(update(owner, apart, {}))).toBe('validation_failed')
})
