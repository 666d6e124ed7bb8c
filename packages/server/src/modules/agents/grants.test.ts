import { createClient } from '@strongroom/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { joinGroup, type Place, seedGroup, seedSession, seedTenant } from '../../../test/agent-seed.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { inOrg } from '../../context.ts'

// Nobody can give what they do not hold. Catches: `ensureCanGive` left out of any of create, update, regenerate or replace;
// a group whose roles are not looked at; a group or tenant of somebody else that is accepted.

let h: Harness
let acme: Place
let annex: Place
let globex: Place
let manager: TestAgent
let owner: Awaited<ReturnType<typeof seedSession>>
let plain: string
let admins: string
let managers: string

const ROLE = ['TENANT_AGENT_MANAGER']

beforeAll(async () => {
  h = await startHarness()
  acme = await h.org('acme')
  globex = await h.org('globex')
  annex = await seedTenant(h, acme, 'annex')
  manager = await h.agent(acme, ['machine.agent.all', 'machine.vault.read', 'machine.project.all'], ROLE)
  owner = await seedSession(h, acme, ['ORG_OWNER'])
  plain = await seedGroup(h, acme, 'plain', [])
  admins = await seedGroup(h, acme, 'admins', ['TENANT_ADMIN', 'TENANT_MEMBER'])
  managers = await seedGroup(h, acme, 'managers', ROLE)
})
afterAll(() => h.close())

const here = (role: 'TENANT_ADMIN' | 'TENANT_AGENT_MANAGER' | 'TENANT_BUDGET_MANAGER' | 'TENANT_MEMBER') => ({
  tenantId: acme.tenantId,
  role,
})
let names = 0
const name = () => `granted ${names++}`
const made = async () => (await manager.client.agents.create({ body: { name: name(), permissions: [] } })).agent

const state = () =>
  inOrg(h.deps, acme.orgId, async (db) => ({
    agents: await db.selectFrom('agent').selectAll().orderBy('agent_id').execute(),
    members: await db.selectFrom('group_member').selectAll().orderBy('agent_id').orderBy('group_id').execute(),
    roles: await db
      .selectFrom('tenant_role')
      .selectAll()
      .orderBy('agent_id')
      .orderBy('group_id')
      .orderBy('role')
      .execute(),
    keys: await db.selectFrom('api_key').selectAll().orderBy('key_id').execute(),
  }))

async function refusedWith(call: () => Promise<unknown>, details: object): Promise<void> {
  const before = await state()
  await expect(call()).rejects.toMatchObject({ code: 'cannot_grant', status: 403, details })
  expect(await state()).toEqual(before)
}

describe('permissions', () => {
  it('cannot be given by somebody who does not hold them, and the refusal names them', async () => {
    const wanted = [
      'machine.vault.read',
      'machine.vault.write',
      'machine.billing.read',
      'machine.project.write',
    ] as const
    await refusedWith(() => manager.client.agents.create({ body: { name: name(), permissions: [...wanted] } }), {
      permissions: ['machine.vault.write', 'machine.billing.read'],
    })
    const { agentId } = await made()
    await refusedWith(
      () => manager.client.agents.update({ params: { id: agentId }, body: { permissions: [...wanted] } }),
      {
        permissions: ['machine.vault.write', 'machine.billing.read'],
      },
    )
  })

  it('are not widened: parts of a family do not make the family, and a family does not make everything', async () => {
    for (const permission of ['machine.vault.all', 'machine.all', 'machine.permissions.all'] as const) {
      await refusedWith(() => manager.client.agents.create({ body: { name: name(), permissions: [permission] } }), {
        permissions: [permission],
      })
    }
    await manager.client.agents.create({
      body: { name: name(), permissions: ['machine.agent.read', 'machine.project.all'] },
    })
  })

  it('can all be given by an owner of the organisation', async () => {
    const { agent } = await owner.client.agents.create({
      body: {
        name: name(),
        permissions: ['machine.all'],
        tenantRoles: [here('TENANT_ADMIN')],
        securityGroups: [admins],
      },
    })
    expect(agent).toMatchObject({ permissions: ['machine.all'], securityGroups: [{ groupId: admins, name: 'admins' }] })
  })

  it('that an agent has already may stay, be narrowed or be taken by somebody who does not hold them', async () => {
    const { agent } = await owner.client.agents.create({ body: { name: name(), permissions: ['machine.vault.all'] } })
    const set = async (permissions: ('machine.vault.all' | 'machine.vault.write')[]) =>
      (await manager.client.agents.update({ params: { id: agent.agentId }, body: { permissions } })).agent.permissions
    expect(await set(['machine.vault.all'])).toEqual(['machine.vault.all'])
    expect(await set(['machine.vault.write'])).toEqual(['machine.vault.write'])
    expect(await set([])).toEqual([])
    await refusedWith(
      () =>
        manager.client.agents.update({ params: { id: agent.agentId }, body: { permissions: ['machine.vault.write'] } }),
      { permissions: ['machine.vault.write'] },
    )
  })

  it('cannot be had by taking over the key of an agent that holds more', async () => {
    const strong = await h.agent(acme, ['machine.billing.write'], ['TENANT_MEMBER'])
    await refusedWith(() => manager.client.agents.regenerateApiKey({ params: { id: strong.agentId } }), {
      permissions: ['machine.billing.write'],
      tenantRoles: [here('TENANT_MEMBER')],
    })
    const inherits = await h.agent(acme, [])
    await joinGroup(h, acme, admins, inherits.agentId)
    await refusedWith(() => manager.client.agents.regenerateApiKey({ params: { id: inherits.agentId } }), {
      tenantRoles: [here('TENANT_ADMIN'), here('TENANT_MEMBER')],
    })
    await strong.client.identity.me()
    await owner.client.agents.regenerateApiKey({ params: { id: strong.agentId } })
  })

  it('do not keep an agent from regenerating its own key', async () => {
    const self = await h.agent(acme, ['machine.agent.write'], ROLE)
    const { apiKey } = await self.client.agents.regenerateApiKey({ params: { id: self.agentId } })
    await expect(self.client.identity.me()).rejects.toMatchObject({ code: 'invalid_api_key' })
    await createClient({ baseUrl: h.url, apiKey: apiKey ?? '' }).identity.me()
  })
})

