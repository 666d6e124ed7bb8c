import { createClient } from '@strongroom/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Place, seedSession, seedTenant } from '../../../test/agent-seed.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { inOrg } from '../../context.ts'

// Catches: a list or a single read without the tenant (and with it rows of a neighbour tenant), an update that does not look
// at the status, an archive that leaves the key alive, an answer that shows the key twice, names that two requests can both
// take. Each was broken on purpose once and seen red here.

let h: Harness
let acme: Place
let globex: Place
let annex: Place
let manager: TestAgent
let foreign: TestAgent
let neighbour: TestAgent

const MANAGER = ['machine.agent.all', 'machine.vault.read']
const ROLE = ['TENANT_AGENT_MANAGER']

beforeAll(async () => {
  h = await startHarness()
  acme = await h.org('acme')
  globex = await h.org('globex')
  annex = await seedTenant(h, acme, 'annex')
  manager = await h.agent(acme, MANAGER, ROLE)
  foreign = await h.agent(globex, MANAGER, ROLE)
  neighbour = await h.agent(annex, MANAGER, ROLE)
})
afterAll(() => h.close())

const withKey = (apiKey: string | null) => createClient({ baseUrl: h.url, apiKey: apiKey ?? '' })
let names = 0
const make = (permissions: 'machine.vault.read'[] = []) =>
  manager.client.agents.create({ body: { name: `made ${names++}`, permissions } })
const auditOf = (place: Place, action: string) =>
  inOrg(h.deps, place.orgId, (db) => db.selectFrom('audit_event').selectAll().where('action', '=', action).execute())

/** Everything about agents that a refusal could have changed. */
const state = () =>
  inOrg(h.deps, acme.orgId, async (db) => ({
    agents: await db.selectFrom('agent').selectAll().orderBy('agent_id').execute(),
    keys: await db.selectFrom('api_key').selectAll().orderBy('key_id').execute(),
    roles: await db.selectFrom('tenant_role').selectAll().orderBy('agent_id').orderBy('role').execute(),
  }))

describe('creating an agent', () => {
  it('answers the agent and its API key, and the key works', async () => {
    const { agent, apiKey } = await manager.client.agents.create({
      body: {
        name: 'deployer',
        description: 'ships',
        permissions: ['machine.vault.read'],
        tenantRoles: [{ tenantId: acme.tenantId, role: 'TENANT_AGENT_MANAGER' }],
      },
    })
    expect(agent).toEqual({
      agentId: expect.stringMatching(/^agt_/),
      domainTenantId: acme.tenantId,
      name: 'deployer',
      description: 'ships',
      status: 'active',
      permissions: ['machine.vault.read'],
      securityGroups: [],
      accessKey: apiKey?.split('.')[0],
      vaultItem: null,
      expiresAt: null,
      networks: [],
      createdBy: `agent:${manager.agentId}`,
      createdAt: expect.any(String),
      archivedAt: null,
    })
    const me = await withKey(apiKey).identity.me()
    expect(me).toMatchObject({
      agent: { agentId: agent.agentId },
      permissions: ['machine.vault.read'],
      tenantRoles: [{ tenantId: acme.tenantId, role: 'TENANT_AGENT_MANAGER' }],
    })
    expect(await withKey(apiKey).agents.me()).toEqual({ agent })
  })

  it('shows the key exactly once: a repeated request has it redacted, and neither reads nor the audit carry it', async () => {
    const body = { name: 'once only', permissions: [] }
    const first = await manager.client.agents.create({ body }, { idempotencyKey: 'same' })
    const again = await manager.client.agents.create({ body }, { idempotencyKey: 'same' })
    expect(again).toEqual({ agent: first.agent, apiKey: null, secretRedacted: true })
    const secret = first.apiKey?.split('.')[1] ?? 'none'
    const seen = JSON.stringify([
      await manager.client.agents.get({ params: { id: first.agent.agentId } }),
      await manager.client.agents.list(),
      await auditOf(acme, 'agent.create'),
    ])
    expect(seen).not.toContain(secret)
    const stored = await inOrg(h.deps, acme.orgId, (db) => db.selectFrom('idempotency').select('body').execute())
    expect(JSON.stringify(stored)).toContain(first.agent.agentId)
    expect(JSON.stringify(stored)).not.toContain(secret)
  })

  it('records who made which agent', async () => {
    const { agent } = await make()
    const [event] = (await auditOf(acme, 'agent.create')).filter(({ targets }) =>
      JSON.stringify(targets).includes(agent.agentId),
    )
    expect(event).toMatchObject({
      actor_id: `agent:${manager.agentId}`,
      outcome: 'success',
      targets: [{ type: 'agent', id: agent.agentId }],
    })
  })

  it('refuses an unknown permission, a member too many and an empty name', async () => {
    const before = await state()
    for (const body of [
      { name: 'x', permissions: ['machine.nothing'] },
      { name: 'x', permissions: [], tenantId: annex.tenantId },
      { name: '', permissions: [] },
      { name: 'x', permissions: ['machine.vault.read', 'machine.vault.read'] },
    ]) {
      await expect(manager.client.agents.create({ body: body as never })).rejects.toMatchObject({
        code: 'validation_failed',
        status: 400,
      })
    }
    expect(await state()).toEqual(before)
  })

  it('gives one of thirty concurrent requests the name and tells the others that it is taken', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, () =>
        manager.client.agents.create({ body: { name: 'wanted by all', permissions: [] } }),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))).toEqual(
      Array(29).fill('name_taken'),
    )
  })

  it('lets two tenants use the same name', async () => {
    await manager.client.agents.create({ body: { name: 'shared name', permissions: [] } })
    await neighbour.client.agents.create({ body: { name: 'shared name', permissions: [] } })
  })
})

