import { createHash } from 'node:crypto'
import { canonicalText } from '@strongroom/protocol'
import { createClient } from '@strongroom/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { asSuperuser, seedOperator, seedUser } from '../../../test/principals.ts'
import { activityAfter, recordActivity } from '../../audit/activity.ts'
import { sealAudit } from '../../audit/seal.ts'
import { type Ctx, inOrg, transact } from '../../context.ts'

// Catches: audit events of another tenant or organisation, hashes that a reader cannot recompute, a feed that skips an event,
// operator's figures for others, a feed that is cut short where all of it was asked for. Seen red: the scope of a tenant administrator
// widened to the organisation; activity numbers drawn without the lock; a hundred changes for all of them; the newest first.

let h: Harness
type Org = { orgId: string; tenantId: string }
let acme: Org
let globex: Org
beforeAll(async () => {
  h = await startHarness()
  acme = await h.org('acme')
  globex = await h.org('globex')
})
afterAll(() => h.close())

const watcher = (org: Org): Promise<TestAgent> => h.agent(org, ['machine.monitoring.read'])

describe('audit events', () => {
  it('show an agent its own acts, people what they administer, and nobody another organisation', async () => {
    const org = await h.org('audited')
    const second = { orgId: org.orgId, tenantId: h.deps.newId('ten') }
    await inOrg(h.deps, org.orgId, (db) =>
      db
        .insertInto('tenant')
        .values({
          org_id: org.orgId,
          tenant_id: second.tenantId,
          parent_id: null,
          name: 'second',
          status: 'active',
          created_at: h.deps.now(),
        })
        .execute(),
    )
    const one = await h.agent(org, ['machine.all'], ['TENANT_ADMIN'])
    const two = await h.agent(second, ['machine.all'], ['TENANT_AGENT_MANAGER'])
    const owner = await seedUser(h, org, { orgRoles: ['ORG_ADMIN'] })
    const head = await seedUser(h, second, { tenantRoles: ['TENANT_ADMIN'] })
    const member = await seedUser(h, second)
    const operator = await seedOperator(h, org)
    const foreign = await seedUser(h, await h.org('foreign'), { orgRoles: ['ORG_OWNER'] })
    await one.client.agents.create({ body: { name: 'by one', permissions: [] } })
    await two.client.agents.create({ body: { name: 'by two', permissions: [] } })
    await head.client.agents.create({ body: { name: 'by head', permissions: [] } })
    await member.client.agents.list().catch(() => undefined)
    await foreign.client.agents.create({ body: { name: 'by foreign', permissions: [] } })

    const actorsOf = async (client: TestAgent['client']): Promise<string[]> =>
      [...new Set((await client.monitoring.auditEvents()).data.map(({ actor }) => actor.id))].sort()
    const names = {
      one: `agent:${one.agentId}`,
      two: `agent:${two.agentId}`,
      head: `user:${head.userId}`,
      member: `user:${member.userId}`,
    }
    expect(await actorsOf(one.client)).toEqual([names.one])
    expect(await actorsOf(two.client)).toEqual([names.two])
    expect(await actorsOf(member.client)).toEqual([names.member])
    expect(await actorsOf(head.client)).toEqual([names.two, names.head, names.member].sort())
    expect(await actorsOf(owner.client)).toEqual(Object.values(names).sort())
    expect(await actorsOf(operator.client)).toEqual(Object.values(names).sort())
    expect(await actorsOf(foreign.client)).toEqual([`user:${foreign.userId}`])
    expect((await head.client.monitoring.auditEvents({ query: { page: 1, limit: 1 } })).meta).toEqual({
      total: 3,
      page: 1,
      limit: 1,
      totalPages: 3,
    })
  })

  it('carry their place in the chain once they are sealed, and everybody can recompute it', async () => {
    const org = await h.org('chained')
    const owner = await seedUser(h, org, { orgRoles: ['ORG_OWNER'] })
    for (const name of ['a', 'b', 'ä "quoted" \\ name'])
      await owner.client.agents.create({ body: { name, permissions: [] } })
    const fresh = await owner.client.monitoring.auditEvents()
    expect(fresh.data.map(({ position, prevHash, hash }) => [position, prevHash, hash])).toEqual(
      Array.from({ length: 3 }, () => [null, null, null]),
    )
    await sealAudit(h.deps, h.worker)
    const { data } = await owner.client.monitoring.auditEvents()
    let previous = createHash('sha256').update(`strongroom audit chain 1\n${org.orgId}`).digest()
    for (const { position: _, prevHash, hash, ...event } of [...data].sort(
      (a, b) => Number(a.position) - Number(b.position),
    )) {
      expect(prevHash).toBe(previous.toString('hex'))
      previous = createHash('sha256')
        .update(previous)
        .update(canonicalText({ ...event, orgId: org.orgId }))
        .digest()
      expect(hash).toBe(previous.toString('hex'))
    }
    expect(data[0]).toMatchObject({
      version: 1,
      actor: { type: 'user', id: `user:${owner.userId}` },
      context: { requestId: expect.stringMatching(/^req_/), ip: '127.0.0.1', userAgent: 'node' },
      outcome: 'success',
      errorCode: null,
    })
  })
})

