import type { ErrorCode, Routes } from '@strongroom/contract'
import { ApiError } from '@strongroom/sdk'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../test/harness.ts'
import { asSuperuser, seedUser } from '../../test/principals.ts'
import { buildApp } from '../app.ts'
import { inOrg, transact } from '../context.ts'
import { found } from '../errors.ts'
import { makeConnections } from '../http/connection.ts'
import { type Handlers, mount } from '../http/mount.ts'
import { makeRateLimiter } from '../http/rate-limit.ts'
import { readAudited } from './record.ts'

// Catches: a write or a secret-bearing read that is answered although its audit row could not be written, or that leaves
// something behind. Seen red: swallowing the failed insert in `record`; reading outside `readAudited`.

let h: Harness
let org: { orgId: string; tenantId: string }
let manager: TestAgent
let sample: { url: string; close(): Promise<void> }
beforeAll(async () => {
  h = await startHarness()
  org = await h.org('audited')
  manager = await h.agent(org, ['machine.all'], ['TENANT_AGENT_MANAGER'])
  await asSuperuser(h, (client) =>
    client.query(`
      create table sample_secret (org_id text not null references org, secret_id text not null, ciphertext text not null, primary key (org_id, secret_id));
      alter table sample_secret enable row level security;
      create policy own_org on sample_secret using (org_id = current_org());
      grant select on sample_secret to strongroom_app;
      insert into sample_secret values ('${org.orgId}', 'one', 'the ciphertext')`),
  )
  sample = await startSample()
})
afterAll(async () => {
  await sample.close()
  await h.close()
})

const sampleRoutes = {
  read: {
    api: 'machine',
    method: 'GET',
    path: '/sample/:id',
    summary: 'A secret',
    access: { kind: 'principal' },
    params: Type.Object({ id: Type.String() }),
    response: Type.Object({ ciphertext: Type.String() }),
    errors: ['vault_item_not_found'],
  },
} as const satisfies Routes

const sampleHandlers: Handlers<typeof sampleRoutes> = {
  read: (ctx, { params }) =>
    transact(ctx, async (ctx) => {
      const [row] = await readAudited(
        ctx,
        { action: 'sample.read', targets: [{ type: 'sample', id: params.id }] },
        (db) =>
          db
            .selectFrom(sql<{ secret_id: string; ciphertext: string }>`sample_secret`.as('s'))
            .select('ciphertext')
            .where('secret_id', '=', params.id),
      )
      return found(row, 'vault_item_not_found')
    }),
}

async function startSample(): Promise<typeof sample> {
  const app = buildApp(h.deps)
  const gate = { deps: h.deps, limiter: makeRateLimiter(), connections: makeConnections(app), mounted: new Map() }
  mount(app, gate, 'sample', sampleRoutes, sampleHandlers)
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() }
}

const readSample = (id: string): Promise<Response> =>
  fetch(`${sample.url}/api/v1/machine/sample/${id}`, { headers: { 'x-api-key': manager.apiKey } })
const auditEvents = (action: string) =>
  inOrg(h.deps, org.orgId, (db) =>
    db.selectFrom('audit_event').selectAll().where('action', '=', action).orderBy('seq').execute(),
  )

/** Runs `work` while nobody can write audit events. */
async function withoutAudit<T>(work: () => Promise<T>): Promise<T> {
  await asSuperuser(h, (client) => client.query('revoke insert on audit_event from strongroom_app'))
  try {
    return await work()
  } finally {
    await asSuperuser(h, (client) => client.query('grant insert on audit_event to strongroom_app'))
  }
}

/** Every table with the number of its rows and a hash of them. */
const snapshot = (): Promise<Record<string, string>> =>
  asSuperuser(h, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select relname as name from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'strongroom' and relkind = 'r' order by 1",
    )
    const entries: [string, string][] = []
    for (const { name } of rows) {
      const { rows: found } = await client.query<{ state: string }>(
        `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as state from ${name} t`,
      )
      entries.push([name, found[0]?.state ?? ''])
    }
    return Object.fromEntries(entries)
  })

const refusal = (
  call: Promise<unknown>,
): Promise<{ code: ErrorCode; status: number; retryAfter: number | undefined }> =>
  call.then(
    () => expect.fail('it was answered'),
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      return { code: error.code, status: error.status, retryAfter: error.retryAfter }
    },
  )

