import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../test/harness.ts'
import { isLoopback } from './caller.ts'
import { makeLog } from './log.ts'

// Catches: a member in the log that is not on the list, a line that input can break, metrics that strangers can read or that
// grow with what callers send. Seen red: the URL instead of the template in log and labels; no check of the address.

const TOKEN = 'metrics-token-of-the-test'

let h: Harness
let agent: TestAgent
const lines: string[] = []
beforeAll(async () => {
  h = await startHarness({ logLevel: 'debug', metricsToken: TOKEN }, { write: (line) => void lines.push(line) })
  agent = await h.agent(await h.org('watched'), ['machine.all'], ['TENANT_AGENT_MANAGER'])
})
afterAll(() => h.close())

/** Sends bytes as they are, and gives the whole answer. */
const sendRaw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(h.url).port), '127.0.0.1', () => socket.end(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })

const logged = (): Record<string, unknown>[] =>
  lines
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const lineOf = (requestId: string | null) =>
  expect.poll(() => logged().find((line) => line.requestId === requestId && line.event === 'request'))

describe('the log', () => {
  const ALLOWED = new Set([
    'level',
    'time',
    'event',
    'requestId',
    'route',
    'status',
    'code',
    'durationMs',
    'principal',
    'name',
    'count',
    'stack',
  ])

  it('has a line per request: at debug when it succeeded, at info when it was refused', async () => {
    const good = await fetch(`${h.url}/api/v1/machine/me`, { headers: { 'x-api-key': agent.apiKey } })
    await lineOf(good.headers.get('x-request-id')).toEqual({
      level: 20,
      time: expect.any(String),
      event: 'request',
      requestId: expect.any(String),
      route: 'GET /api/v1/machine/me',
      status: 200,
      durationMs: expect.any(Number),
      principal: `agent:${agent.agentId}`,
    })
    const bad = await fetch(`${h.url}/api/v1/machine/agent/agt_none`, { headers: { 'x-api-key': agent.apiKey } })
    await lineOf(bad.headers.get('x-request-id')).toMatchObject({
      level: 30,
      status: 404,
      code: 'agent_not_found',
      route: 'GET /api/v1/machine/agent/:id',
    })
    const nobody = await fetch(`${h.url}/nowhere`)
    await lineOf(nobody.headers.get('x-request-id')).toMatchObject({
      level: 30,
      status: 404,
      code: 'route_not_found',
      route: 'GET unmatched',
    })
  })

  it('stays one JSON object per line with known members, whatever is sent', async () => {
    const evil = [
      '%0d%0a{"level":50}',
      '%1b[31mred',
      '","level":60,"x":"',
      '\u001b]0;title\u0007',
      '%E2%80%A8',
      'a\tb',
      '{"event":"forged"}',
    ]
    for (const text of evil) {
      await sendRaw(
        `GET /api/v1/machine/me?x=${text.replaceAll(' ', '+')} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${agent.apiKey}\r\nuser-agent: ${text}\r\nconnection: close\r\n\r\n`,
      )
      await sendRaw(
        `GET /${text.replaceAll(' ', '+')} HTTP/1.1\r\nhost: localhost\r\nuser-agent: ${text}\r\nx-api-key: ${text}\r\nconnection: close\r\n\r\n`,
      )
      await sendRaw(`${text} / HTTP/1.1\r\n\r\n`)
    }
    for (const line of lines) {
      expect(line.endsWith('\n') && line.indexOf('\n') === line.length - 1).toBe(true)
      expect(line).not.toMatch(/[^\x20-\x7e\n]/)
    }
    for (const line of logged()) for (const name of Object.keys(line)) expect(ALLOWED).toContain(name)
    expect(lines.join('')).not.toMatch(/forged|title|\[31m/)
  })

  it('drops free text, unknown members, objects, and the message of a stack', () => {
    const written: string[] = []
    const log = makeLog({ logLevel: 'debug' }, { write: (line) => void written.push(line) })
    const error = new Error('quotes a secret\n  on two lines, secret')
    log.error(
      { event: 'x\r\ny', secret: 'secret', code: { deep: 'secret' }, name: 'secret'.repeat(0), stack: error.stack },
      'secret %s',
      'secret',
    )
    log.warn(error)
    log.info('secret')
    expect(written).toHaveLength(3)
    expect(written.join('')).not.toContain('secret')
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ event: 'x??y', stack: expect.stringMatching(/^\s+at /) })
  })
})