describe('vault activity events', () => {
  const contextOf = ({ orgId }: Org): Ctx => ({
    ...h.deps,
    connection: () => {
      throw new Error('nobody is connected')
    },
    mounted: () => undefined,
    principal: {
      type: 'agent',
      id: 'agent:x',
      name: '',
      orgId,
      tenantId: null,
      agentId: null,
      userId: null,
      authMethod: 'api_key',
      keyId: null,
      sessionId: null,
      accessKey: null,
      permissions: [],
      orgRoles: [],
      tenantRoles: [],
      globalAdmin: false,
    },
    request: { requestId: 'req_x', ip: '', userAgent: '', routeName: 'vaults.update' },
    idempotent: undefined,
  })

  it('are empty for everybody while no vault can be seen', async () => {
    await transact(contextOf(acme), (ctx) => recordActivity(ctx, { vaultId: 'vlt_hidden', action: 'vault.create' }))
    const owner = await seedUser(h, acme, { orgRoles: ['ORG_OWNER'] })
    for (const { client } of [await watcher(acme), await watcher(globex), owner]) {
      expect(await client.monitoring.vaultActivityEvents()).toEqual({ data: [] })
      expect(await client.monitoring.vaultActivityEvents({ query: { after: 0, limit: 10 } })).toEqual({ data: [] })
    }
    for (const place of [{ after: 0 }, { page: 1 }])
      await expect(
        (await watcher(acme)).client.monitoring.vaultActivityEvents({ query: { ...place, limit: 101 } }),
      ).rejects.toMatchObject({ status: 400 })
  })

  it('are all there without a page, some with one, and read on from a place, always in their order', async () => {
    const org = await h.org('paged')
    const { client, agentId } = await watcher(org)
    const [orgId, at, vaultId] = [org.orgId, h.deps.now(), `v${'a'.repeat(32)}`]
    await inOrg(h.deps, orgId, async (db) => {
      const vault = { org_id: orgId, vault_id: vaultId }
      const head = { head_version: 1, head_hash: 'h', head_index: 0, admins_chain: [], rotation_due: null }
      const named = { tenant_id: org.tenantId, name: 'a', classification: 'internal', status: 'active' }
      const made = { created_by: 'user:x', created_at: at, updated_at: at }
      await db
        .insertInto('vault')
        .values({ ...vault, ...head, ...named, ...made })
        .execute()
      await db
        .insertInto('vault_access')
        .values({ ...vault, principal: `agent:${agentId}`, role: 'read', since_index: 0 })
        .execute()
    })
    await transact(contextOf(org), async (ctx) => {
      for (let i = 0; i < 130; i++)
        await recordActivity(ctx, { vaultId: i === 7 ? 'vlt_hidden' : vaultId, action: 'item.update', subject: `${i}` })
    })
    const read = async (query?: { after?: number; page?: number; limit?: number }) => {
      const { data, meta } = await client.monitoring.vaultActivityEvents(query && { query })
      return { seqs: data.map(({ seq }) => seq), meta }
    }
    const { seqs: all, meta } = await read()
    expect([all.length, meta]).toEqual([129, undefined])
    expect(all).toEqual([...all].sort((a, b) => a - b))
    expect(await read({ limit: 3 })).toEqual({ seqs: all })
    expect(await read({ page: 2 })).toEqual({
      ...{ seqs: all.slice(25, 50), meta: { total: 129, page: 2, limit: 25, totalPages: 6 } },
    })
    expect((await read({ page: 2, limit: 100 })).seqs).toEqual(all.slice(100))
    expect(await read({ after: all[9] ?? 0 })).toEqual({ seqs: all.slice(10, 110) })
    expect(await read({ after: all[9] ?? 0, limit: 3 })).toEqual({ seqs: all.slice(10, 13) })
    expect(await read({ after: all[9] ?? 0, page: 1, limit: 2 })).toMatchObject({
      ...{ seqs: all.slice(10, 12), meta: { total: 119 } },
    })
  })

  it('skip nothing for whoever polls behind the last number while 30 writers commit in any order', async () => {
    const org = await h.org('active')
    let writing = true
    const seen: number[] = []
    const poll = async (): Promise<void> => {
      const rows = await inOrg(h.deps, org.orgId, (db) =>
        activityAfter(db, org.orgId, ['vlt_a'], seen.at(-1) ?? 0, 100),
      )
      seen.push(...rows.map(({ seq }) => seq))
    }
    const polling = (async () => {
      while (writing) await poll()
    })()
    await Promise.all(
      Array.from({ length: 30 }, async (_, w) => {
        for (let n = 0; n < 5; n++) {
          await transact(contextOf(org), async (ctx) => {
            await recordActivity(ctx, { vaultId: 'vlt_a', action: 'item.update', subject: `itm_${w}_${n}` })
            // Some commits come later than those that drew larger numbers.
            if ((w + n) % 3 === 0) await ctx.db.selectFrom('tenant').selectAll().execute()
          })
        }
      }),
    )
    writing = false
    await polling
    await poll()
    await poll()
    expect(new Set(seen).size).toBe(150)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
  })
})

