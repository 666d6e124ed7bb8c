import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../test/harness.ts'
import { asSuperuser } from '../../test/principals.ts'
import { inOrg } from '../context.ts'
import { openDatabase } from '../db/database.ts'
import { makeBatch } from './batch.ts'
import { productsOf, truncateAddress } from './caller.ts'
import { BUCKETS, bucketOf, quantileMs, upperEdgeMs } from './histogram.ts'
import { makeMinutes } from './minutes.ts'
import { flushRequests, startRequestFlush } from './requests.ts'
import { RETENTION_DAYS, removeOld } from './store.ts'
import type { RequestRow } from './telemetry.ts'
import { readTraceContext } from './trace-context.ts'

// Catches: a request that waits for or fails with its telemetry, rows beyond the bound, histograms that two processes overwrite
// for each other, a raw path or an address in a row, answers that are kept for ever. Seen red: no bound; an upsert without adding up; the
// URL for the template; keys of idempotency left out of what is removed; minutes that are left when it stops.

let h: Harness
let org: { orgId: string; tenantId: string }
let agent: TestAgent
beforeAll(async () => {
  h = await startHarness()
  org = await h.org('observed')
})
afterAll(() => h.close())
beforeEach(async () => {
  agent = await h.agent(org, ['machine.all'], ['TENANT_AGENT_MANAGER'])
  await flushRequests(h.deps, h.worker)
})

const rowsOf = (principal: string) =>
  inOrg(h.deps, org.orgId, (db) =>
    db.selectFrom('request_event').selectAll().where('principal', '=', principal).orderBy('occurred_at').execute(),
  )
const minutesOf = (principal: string) =>
  inOrg(h.deps, org.orgId, (db) =>
    db.selectFrom('metric_minute').selectAll().where('principal', '=', principal).execute(),
  )
const send = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${h.url}/api/v1/machine${path}`, { ...init, headers: { 'x-api-key': agent.apiKey, ...init.headers } })

/** The answer has arrived a moment before the server's own hook runs. */
async function observed(count: number): Promise<void> {
  await expect.poll(() => h.deps.telemetry.requests.waiting).toBe(count)
}

describe('a request of a known principal', () => {
  it('leaves one row: template, status, code, sizes, trace, network and products, and no value', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const answer = await send('/agent/agt_secret?page=secret', {
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01`, 'user-agent': 'curl/8.5.0 (secret) token=secret' },
    })
    expect([...answer.headers.keys()].filter((name) => name.startsWith('trace'))).toEqual([])
    await observed(1)
    await flushRequests(h.deps, h.worker)
    const rows = await rowsOf(`agent:${agent.agentId}`)
    expect(rows).toEqual([
      {
        org_id: org.orgId,
        event_id: expect.stringMatching(/^evt_/),
        occurred_at: expect.any(Date),
        request_id: answer.headers.get('x-request-id'),
        trace_id: traceId,
        method: 'GET',
        route: '/api/v1/machine/agent/:id',
        status: 400,
        error_code: 'validation_failed',
        duration_ms: expect.any(Number),
        bytes_in: 0,
        bytes_out: Buffer.byteLength(await answer.text()),
        principal: `agent:${agent.agentId}`,
        access_key: agent.apiKey.split('.')[0],
        tenant_id: org.tenantId,
        ip: '127.0.0.0',
        user_agent: 'curl/8.5.0',
      },
    ])
    expect(JSON.stringify(rows)).not.toContain('secret')
  })

  it('counts the bytes of its body, and starts a trace of its own without a valid traceparent', async () => {
    const body = JSON.stringify({ name: 'counted', permissions: [] })
    await send('/agent', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', traceparent: 'nonsense' },
    })
    await observed(1)
    await flushRequests(h.deps, h.worker)
    expect(await rowsOf(`agent:${agent.agentId}`)).toMatchObject([
      { bytes_in: body.length, status: 201, error_code: null, trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ])
  })

  it('is merged into the minute of its route by two processes at once', async () => {
    const sibling = await h.sibling()
    const calls = Array.from({ length: 60 }, (_, i) =>
      fetch(`${i % 2 === 0 ? h.url : sibling.url}/api/v1/machine/${i % 3 === 0 ? 'agent/agt_none' : 'me'}`, {
        headers: { 'x-api-key': agent.apiKey },
      }),
    )
    await Promise.all(calls)
    await observed(60)
    const halves = [h.deps.telemetry.requests.take(30), h.deps.telemetry.requests.take(30)].map((rows) => {
      const requests = makeBatch<RequestRow>({ capacity: 1000, crowd: 500 })
      for (const row of rows) requests.add(row)
      return { ...h.deps, telemetry: { ...h.deps.telemetry, requests, minutes: makeMinutes() } }
    })
    await Promise.all(halves.map((deps) => flushRequests(deps, h.worker)))
    await sibling.close()
    const minutes = await minutesOf(`agent:${agent.agentId}`)
    const sum = (route: string, of: (minute: (typeof minutes)[number]) => number): number =>
      minutes.filter((minute) => minute.route === route).reduce((total, minute) => total + of(minute), 0)
    for (const [route, requests, errors] of [
      ['GET /api/v1/machine/me', 40, 0],
      ['GET /api/v1/machine/agent/:id', 20, 20],
    ] as const) {
      expect(sum(route, (minute) => minute.requests)).toBe(requests)
      expect(sum(route, (minute) => minute.errors)).toBe(errors)
      expect(sum(route, ({ buckets }) => buckets.reduce((a, b) => a + b, 0))).toBe(requests)
    }
    expect(halves.map(({ telemetry }) => telemetry.requests.dropped)).toEqual([0, 0])
  })
})

