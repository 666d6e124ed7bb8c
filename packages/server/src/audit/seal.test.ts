import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'
import { asAnother } from '../../test/one-connection.ts'
import { asSuperuser } from '../../test/principals.ts'
import { type Ctx, inOrg, transact } from '../context.ts'
import { startOfChain } from './chain.ts'
import { auditRow, record } from './record.ts'
import { sealAudit, startSealer } from './seal.ts'
import { verifyAuditChain } from './verify.ts'

// Catches: an event that is sealed twice or never when its commit comes late, two sealers that append at once, a chain shared
// by two organisations, a sealer that waits for another, several organisations that are not sealed together. Seen red: taking the head
// without its lock; sealing "behind the last sealed seq" instead of what is queued; together, a hash too few or a position too far;
// a failure in one organisation that ends the turn, with /metrics as before it; of a statement that records several, one that is queued.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

const contextOf = (orgId: string): Ctx => ({
  ...h.deps,
  connection: () => {
    throw new Error('nobody is connected')
  },
  mounted: () => undefined,
  principal: {
    type: 'agent',
    id: 'agent:agt_test',
    name: 'test',
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
  request: { requestId: h.deps.newId('req'), ip: '127.0.0.1', userAgent: 'node', routeName: 'test.act' },
  idempotent: undefined,
})

const act = (orgId: string, n: number, before: () => Promise<void> = async () => undefined): Promise<void> =>
  transact(contextOf(orgId), async (ctx) => {
    await record(ctx, { action: 'test.act', metadata: { n } })
    await before()
  })

const sealedOf = (orgId: string): Promise<{ position: number; n: number; seq: number }[]> =>
  inOrg(h.deps, orgId, async (db) => {
    const rows = await db
      .selectFrom('audit_seal')
      .innerJoin('audit_event', (join) =>
        join
          .onRef('audit_event.org_id', '=', 'audit_seal.org_id')
          .onRef('audit_event.event_id', '=', 'audit_seal.event_id'),
      )
      .select(['position', 'metadata', 'seq'])
      .where('audit_seal.org_id', '=', orgId)
      .orderBy('position')
      .execute()
    return rows.map(({ position, metadata, seq }) => ({ position, n: Number((metadata as { n?: number }).n), seq }))
  })

function gate(): { opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

it('puts an event that commits late behind events with larger numbers, and seals it once', async () => {
  const { orgId } = await h.org('late')
  const recorded = gate()
  const mayCommit = gate()
  const late = act(orgId, 1, () => {
    recorded.open()
    return mayCommit.opened
  })
  await recorded.opened
  await act(orgId, 2)
  await sealAudit(h.deps, h.worker)
  expect((await sealedOf(orgId)).map(({ n }) => n)).toEqual([2])
  mayCommit.open()
  await late
  await sealAudit(h.deps, h.worker)
  const sealed = await sealedOf(orgId)
  expect(sealed.map(({ position, n }) => [position, n])).toEqual([
    [1, 2],
    [2, 1],
  ])
  expect(sealed[0]?.seq).toBeGreaterThan(sealed[1]?.seq ?? 0)
  expect(await verifyAuditChain(h.deps, orgId, { unsealedAfterMs: 0 })).toMatchObject({
    intact: true,
    end: { position: 2 },
  })
})

it('seals each event of a statement that records several', async () => {
  const { orgId } = await h.org('several')
  const ctx = contextOf(orgId)
  const rows = [1, 2, 3].map((n) => auditRow(ctx, { action: 'test.act', metadata: { n } }))
  await inOrg(h.deps, orgId, (db) => db.insertInto('audit_event').values(rows).execute())
  await sealAudit(h.deps, h.worker)
  expect((await sealedOf(orgId)).map(({ n }) => n)).toEqual([1, 2, 3])
})

it('seals every event of 30 concurrent writers exactly once while three sealers compete', async () => {
  const [first, second] = [await h.org('first'), await h.org('second')]
  let writing = true
  const seal = async (): Promise<void> => {
    while (writing) await sealAudit(h.deps, h.worker)
  }
  const sealers = [seal(), seal(), seal()]
  const writers = Array.from({ length: 30 }, async (_, w) => {
    for (let n = 0; n < 20; n++) await act(w % 2 === 0 ? first.orgId : second.orgId, w * 20 + n)
  })
  await Promise.all(writers)
  writing = false
  await Promise.all(sealers)
  await sealAudit(h.deps, h.worker)
  for (const { orgId } of [first, second]) {
    const sealed = await sealedOf(orgId)
    expect(sealed.map(({ position }) => position)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1))
    expect(new Set(sealed.map(({ n }) => n)).size).toBe(300)
    expect(await verifyAuditChain(h.deps, orgId, { unsealedAfterMs: 0 })).toMatchObject({
      intact: true,
      end: { position: 300 },
    })
  }
})

it('starts every organisation its own chain', async () => {
  const [a, b] = [await h.org('chain a'), await h.org('chain b')]
  await act(a.orgId, 1)
  await act(b.orgId, 1)
  await sealAudit(h.deps, h.worker)
  const starts = await Promise.all(
    [a, b].map(({ orgId }) =>
      inOrg(h.deps, orgId, (db) =>
        db.selectFrom('audit_seal').select('prev_hash').where('position', '=', 1).executeTakeFirstOrThrow(),
      ),
    ),
  )
  expect(starts.map(({ prev_hash }) => prev_hash.toString('hex'))).toEqual(
    [a, b].map(({ orgId }) => startOfChain(orgId).toString('hex')),
  )
})

it('seals several organisations in one transaction, each behind what it has', async () => {
  const orgs = [await h.org('one of three'), await h.org('two of three'), await h.org('three of three')]
  for (const { orgId } of orgs) await act(orgId, 1)
  await sealAudit(h.deps, h.worker)
  for (const n of [2, 3]) for (const { orgId } of orgs) await act(orgId, n)
  const warned: unknown[] = []
  const log = { ...h.deps.log, warn: (line: unknown) => void warned.push(line) } as typeof h.deps.log
  await sealAudit({ ...h.deps, log }, h.worker)
  // Whatever goes wrong together is done again one by one, and only this tells.
  expect(warned).toEqual([])
  for (const { orgId } of orgs) {
    expect((await sealedOf(orgId)).map(({ n }) => n)).toEqual([1, 2, 3])
    expect(await verifyAuditChain(h.deps, orgId)).toMatchObject({ intact: true, end: { position: 3 } })
  }
})

it('passes by an organisation that another process is sealing, and says how much waits', async () => {
  const { orgId } = await h.org('busy')
  await act(orgId, 1)
  await sealAudit(h.deps, h.worker)
  await act(orgId, 2)
  await inOrg({ database: h.worker }, orgId, async (db) => {
    await db.selectFrom('audit_head').selectAll().where('org_id', '=', orgId).forUpdate().execute()
    await asAnother(() => sealAudit(h.deps, h.worker))
    expect(h.deps.telemetry.audit.read()).toMatchObject({ unsealed: 1, oldestUnsealedMs: expect.any(Number) })
  })
  expect(await sealedOf(orgId)).toHaveLength(1)
  await sealAudit(h.deps, h.worker)
  expect(await sealedOf(orgId)).toHaveLength(2)
  expect(h.deps.telemetry.audit.read().unsealed).toBe(0)
})

it('seals the others where one organisation fails, and says how much waits and why', async () => {
  const orgs = await Promise.all(['fails', 'goes on', 'goes on too'].map((name) => h.org(name)))
  const [{ orgId }, ...others] = orgs as [(typeof orgs)[0], ...typeof orgs]
  await sealAudit(h.deps, h.worker)
  for (const org of orgs) await act(org.orgId, 1)
  await asSuperuser(h, (client) =>
    client.query(`
      create function refuses() returns trigger language plpgsql as
        $$ begin if new.org_id = '${orgId}' then raise exception 'no' using errcode = '42501'; end if; return new; end $$;
      create trigger refuses before insert on audit_seal for each row execute function refuses()`),
  )
  try {
    await expect(sealAudit(h.deps, h.worker)).rejects.toMatchObject({ code: '42501' })
    expect(h.deps.telemetry.audit.read().unsealed).toBeGreaterThan(0)
    const counts = await Promise.all(others.map(async (org) => (await sealedOf(org.orgId)).some(({ n }) => n === 1)))
    expect(counts).toEqual([true, true])
  } finally {
    await asSuperuser(h, (client) => client.query('drop function refuses() cascade'))
  }
  await sealAudit(h.deps, h.worker)
  expect(h.deps.telemetry.audit.read().unsealed).toBe(0)
  expect((await sealedOf(orgId)).some(({ n }) => n === 1)).toBe(true)
})

it('stays less than a second behind while events keep coming', async () => {
  const { orgId } = await h.org('steady')
  const sealer = startSealer(h.deps, h.worker)
  const until = Date.now() + 2500
  let n = 0
  while (Date.now() < until) await act(orgId, n++)
  await sealer.stop()
  const { sealed, behindMs } = await inOrg(h.deps, orgId, (db) =>
    db
      .selectFrom('audit_seal')
      .innerJoin('audit_event', (join) =>
        join
          .onRef('audit_event.org_id', '=', 'audit_seal.org_id')
          .onRef('audit_event.event_id', '=', 'audit_seal.event_id'),
      )
      .select((eb) => [
        eb.fn.countAll<number>().as('sealed'),
        sql<number>`max(extract(epoch from sealed_at - occurred_at) * 1000)::float8`.as('behindMs'),
      ])
      .executeTakeFirstOrThrow(),
  )
  expect(sealed).toBe(n)
  expect(behindMs).toBeLessThan(1000)
})

it('does not let an event that has no canonical form hold up the others', async () => {
  const { orgId } = await h.org('odd')
  await asSuperuser(h, async (client) => {
    await client.query("set session_replication_role = 'origin'")
    await client.query(
      `insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, outcome, request_id, metadata) values ($1, 'aud_odd', 'test.act', now() - interval '1 hour', 'agent', 'agent:x', 'success', 'req_x', '{"odd key": 1.5}')`,
      [orgId],
    )
  })
  await act(orgId, 1)
  await sealAudit(h.deps, h.worker)
  expect((await sealedOf(orgId)).map(({ n }) => n)).toEqual([1])
  expect(await verifyAuditChain(h.deps, orgId)).toEqual({
    intact: false,
    problem: 'event_unsealed',
    position: null,
    eventId: 'aud_odd',
  })
})

it('refuses to record what the chain could not take', async () => {
  const { orgId } = await h.org('refused')
  await expect(
    transact(contextOf(orgId), (ctx) => record(ctx, { action: 'test.act', metadata: { ratio: 0.5 } })),
  ).rejects.toThrow('integer')
  expect(await inOrg(h.deps, orgId, (db) => db.selectFrom('audit_event').selectAll().execute())).toEqual([])
})