describe('tenant roles', () => {
  it('cannot be given by somebody who does not hold them in that very tenant', async () => {
    const roles = [
      here('TENANT_AGENT_MANAGER'),
      here('TENANT_ADMIN'),
      { tenantId: annex.tenantId, role: 'TENANT_AGENT_MANAGER' as const },
    ]
    const missing = { tenantRoles: roles.slice(1) }
    await refusedWith(
      () => manager.client.agents.create({ body: { name: name(), permissions: [], tenantRoles: roles } }),
      missing,
    )
    const { agentId } = await made()
    await refusedWith(
      () => manager.client.agents.replaceTenantRoles({ params: { id: agentId }, body: { tenantRoles: roles } }),
      missing,
    )
  })

  it('are replaced as a whole, and answered as direct ones', async () => {
    const { agentId } = await made()
    const params = { id: agentId }
    expect(await manager.client.agents.tenantRoles({ params })).toEqual({ direct: [], inherited: [] })
    const roles = [here('TENANT_AGENT_MANAGER')]
    expect(await manager.client.agents.replaceTenantRoles({ params, body: { tenantRoles: roles } })).toEqual({
      direct: roles,
      inherited: [],
    })
    expect(
      await owner.client.agents.replaceTenantRoles({ params, body: { tenantRoles: [here('TENANT_BUDGET_MANAGER')] } }),
    ).toEqual({ direct: [here('TENANT_BUDGET_MANAGER')], inherited: [] })
    expect(await manager.client.agents.replaceTenantRoles({ params, body: { tenantRoles: [] } })).toEqual({
      direct: [],
      inherited: [],
    })
  })

  it('held by the admin of a tenant include every role there, and none elsewhere', async () => {
    const admin = await h.agent(acme, ['machine.agent.all'], ['TENANT_ADMIN'])
    await admin.client.agents.create({
      body: { name: name(), permissions: [], tenantRoles: [here('TENANT_ADMIN'), here('TENANT_BUDGET_MANAGER')] },
    })
    await refusedWith(
      () =>
        admin.client.agents.create({
          body: { name: name(), permissions: [], tenantRoles: [{ tenantId: annex.tenantId, role: 'TENANT_MEMBER' }] },
        }),
      { tenantRoles: [{ tenantId: annex.tenantId, role: 'TENANT_MEMBER' }] },
    )
  })

  it('cannot be given in a tenant that is absent, archived or of another organisation, not even by an owner', async () => {
    const gone = await seedTenant(h, acme, 'gone')
    await inOrg(h.deps, acme.orgId, (db) =>
      db.updateTable('tenant').set({ status: 'archived' }).where('tenant_id', '=', gone.tenantId).execute(),
    )
    const before = await state()
    for (const tenantId of ['ten_none', globex.tenantId, gone.tenantId]) {
      await expect(
        owner.client.agents.create({
          body: { name: name(), permissions: [], tenantRoles: [{ tenantId, role: 'TENANT_MEMBER' }] },
        }),
      ).rejects.toMatchObject({ code: 'tenant_not_found', status: 404 })
    }
    expect(await state()).toEqual(before)
  })
})