describe('system and session stats', () => {
  it('are refused to everybody but keys made by the operator', async () => {
    const owner = await seedUser(h, acme, { orgRoles: ['ORG_OWNER'] })
    const agent = await h.agent(acme, ['machine.all'], ['TENANT_ADMIN'])
    for (const { client } of [owner, agent]) {
      await expect(client.monitoring.systemStats()).rejects.toMatchObject({
        status: 403,
        code: 'global_admin_required',
      })
      await expect(client.monitoring.sessionStats()).rejects.toMatchObject({
        status: 403,
        code: 'global_admin_required',
      })
    }
  })

  it('tell how the process and its host are', async () => {
    const { client } = await seedOperator(h, acme)
    const stats = await client.monitoring.systemStats()
    expect(stats).toMatchObject({
      pool: { max: 10, waiting: 0 },
      telemetry: { waiting: expect.any(Number), dropped: expect.any(Number) },
      audit: { unsealed: expect.any(Number), oldestUnsealedMs: expect.any(Number) },
    })
    expect(stats.process.rssBytes).toBeGreaterThan(stats.process.heapUsedBytes)
    expect(stats.host.cpus).toBeGreaterThan(0)
  })

  it('count running sessions of every organisation by age, and nothing that ended', async () => {
    const { client } = await seedOperator(h, acme)
    const before = await client.monitoring.sessionStats()
    const [mine, theirs] = [await seedUser(h, acme), await seedUser(h, globex)]
    const gone = await seedUser(h, globex)
    await asSuperuser(h, async (superuser) => {
      await superuser.query("update session set created_at = now() - interval '2 hours' where user_id = $1", [
        theirs.userId,
      ])
      await superuser.query('update session set revoked_at = now() where user_id = $1', [gone.userId])
    })
    const after = await client.monitoring.sessionStats()
    expect(after).toEqual({
      active: before.active + 2,
      users: before.users + 2,
      byAge: {
        ...before.byAge,
        under5Minutes: before.byAge.under5Minutes + 1,
        under4Hours: before.byAge.under4Hours + 1,
      },
      revokedLastDay: before.revokedLastDay + 1,
    })
    expect(Object.values(after.byAge).reduce((a, b) => a + b, 0)).toBe(after.active)
    // The operator's look at all organisations leaves nothing open behind it.
    const stranger = createClient({ baseUrl: h.url, accessToken: mine.accessToken })
    expect((await stranger.identity.me()).org.orgId).toBe(acme.orgId)
  })
})
