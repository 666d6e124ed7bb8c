import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../test/harness.ts'
import { exportSpans } from './otlp.ts'

// Catches: a span without its trace or with a value of the request, spans that delay or fail a request. Seen red: the URL
// instead of the template; spans of traces that are not sampled.

interface Exported {
  readonly headers: IncomingHttpHeaders
  readonly url: string
  readonly body: { resourceSpans: { resource: object; scopeSpans: { spans: Record<string, unknown>[] }[] }[] }
}

let h: Harness
let agent: TestAgent
let collector: { url: string; received: Exported[]; answerWith(status: number): void; close(): Promise<void> }
beforeAll(async () => {
  collector = await startCollector()
  h = await startHarness({ otlpEndpoint: `${collector.url}/`, otlpHeaders: { 'x-collector-key': 'k' } })
  agent = await h.agent(await h.org('traced'), ['machine.all'], ['TENANT_AGENT_MANAGER'])
})
afterAll(async () => {
  await h.close()
  await collector.close()
})

async function startCollector(): Promise<typeof collector> {
  const received: Exported[] = []
  let status = 200
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({
      headers: request.headers,
      url: request.url ?? '',
      body: JSON.parse(Buffer.concat(chunks).toString()),
    })
    response.writeHead(status).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerWith: (next) => {
      status = next
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const call = (flags: string): Promise<Response> =>
  fetch(`${h.url}/api/v1/machine/agent/agt_hidden`, {
    headers: { 'x-api-key': agent.apiKey, traceparent: `00-${traceId}-00f067aa0ba902b7-${flags}` },
  })
const drain = async (): Promise<void> => {
  await exportSpans(h.deps, h.deps.config)
  collector.received.length = 0
}

it('spans reach the collector with route, status, code and the trace they belong to', async () => {
  await drain()
  const answer = await call('01')
  await expect.poll(() => h.deps.telemetry.spans?.waiting).toBe(1)
  await exportSpans(h.deps, h.deps.config)
  expect(collector.received).toHaveLength(1)
  const [{ url, headers, body } = { url: '', headers: {}, body: { resourceSpans: [] } }] = collector.received
  expect([url, headers['content-type'], headers['x-collector-key']]).toEqual(['/v1/traces', 'application/json', 'k'])
  const span = body.resourceSpans[0]?.scopeSpans[0]?.spans[0]
  expect(span).toMatchObject({
    traceId,
    parentSpanId: '00f067aa0ba902b7',
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    name: 'GET /api/v1/machine/agent/:id',
    kind: 2,
  })
  expect(span?.attributes).toEqual([
    { key: 'http.request.method', value: { stringValue: 'GET' } },
    { key: 'http.route', value: { stringValue: '/api/v1/machine/agent/:id' } },
    { key: 'http.response.status_code', value: { intValue: '404' } },
    { key: 'strongroom.request_id', value: { stringValue: answer.headers.get('x-request-id') } },
    { key: 'error.type', value: { stringValue: 'agent_not_found' } },
  ])
  expect(BigInt(String(span?.endTimeUnixNano)) - BigInt(String(span?.startTimeUnixNano))).toBeGreaterThan(0n)
  expect(JSON.stringify(body)).not.toContain('hidden')
})

it('spans are not made of traces that the caller does not sample', async () => {
  await drain()
  const before = h.deps.telemetry.requests.waiting
  await call('00')
  await expect.poll(() => h.deps.telemetry.requests.waiting).toBe(before + 1)
  expect(h.deps.telemetry.spans?.waiting).toBe(0)
})

it('spans are dropped and counted when the collector refuses or is gone, and no request notices', async () => {
  await drain()
  const before = h.deps.telemetry.spans?.dropped ?? 0
  collector.answerWith(503)
  expect((await call('01')).status).toBe(404)
  await expect.poll(() => h.deps.telemetry.spans?.waiting).toBe(1)
  await exportSpans(h.deps, h.deps.config)
  expect((await call('01')).status).toBe(404)
  await expect.poll(() => h.deps.telemetry.spans?.waiting).toBe(1)
  await exportSpans(h.deps, { otlpEndpoint: 'http://127.0.0.1:1', otlpHeaders: {} })
  expect(h.deps.telemetry.spans).toMatchObject({ waiting: 0, dropped: before + 2 })
})