it('leaves no row of a request nobody can be named for', async () => {
  const before = await asSuperuser(h, async (client) => (await client.query('select 1 from request_event')).rowCount)
  await fetch(`${h.url}/api/v1/machine/me`)
  await fetch(`${h.url}/api/v1/machine/me`, { headers: { 'x-api-key': 'wrong' } })
  await fetch(`${h.url}/nowhere`)
  await flushRequests(h.deps, h.worker)
  expect(h.deps.telemetry.requests.waiting).toBe(0)
  expect(await asSuperuser(h, async (client) => (await client.query('select 1 from request_event')).rowCount)).toBe(
    before,
  )
})

it('answers as before when telemetry cannot be written, and counts what it drops', async () => {
  const nowhere = openDatabase(
    { connection: { host: '127.0.0.1', port: 1, user: 'x', database: 'x' }, poolSize: 1 },
    () => undefined,
  )
  const before = h.deps.telemetry.requests.dropped
  const flushing = startRequestFlush(h.deps, nowhere)
  expect((await send('/me')).status).toBe(200)
  await observed(1)
  await flushing.stop()
  expect(h.deps.telemetry.requests).toMatchObject({ waiting: 0, dropped: before + 1 })
  await nowhere.close()
})

it('writes at once when 2000 rows wait, and what is left when it stops', async () => {
  const flushing = startRequestFlush(h.deps, h.worker)
  const row: RequestRow = {
    orgId: org.orgId,
    eventId: '',
    occurredAt: h.deps.now(),
    requestId: 'req_x',
    traceId: 'x',
    method: 'GET',
    route: '/x',
    status: 200,
    errorCode: null,
    durationMs: 1,
    bytesIn: 0,
    bytesOut: 0,
    principal: 'agent:crowd',
    accessKey: null,
    tenantId: null,
    ip: '',
    userAgent: '',
  }
  for (let i = 0; i < 2000; i++) h.deps.telemetry.requests.add({ ...row, eventId: `evt_${i}` })
  // Taken in the same turn of the event loop: nothing waited for the clock.
  expect(h.deps.telemetry.requests.waiting).toBe(0)
  h.deps.telemetry.requests.add({ ...row, eventId: 'evt_last' })
  await flushing.stop()
  expect(await rowsOf('agent:crowd')).toHaveLength(2001)
  const minutes = await minutesOf('agent:crowd')
  expect(minutes.reduce((sum, { requests }) => sum + requests, 0)).toBe(2001)
})

it('keeps no more rows than its bound, and counts the others', () => {
  const batch = makeBatch<number>({ capacity: 3, crowd: 2 })
  let crowds = 0
  batch.onCrowd(() => crowds++)
  for (let i = 0; i < 5; i++) batch.add(i)
  expect([batch.waiting, batch.dropped, crowds]).toEqual([3, 2, 1])
  expect([batch.take(2), batch.take(2)]).toEqual([[0, 1], [2]])
})

it('removes what is older than its retention and nothing else', async () => {
  const day = 86_400_000
  const put = (eventId: string, ageMs: number) =>
    asSuperuser(h, (client) =>
      client.query(
        "insert into request_event values ($1, $2, $3, 'r', null, 'GET', '/x', 200, null, 1, 0, 0, 'agent:old', null, null, '', '')",
        [org.orgId, eventId, new Date(h.deps.now().getTime() - ageMs)],
      ),
    )
  await put('evt_old', RETENTION_DAYS.requests * day + 1000)
  await put('evt_young', RETENTION_DAYS.requests * day - 60_000)
  await h.worker.kysely.transaction().execute((db) => removeOld(db, h.deps.now()))
  expect((await rowsOf('agent:old')).map(({ event_id }) => event_id)).toEqual(['evt_young'])
})