describe('who may', () => {
  it('refuses a caller without the permission and one without the role', async () => {
    const noPermission = await h.agent(acme, ['machine.vault.all'], ROLE)
    const noRole = await h.agent(acme, ['machine.agent.all'], ['TENANT_MEMBER'])
    const elsewhere = await h.agent(acme, ['machine.agent.all'])
    await inOrg(h.deps, acme.orgId, (db) =>
      db
        .insertInto('tenant_role')
        .values({
          org_id: acme.orgId,
          tenant_id: annex.tenantId,
          role: 'TENANT_AGENT_MANAGER',
          user_id: null,
          agent_id: elsewhere.agentId,
          group_id: null,
        })
        .execute(),
    )
    const before = await state()
    await expect(noPermission.client.agents.list()).rejects.toMatchObject({
      code: 'machine_permission_denied',
      details: { permission: 'machine.agent.read' },
    })
    await expect(noRole.client.agents.list()).rejects.toMatchObject({
      code: 'role_required',
      details: { role: 'TENANT_AGENT_MANAGER' },
    })
    await expect(elsewhere.client.agents.create({ body: { name: 'no', permissions: [] } })).rejects.toMatchObject({
      code: 'role_required',
    })
    expect(await state()).toEqual(before)
  })

  it('lets a reader read and not write', async () => {
    const reader = await h.agent(acme, ['machine.agent.read'], ROLE)
    await reader.client.agents.get({ params: { id: manager.agentId } })
    await expect(reader.client.agents.archive({ params: { id: manager.agentId } })).rejects.toMatchObject({
      code: 'machine_permission_denied',
    })
  })

  it('lets a person with the role manage agents of their tenant', async () => {
    const person = await seedSession(h, acme, [], ROLE)
    const { agent } = await person.client.agents.create({
      body: { name: 'by a person', permissions: ['machine.vault.read'] },
    })
    expect(agent).toMatchObject({ domainTenantId: acme.tenantId, createdBy: `user:${person.userId}` })
    await expect(person.client.agents.me()).rejects.toMatchObject({ code: 'agent_principal_required' })
  })

  it('answers /agent/me to an agent that holds nothing at all', async () => {
    const nobody = await h.agent(acme, [])
    expect(await nobody.client.agents.me()).toMatchObject({
      agent: { agentId: nobody.agentId, domainTenantId: acme.tenantId },
    })
  })
})

