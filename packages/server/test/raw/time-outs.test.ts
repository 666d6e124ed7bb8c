import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { MAX_HEADERS } from '../../src/http/guard.ts'
import { type Harness, startHarness } from '../harness.ts'
import { exchange } from './wire.ts'

// Slow and greedy connections. What takes long is checked by its setting, not by waiting for it.
//
// Catches, each seen red: a limit that is left at Node's default, a slow request that ends without the error body.

let h: Harness
let app: FastifyInstance
beforeAll(async () => {
  h = await startHarness()
  app = buildApp(h.deps)
})
afterAll(async () => {
  await app.close()
  await h.close()
})

it('gives headers 10 s, a request 30 s and an idle connection 5 s', () => {
  const { headersTimeout, requestTimeout, keepAliveTimeout } = app.server
  expect({ headersTimeout, requestTimeout, keepAliveTimeout }).toEqual({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 5_000,
  })
})

it('takes 2,000 connections, and one header more than it allows, to refuse it', () => {
  const { maxConnections, maxHeadersCount } = app.server
  expect({ maxConnections, maxHeadersCount }).toEqual({ maxConnections: 2000, maxHeadersCount: MAX_HEADERS + 1 })
})

it('ends a request whose headers or body do not come, with 408 and the error body', async () => {
  // The server looks every two seconds, so this takes as long.
  const impatient = buildApp(h.deps)
  impatient.server.headersTimeout = 100
  impatient.server.requestTimeout = 200
  const port = Number(new URL(await impatient.listen({ host: '127.0.0.1', port: 0 })).port)
  const slow = [
    'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ',
    'POST /api/v1/platform/login/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    'POST /api/v1/platform/login/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{',
  ]
  const ended = await Promise.all(
    slow.map((text) => exchange({ port, bytes: Buffer.from(text), answers: 1, untilClosed: true })),
  )
  for (const { answers, closed } of ended) {
    expect([answers.map(({ status }) => status), closed]).toEqual([[408], true])
    expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({ error: { code: 'request_timeout' } })
    expect(answers[0]?.headers.get('cache-control')).toEqual(['no-store'])
  }
  await impatient.close()
})

it('ends a connection with its thousandth request, and says so', async () => {
  const port = Number(new URL(h.url).port)
  const bytes = Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1000))
  const { answers, closed } = await exchange({ port, bytes, answers: 1000, untilClosed: true })
  expect([answers.length, closed]).toEqual([1000, true])
  expect(answers.map(({ headers }) => headers.get('connection')?.[0])).toEqual([
    ...Array.from({ length: 999 }, () => 'keep-alive'),
    'close',
  ])
})

it('serves others while 500 connections send nothing', async () => {
  const port = Number(new URL(h.url).port)
  const bytes = Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const idle = Array.from({ length: 500 }, () => exchange({ port, bytes, answers: 1 }))
  const { answers } = await exchange({ port, bytes, answers: 1 })
  expect(answers[0]?.status).toBe(200)
  expect((await Promise.all(idle)).every((one) => one.answers[0]?.status === 200)).toBe(true)
})