describe('metrics', () => {
  const scrape = (headers: Record<string, string> = {}): Promise<Response> => fetch(`${h.url}/metrics`, { headers })

  it('count by route and status class, and tell how the process is', async () => {
    await fetch(`${h.url}/api/v1/machine/me`)
    const answer = await scrape()
    const text = await answer.text()
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(text).toMatch(
      /^strongroom_http_requests_total\{method="GET",route="\/api\/v1\/machine\/me",status="4xx"\} [1-9]/m,
    )
    expect(text).toMatch(
      /^strongroom_http_request_duration_seconds_bucket\{method="GET",route="\/api\/v1\/machine\/me",status="4xx",le="\+Inf"\} [1-9]/m,
    )
    for (const name of [
      'pool_connections{state="in_use"}',
      'pool_waiting',
      'telemetry_dropped_total',
      'audit_unsealed_age_seconds',
      'event_loop_lag_seconds{quantile="0.99"}',
      'process_memory_bytes{kind="rss"}',
    ])
      expect(text).toContain(`\nstrongroom_${name} `)
    for (const line of text.trim().split('\n'))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) strongroom_\w+ .+|strongroom_\w+(?:\{[^{}\n]*\})? [0-9.e+-]+)$/)
  })

  it('have cumulative buckets that end in the count', async () => {
    const text = await (await scrape()).text()
    const buckets = [
      ...text.matchAll(/_bucket\{method="GET",route="\/metrics",status="2xx",le="[^"]+"\} ([0-9]+)/g),
    ].map(([, count]) => Number(count))
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
    expect(buckets.at(-1)).toBe(
      Number(/_count\{method="GET",route="\/metrics",status="2xx"\} ([0-9]+)/.exec(text)?.[1]),
    )
  })

  it('get no new series from paths and methods that callers make up', async () => {
    const seriesOf = async (): Promise<number> =>
      (await (await scrape()).text()).split('\n').filter((line) => line.startsWith('strongroom_http_requests_total'))
        .length
    await fetch(`${h.url}/made-up/0`)
    await scrape()
    const before = await seriesOf()
    for (let i = 1; i < 30; i++) await fetch(`${h.url}/made-up/${i}?x=${i}`)
    expect(await seriesOf()).toBe(before)
  })

  it('are no route for whoever comes through a proxy, and open to the token', async () => {
    const notThere = await (await fetch(`${h.url}/nowhere`)).json()
    for (const headers of [
      { 'x-forwarded-for': '203.0.113.9' },
      { forwarded: 'for=203.0.113.9' },
      { via: '1.1 proxy' },
      { 'x-real-ip': '203.0.113.9', authorization: 'Bearer wrong' },
      { 'x-forwarded-for': '::1', authorization: TOKEN },
    ]) {
      const answer = await scrape(headers)
      expect(answer.status).toBe(404)
      expect(await answer.json()).toEqual({ ...notThere, error: { ...notThere.error, requestId: expect.any(String) } })
    }
    expect((await scrape({ 'x-forwarded-for': '203.0.113.9', authorization: `Bearer ${TOKEN}` })).status).toBe(200)
  })

  it('know which addresses are of this machine', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map(isLoopback)).toEqual([true, true, true, true])
    expect(['10.0.0.1', '128.0.0.1', '::2', '::ffff:10.0.0.1', '127.0.0.1.evil', ''].map(isLoopback)).toEqual([
      false,
      false,
      false,
      false,
      false,
      false,
    ])
  })
})