describe('reading agents', () => {
  it('lists the agents of the current tenant and nobody else', async () => {
    const mine = await manager.client.agents.list()
    expect(mine.meta).toBeUndefined()
    expect(new Set(mine.agents.map(({ domainTenantId }) => domainTenantId))).toEqual(new Set([acme.tenantId]))
    const theirs = await foreign.client.agents.list()
    expect(theirs.agents.map(({ agentId }) => agentId)).toEqual([foreign.agentId])
    const next = await neighbour.client.agents.list()
    expect(next.agents.map(({ domainTenantId }) => domainTenantId)).toEqual(next.agents.map(() => annex.tenantId))
  })

  it('shows archived agents as archived, and filters by status', async () => {
    const { agent } = await make()
    await manager.client.agents.archive({ params: { id: agent.agentId } })
    const find = async (status?: 'active' | 'archived') =>
      (await manager.client.agents.list({ query: status ? { status } : {} })).agents.find(
        ({ agentId }) => agentId === agent.agentId,
      )?.status
    expect([await find(), await find('active'), await find('archived')]).toEqual(['archived', undefined, 'archived'])
  })

  it('answers alike for an absent agent, one of another organisation and one of another tenant, on every route', async () => {
    const patch = (path: string, body: unknown) => ({ method: 'PATCH', path, body })
    const calls = [
      { method: 'GET', path: '' },
      patch('', { name: 'taken over' }),
      patch('/archive', undefined),
      { method: 'POST', path: '/regenerate-api-key' },
      patch('/vault-item', { vaultId: null, itemId: null }),
      { method: 'GET', path: '/tenant-roles' },
      patch('/tenant-roles', { tenantRoles: [] }),
    ] as { method: string; path: string; body?: unknown }[]
    const before = await state()
    for (const { method, path, body } of calls) {
      const answers = await Promise.all(
        ['agt_0000000000000000000000', foreign.agentId, neighbour.agentId].map(async (id) => {
          const response = await fetch(`${h.url}/api/v1/machine/agent/${id}${path}`, {
            method,
            headers: { 'x-api-key': manager.apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          })
          return { status: response.status, body: (await response.text()).replace(/req_[0-9a-z]+/, 'req') }
        }),
      )
      expect(answers[0]).toMatchObject({ status: 404, body: expect.stringContaining('agent_not_found') })
      expect(answers).toEqual([answers[0], answers[0], answers[0]])
    }
    expect(await state()).toEqual(before)
    await foreign.client.identity.me()
    await neighbour.client.identity.me()
  })
})

describe('changing an agent', () => {
  it('changes what is named and leaves the rest', async () => {
    const { agent } = await make(['machine.vault.read'])
    const changed = await manager.client.agents.update({
      params: { id: agent.agentId },
      body: { description: 'new words' },
    })
    expect(changed.agent).toEqual({ ...agent, description: 'new words' })
    const renamed = await manager.client.agents.update({
      params: { id: agent.agentId },
      body: { name: 'renamed', permissions: [] },
    })
    expect(renamed.agent).toEqual({ ...agent, name: 'renamed', permissions: [], description: 'new words' })
    expect(await auditOf(acme, 'agent.update')).toHaveLength(2)
  })

  it('refuses an empty change and members that are not for change', async () => {
    const { agent } = await make()
    const before = await state()
    for (const body of [{}, { status: 'archived' }, { agentId: 'other' }, { domainTenantId: annex.tenantId }]) {
      await expect(
        manager.client.agents.update({ params: { id: agent.agentId }, body: body as never }),
      ).rejects.toMatchObject({ code: 'validation_failed' })
    }
    expect(await state()).toEqual(before)
  })

  it('refuses a name that an active agent has, also when many take it at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => make()))
    const results = await Promise.allSettled(
      made.map(({ agent }) =>
        manager.client.agents.update({ params: { id: agent.agentId }, body: { name: 'the one name' } }),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(new Set(results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : [])))).toEqual(
      new Set(['name_taken']),
    )
    const { agents } = await manager.client.agents.list()
    expect(agents.filter(({ name }) => name === 'the one name')).toHaveLength(1)
  })
})