describe('while the audit log cannot be written', () => {
  const UNAVAILABLE = { code: 'audit_unavailable', status: 503, retryAfter: 5 }
  const writes: Readonly<Record<string, (agentId: string) => Promise<unknown>>> = {
    'POST /agent': () => manager.client.agents.create({ body: { name: 'unaudited', permissions: [] } }),
    'PATCH /agent/:id': (id) => manager.client.agents.update({ params: { id }, body: { name: 'renamed' } }),
    'PATCH /agent/:id/archive': (id) => manager.client.agents.archive({ params: { id } }),
    'POST /agent/:id/regenerate-api-key': (id) => manager.client.agents.regenerateApiKey({ params: { id } }),
    'POST /agent/:id/simulate': (id) => manager.client.agents.simulate({ params: { id }, body: { call: 'agents.me' } }),
    'PATCH /agent/:id/tenant-roles': (id) =>
      manager.client.agents.replaceTenantRoles({ params: { id }, body: { tenantRoles: [] } }),
    'POST /feedback': () =>
      manager.client.feedback.send({ body: { category: 'other', summary: 'hello', details: 'there is no export' } }),
  }

  for (const [name, write] of Object.entries(writes)) {
    it(`answers ${name} with 503 audit_unavailable and writes nothing; afterwards it works without a restart`, async () => {
      const { agentId } = await h.agent(org, [])
      const before = await snapshot()
      expect(await withoutAudit(() => refusal(write(agentId)))).toEqual(UNAVAILABLE)
      expect(await snapshot()).toEqual(before)
      await expect(write(agentId)).resolves.toBeDefined()
    })
  }

  it('tells every kind of write the same, with more writers than connections', async () => {
    const before = await snapshot()
    const refused = await withoutAudit(() =>
      Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          refusal(manager.client.agents.create({ body: { name: `n ${i}`, permissions: [] } })),
        ),
      ),
    )
    expect(new Set(refused.map((one) => JSON.stringify(one)))).toEqual(new Set([JSON.stringify(UNAVAILABLE)]))
    expect(await snapshot()).toEqual(before)
  })

  it('still answers what is neither a write nor secret-bearing', async () => {
    expect(await withoutAudit(() => manager.client.identity.me())).toMatchObject({ authMethod: 'api_key' })
  })

  it('lets no byte of a secret leave', async () => {
    const answer = await withoutAudit(() => readSample('one'))
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    const body = await answer.text()
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'audit_unavailable' } })
    expect(body).not.toContain('ciphertext"')
    expect(body).not.toContain('the ciphertext')
  })
})

it('has the row of a secret-bearing read committed when the answer arrives', async () => {
  const before = (await auditEvents('sample.read')).length
  const answer = await readSample('one')
  expect(await answer.json()).toEqual({ ciphertext: 'the ciphertext' })
  const events = await auditEvents('sample.read')
  expect(events).toHaveLength(before + 1)
  expect(events.at(-1)).toMatchObject({
    actor_id: `agent:${manager.agentId}`,
    outcome: 'success',
    targets: [{ type: 'sample', id: 'one' }],
    request_id: answer.headers.get('x-request-id'),
  })
})

it('reads and records in one statement', async () => {
  const statements: string[] = []
  await inOrg(h.deps, org.orgId, async (db) => {
    const ctx = {
      ...h.deps,
      db,
      principal: { type: 'agent', id: 'agent:x', orgId: org.orgId },
      request: { requestId: 'req_x', ip: '', userAgent: '', routeName: 'sample.read' },
    }
    await readAudited(ctx as never, { action: 'sample.read' }, (query) => {
      const select = query.selectFrom('org').select('name')
      statements.push(select.compile().sql)
      return select
    })
  })
  expect(statements).toEqual([
    expect.stringMatching(/^with "audited" as \(insert into "audit_event" .* returning .*\) select "name" from "org"$/),
  ])
})

it('records the refusal, and not the read, when nothing was found', async () => {
  const before = (await auditEvents('sample.read')).length
  expect((await readSample('none')).status).toBe(404)
  const events = (await auditEvents('sample.read')).slice(before)
  expect(events).toMatchObject([{ outcome: 'refused', error_code: 'vault_item_not_found' }])
})

it('records a refusal of every kind with the code that was answered', async () => {
  const weak = await h.agent(org, [])
  await weak.client.agents.list().catch(() => undefined)
  await fetch(`${h.url}/api/v1/machine/agent`, {
    method: 'POST',
    headers: { 'x-api-key': manager.apiKey, 'content-type': 'text/plain' },
    body: 'x',
  })
  await fetch(`${h.url}/api/v1/machine/agent`, {
    method: 'POST',
    headers: { 'x-api-key': manager.apiKey, 'content-type': 'application/json' },
    body: '{',
  })
  await fetch(`${h.url}/api/v1/machine/agent`, {
    method: 'POST',
    headers: { 'x-api-key': manager.apiKey, 'content-type': 'application/json' },
    body: `"${'x'.repeat(70_000)}"`,
  })
  const refused = await inOrg(h.deps, org.orgId, (db) =>
    db
      .selectFrom('audit_event')
      .select(['actor_id', 'action', 'error_code'])
      .where('outcome', '=', 'refused')
      .where('action', 'like', 'agents.%')
      .orderBy('seq', 'desc')
      .limit(4)
      .execute(),
  )
  expect(refused.map(({ action, error_code }) => [action, error_code]).reverse()).toEqual([
    ['agents.list', 'machine_permission_denied'],
    ['agents.create', 'unsupported_media_type'],
    ['agents.create', 'invalid_json'],
    ['agents.create', 'payload_too_large'],
  ])
})

it('has a row for every successful write of a person too', async () => {
  const owner = await seedUser(h, org, { orgRoles: ['ORG_OWNER'] })
  await owner.client.agents.create({ body: { name: 'by a person', permissions: [] } })
  expect(
    (
      await inOrg(h.deps, org.orgId, (db) =>
        db.selectFrom('audit_event').select('action').where('actor_id', '=', `user:${owner.userId}`).execute(),
      )
    ).length,
  ).toBe(1)
})