describe('a histogram', () => {
  it('puts every duration into the bucket whose edges hold it', () => {
    for (const ms of [0, 0.1, 0.25, 0.26, 1, 3.7, 100, 59_999, 1e9]) {
      const bucket = bucketOf(ms)
      expect(bucket).toBeLessThan(BUCKETS)
      if (bucket < BUCKETS - 1) expect(ms).toBeLessThanOrEqual(upperEdgeMs(bucket) * 1.000001)
      if (bucket > 0) expect(ms).toBeGreaterThan(upperEdgeMs(bucket - 1))
    }
    expect(bucketOf(Number.NaN)).toBe(0)
  })
  it('finds quantiles within a bucket of the true ones', () => {
    const buckets = new Array<number>(BUCKETS).fill(0)
    for (let ms = 1; ms <= 1000; ms++) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1
    for (const [q, truth] of [
      [0.5, 500],
      [0.95, 950],
      [0.99, 990],
    ] as const) {
      expect(quantileMs(buckets, q) / truth).toBeGreaterThan(0.85)
      expect(quantileMs(buckets, q) / truth).toBeLessThan(1.15)
    }
    expect(quantileMs([], 0.5)).toBe(0)
  })
})

describe('trace context', () => {
  const id = '0af7651916cd43dd8448eb211c80319c'
  it('takes up a valid traceparent', () => {
    expect(readTraceContext(`00-${id}-b7ad6b7169203331-01`)).toEqual({
      traceId: id,
      parentSpanId: 'b7ad6b7169203331',
      sampled: true,
    })
    expect(readTraceContext(`00-${id}-b7ad6b7169203331-00`).sampled).toBe(false)
    expect(readTraceContext(`cc-${id}-b7ad6b7169203331-01-later`).traceId).toBe(id)
  })
  it('starts anew for everything else', () => {
    const invalid = [
      undefined,
      '',
      `00-${id}-b7ad6b7169203331-01-x`,
      `ff-${id}-b7ad6b7169203331-01`,
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `00-${id}-${'0'.repeat(16)}-01`,
      `00-${id.toUpperCase()}-b7ad6b7169203331-01`,
      `00-${id}-b7ad6b7169203331-01, 00-${id}-b7ad6b7169203331-01`,
      ['a', 'b'],
    ]
    for (const header of invalid) {
      const { traceId, parentSpanId } = readTraceContext(header)
      expect([traceId === id, /^[0-9a-f]{32}$/.test(traceId), parentSpanId]).toEqual([false, true, undefined])
    }
  })
})

describe('what is kept of a caller', () => {
  it('is the products of its user agent', () => {
    expect(
      productsOf(
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
      ),
    ).toBe('Mozilla/5.0 AppleWebKit/537.36 Chrome/120.0.0.0 Safari/537.36')
    expect(productsOf('node')).toBe('node')
    for (const text of [
      undefined,
      '',
      'sra_abcdefghij0123456789.secret',
      'Bearer srt_x',
      'a/b',
      'curl/8.5.0\u001b[31m',
      'x'.repeat(5000),
    ])
      expect(productsOf(text)).toBe('')
  })
  it('is the network of its address', () => {
    expect(
      ['192.0.2.77', '::ffff:192.0.2.77', '2001:db8:1:2:3:4:5:6', '2001:db8::1', '::1', 'fe80::1%eth0', 'nonsense'].map(
        truncateAddress,
      ),
    ).toEqual(['192.0.2.0', '192.0.2.0', '2001:db8:1::', '2001:db8:0::', '0:0:0::', 'fe80:0:0::', ''])
  })
})

it('forgets the answer to a request that named a key after thirty days, and not before', async () => {
  const removeAll = () => h.worker.kysely.transaction().execute((db) => removeOld(db, h.deps.now()))
  const make = async (name: string) => {
    const headers = { 'idempotency-key': 'kept-for-thirty-days', 'content-type': 'application/json' }
    const answer = await send('/agent', { method: 'POST', headers, body: JSON.stringify({ name, permissions: [] }) })
    return [answer.status, ((await answer.json()) as { agent?: { agentId: string } }).agent?.agentId] as const
  }
  const first = await make('once')
  expect(first).toEqual([201, expect.any(String)])
  h.advance(RETENTION_DAYS.idempotency * 86_400_000 - 60_000)
  await removeAll()
  expect([await make('once'), (await make('another'))[0]]).toEqual([first, 422])
  h.advance(120_000)
  await removeAll()
  const [status, agentId] = await make('another')
  expect([status, agentId === first[1]]).toEqual([201, false])
})