describe('archiving', () => {
  it('kills the key at once, is the same when repeated, and gives the name free', async () => {
    const { agent, apiKey } = await make()
    const first = await manager.client.agents.archive({ params: { id: agent.agentId } })
    expect(first.agent).toMatchObject({ status: 'archived', accessKey: null, archivedAt: expect.any(String) })
    await expect(withKey(apiKey).identity.me()).rejects.toMatchObject({ code: 'invalid_api_key', status: 401 })
    expect(await manager.client.agents.archive({ params: { id: agent.agentId } })).toEqual(first)
    expect(
      (await auditOf(acme, 'agent.archive')).filter(({ targets }) => JSON.stringify(targets).includes(agent.agentId)),
    ).toHaveLength(1)
    expect(await manager.client.agents.get({ params: { id: agent.agentId } })).toEqual(first)
    await manager.client.agents.create({ body: { name: agent.name, permissions: [] } })
  })

  it('refuses every later change', async () => {
    const { agent } = await make()
    const params = { id: agent.agentId }
    await manager.client.agents.archive({ params })
    const before = await state()
    const changes = [
      () => manager.client.agents.update({ params, body: { name: 'risen' } }),
      () => manager.client.agents.regenerateApiKey({ params }),
      () => manager.client.agents.linkVaultItem({ params, body: { vaultId: null, itemId: null } }),
      () => manager.client.agents.replaceTenantRoles({ params, body: { tenantRoles: [] } }),
    ]
    for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 'agent_archived', status: 409 })
    expect(await state()).toEqual(before)
  })
})

describe('regenerating the API key', () => {
  it('answers a new key once, and the old one is dead', async () => {
    const { agent, apiKey } = await make()
    const params = { id: agent.agentId }
    const renewed = await manager.client.agents.regenerateApiKey({ params }, { idempotencyKey: 'renew' })
    await expect(withKey(apiKey).identity.me()).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(await withKey(renewed.apiKey).agents.me()).toEqual({ agent: renewed.agent })
    const again = { agent: renewed.agent, apiKey: null, secretRedacted: true }
    expect(await manager.client.agents.regenerateApiKey({ params }, { idempotencyKey: 'renew' })).toEqual(again)
    // Other programs send an empty object where there is nothing to send: that is the same request.
    const headers = { 'x-api-key': manager.apiKey, 'content-type': 'application/json', 'idempotency-key': 'renew' }
    const url = `${h.url}/api/v1/machine/agent/${params.id}/regenerate-api-key`
    const answer = await fetch(url, { method: 'POST', headers, body: '{}' })
    expect(await answer.json()).toEqual(again)
  })

  it('leaves exactly one working key after thirty concurrent requests', async () => {
    const { agent } = await make()
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, () => manager.client.agents.regenerateApiKey({ params: { id: agent.agentId } })),
    )
    const keys = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.apiKey] : []))
    expect(keys.length).toBeGreaterThan(0)
    expect(new Set(results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : [])))).toEqual(
      new Set(),
    )
    const alive = await Promise.all(
      keys.map((key) =>
        withKey(key)
          .identity.me()
          .then(
            () => 1,
            () => 0,
          ),
      ),
    )
    expect(alive.reduce<number>((sum, one) => sum + one, 0)).toBe(1)
  })
})

describe('linking a vault item', () => {
  it('answers 404 for every item, since there are none, and changes nothing', async () => {
    const { agent } = await make()
    const before = await state()
    await expect(
      manager.client.agents.linkVaultItem({
        params: { id: agent.agentId },
        body: { vaultId: 'vlt_1', itemId: 'itm_1' },
      }),
    ).rejects.toMatchObject({ code: 'vault_item_not_found', status: 404 })
    expect(await state()).toEqual(before)
  })

  it('takes both ids or neither', async () => {
    const { agent } = await make()
    await expect(
      manager.client.agents.linkVaultItem({
        params: { id: agent.agentId },
        body: { vaultId: 'vlt_1', itemId: null } as never,
      }),
    ).rejects.toMatchObject({ code: 'validation_failed' })
  })

  it('forgets the link', async () => {
    const { agent } = await make()
    await inOrg(h.deps, acme.orgId, (db) =>
      db
        .updateTable('agent')
        .set({ vault_id: 'vlt_1', vault_item_id: 'itm_1' })
        .where('agent_id', '=', agent.agentId)
        .execute(),
    )
    expect((await manager.client.agents.get({ params: { id: agent.agentId } })).agent.vaultItem).toEqual({
      vaultId: 'vlt_1',
      itemId: 'itm_1',
    })
    expect(
      (
        await manager.client.agents.linkVaultItem({
          params: { id: agent.agentId },
          body: { vaultId: null, itemId: null },
        })
      ).agent,
    ).toEqual(agent)
  })
})