describe('security groups', () => {
  it('bring their roles, and the answer says through which group', async () => {
    const { agent } = await manager.client.agents.create({
      body: { name: name(), permissions: ['machine.agent.read'], securityGroups: [managers, plain] },
    })
    expect(agent.securityGroups).toEqual([
      { groupId: managers, name: 'managers' },
      { groupId: plain, name: 'plain' },
    ])
    expect(await manager.client.agents.tenantRoles({ params: { id: agent.agentId } })).toEqual({
      direct: [],
      inherited: [{ ...here('TENANT_AGENT_MANAGER'), groupId: managers, groupName: 'managers' }],
    })
  })

  it('give their members the role at the next request, and take it again', async () => {
    const member = await h.agent(acme, ['machine.agent.read'])
    await expect(member.client.agents.list()).rejects.toMatchObject({ code: 'role_required' })
    await manager.client.agents.update({ params: { id: member.agentId }, body: { securityGroups: [managers] } })
    await member.client.agents.list()
    await manager.client.agents.update({ params: { id: member.agentId }, body: { securityGroups: [] } })
    await expect(member.client.agents.list()).rejects.toMatchObject({ code: 'role_required' })
  })

  it('cannot be given by somebody who does not hold what comes with them', async () => {
    await refusedWith(
      () => manager.client.agents.create({ body: { name: name(), permissions: [], securityGroups: [plain, admins] } }),
      { securityGroups: [admins] },
    )
    const { agentId } = await made()
    await refusedWith(
      () => manager.client.agents.update({ params: { id: agentId }, body: { securityGroups: [admins] } }),
      {
        securityGroups: [admins],
      },
    )
    await owner.client.agents.update({ params: { id: agentId }, body: { securityGroups: [admins] } })
    const kept = await manager.client.agents.update({
      params: { id: agentId },
      body: { securityGroups: [plain, admins] },
    })
    expect(kept.agent.securityGroups).toHaveLength(2)
  })

  it('of another tenant or organisation do not exist, like absent ones', async () => {
    const foreign = await seedGroup(h, globex, 'theirs', [])
    const next = await seedGroup(h, annex, 'next door', [])
    const { agentId } = await made()
    const before = await state()
    for (const groupId of ['grp_none', foreign, next]) {
      await expect(
        owner.client.agents.create({ body: { name: name(), permissions: [], securityGroups: [groupId] } }),
      ).rejects.toMatchObject({ code: 'group_not_found', status: 404, details: undefined })
      await expect(
        manager.client.agents.update({ params: { id: agentId }, body: { securityGroups: [plain, groupId] } }),
      ).rejects.toMatchObject({ code: 'group_not_found', status: 404 })
    }
    expect(await state()).toEqual(before)
  })
})

it('puts nobody back into a group that they are taken out of at the same moment', async () => {
  const { agentId } = await made()
  await joinGroup(h, acme, managers, agentId)
  const wanted = name()
  const { pool } = h.deps.database
  const waiting = async (): Promise<number> => {
    const asked = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await pool.query<{ n: number }>(asked)).rows[0]?.n ?? 0
  }
  // Somebody is about to take the name, so the change waits for them, and has seen the groups by then.
  const taker = await pool.connect()
  try {
    await taker.query('begin')
    await taker.query(`select set_config('app.org', $1, true)`, [acme.orgId])
    await taker.query(
      `insert into agent (org_id, agent_id, tenant_id, name, description, status, permissions, created_by, created_at)
       values ($1, 'agt_taker', $2, $3, '', 'active', '{}', 'user:taker', now())`,
      [acme.orgId, acme.tenantId, wanted],
    )
    const body = { name: wanted, securityGroups: [managers, plain] }
    const changed = manager.client.agents.update({ params: { id: agentId }, body })
    await expect.poll(waiting).toBe(1)
    await inOrg(h.deps, acme.orgId, (db) => db.deleteFrom('group_member').where('agent_id', '=', agentId).execute())
    await taker.query('rollback')
    expect((await changed).agent).toMatchObject({ name: wanted, securityGroups: [{ groupId: plain }] })
  } finally {
    taker.release(true)
  }
})
