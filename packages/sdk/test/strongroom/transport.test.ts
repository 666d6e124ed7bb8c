import { expect, it, vi } from 'vitest'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import {
  AbortedError,
  AuthenticationError,
  ConfigError,
  ConflictError,
  ConnectionError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
} from '../../src/strongroom/public-errors.ts'
import { hintedDelay, makeBudget } from '../../src/strongroom/retry.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { BrowserStrongroom } from '../../src/strongroom/strongroom-browser.ts'
import { StrongroomError } from '../../src/strongroom/strongroom-error.ts'
import { errorOf } from './world.ts'

// Catches: a write that is repeated under another idempotency key, a retry of what must not be retried, a storm of retries, a
// credential that follows a redirect, a body or a credential in a hook or a log line, a timeout that hangs, or that a timer cannot wait for
// told as a server that is not reached (seen red).

interface Seen {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: unknown
}

type Answer = Response | Error | ((signal: AbortSignal) => Promise<Response>)

/** A server that answers these in turn, the last one for ever. */
function scripted(answers: readonly Answer[], options: StrongroomOptions = {}) {
  const seen: Seen[] = []
  const network: typeof fetch = async (input, init = {}) => {
    seen.push({
      url: String(input),
      method: init.method ?? 'GET',
      headers: new Headers(init.headers),
      body: init.body,
    })
    const answer = answers[Math.min(seen.length, answers.length) - 1] as Answer
    if (answer instanceof Error) throw answer
    return typeof answer === 'function' ? answer(init.signal as AbortSignal) : answer.clone()
  }
  const client = new Strongroom({
    server: 'https://vault.example/',
    apiKey: 'sra_access.topsecret',
    fetch: network,
    retry: { baseDelayMs: 1, maxDelayMs: 2 },
    ...options,
  })
  return { client, seen }
}

const ME = Response.json({
  principal: { type: 'agent', id: 'agent:agt_1', name: 'bot' },
  authMethod: 'api_key',
  org: { orgId: 'org_1' },
  tenant: null,
  agent: null,
  permissions: [],
  orgRoles: [],
  tenantRoles: [],
  globalAdmin: false,
  warnings: [],
})
const refusal = (status: number, code: string, headers: Record<string, string> = {}, more: object = {}) =>
  Response.json({ error: { code, message: 'no', requestId: 'req_1', hint: 'do this', ...more } }, { status, headers })
const AGENT = Response.json({ agent: { agentId: 'agt_1', createdAt: '2026-01-01T00:00:00Z', securityGroups: [] } })

it.each([
  ['a connection that breaks', new TypeError('fetch failed')],
  ['408', refusal(408, 'request_timeout')],
  ['429', refusal(429, 'rate_limited')],
  ['502 of something in between', new Response('<html>', { status: 502 })],
  ['503', refusal(503, 'overloaded')],
  ['504', new Response('', { status: 504 })],
])('tries again after %s', async (_, answer) => {
  const { client, seen } = scripted([answer, answer, ME])
  const { data, meta } = await client.me().withResponse()
  expect([data.id, meta.attempts, seen.length]).toEqual(['agent:agt_1', 3, 3])
})

it('gives up after the retries it was given, with the error of the last', async () => {
  const { client, seen } = scripted([refusal(503, 'overloaded')])
  expect(await errorOf(client.me())).toBeInstanceOf(ServerError)
  expect(seen).toHaveLength(3)
  expect(await errorOf(client.me({ maxRetries: 0 }))).toMatchObject({
    code: 'overloaded',
    retryable: true,
    hint: 'do this',
  })
  expect(seen).toHaveLength(4)
  const away = scripted([new TypeError('fetch failed')], { maxRetries: 1 })
  const error = await errorOf(away.client.me())
  expect(error).toBeInstanceOf(ConnectionError)
  expect(error).toMatchObject({ host: 'vault.example', cause: expect.any(TypeError) })
  expect(away.seen).toHaveLength(2)
})

it.each([
  [400, 'validation_failed', ValidationError],
  [401, 'invalid_api_key', AuthenticationError],
  [409, 'name_taken', ConflictError],
  [422, 'invalid_document', ValidationError],
])('does not repeat a %i', async (status, code, Class) => {
  const { client, seen } = scripted([refusal(status, code)])
  const error = await errorOf(client.me())
  expect(error).toBeInstanceOf(Class)
  expect(error).toMatchObject({ status, code, requestId: 'req_1', retryable: false })
  expect(StrongroomError.is(error)).toBe(true)
  expect(seen).toHaveLength(1)
})

it('repeats a 500 only with an idempotency key, and what the server says about retrying wins', async () => {
  const read = scripted([refusal(500, 'internal_error'), ME])
  expect(await errorOf(read.client.me())).toBeInstanceOf(ServerError)
  const write = scripted([refusal(500, 'internal_error'), AGENT])
  await write.client.agents.update('agt_1', { name: 'x' })
  expect(write.seen).toHaveLength(2)
  const no = scripted([refusal(503, 'overloaded', { 'x-should-retry': 'false' }), ME])
  expect(await errorOf(no.client.me())).toBeInstanceOf(ServerError)
  const yes = scripted([refusal(409, 'name_taken', { 'x-should-retry': 'true' }), ME])
  expect((await yes.client.me()).id).toBe('agent:agt_1')
  const running = scripted([refusal(409, 'idempotency_in_progress', { 'retry-after': '0' }), AGENT])
  await running.client.agents.archive('agt_1')
  expect(running.seen).toHaveLength(2)
})

it('mints an idempotency key once for a call and sends the same bytes with it', async () => {
  const { client, seen } = scripted([new TypeError('reset'), refusal(503, 'overloaded'), AGENT])
  await client.agents.update('agt_1', { name: 'x' })
  const keys = seen.map(({ headers }) => headers.get('idempotency-key'))
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(new Set(seen.map(({ body }) => body)).size).toBe(1)
  const own = scripted([refusal(409, 'name_taken')])
  const error = await errorOf(own.client.agents.update('agt_1', { name: 'x' }, { idempotencyKey: 'mine-1' }))
  expect(error).toMatchObject({ idempotencyKey: 'mine-1' })
  expect(own.seen[0]?.headers.get('idempotency-key')).toBe('mine-1')
  expect(scripted([ME]).seen).toEqual([])
})

it('waits as the server says, and does not wait for ever', async () => {
  expect(hintedDelay(new Headers({ 'retry-after-ms': '120', 'retry-after': '9' }))).toBe(120)
  expect(hintedDelay(new Headers({ 'retry-after': '2' }))).toBe(2000)
  expect(hintedDelay(new Headers({ 'retry-after': new Date(10_000).toUTCString() }), 4_000)).toBe(6000)
  expect(hintedDelay(new Headers({ 'retry-after': 'soon' }))).toBeUndefined()
  const delays: number[] = []
  const hooks = { onRetry: ({ delayMs }: { delayMs: number }) => void delays.push(delayMs) }
  const hinted = scripted([refusal(429, 'rate_limited', { 'retry-after-ms': '7' }), ME], { hooks })
  await hinted.client.me()
  expect(delays[0]).toBeGreaterThanOrEqual(7)
  const long = scripted([refusal(429, 'rate_limited', { 'retry-after': '3600' }), ME])
  const error = await errorOf(long.client.me())
  expect(error).toBeInstanceOf(RateLimitError)
  expect([error.retryAfterMs, long.seen.length]).toEqual([3_600_000, 1])
})

it('spreads its retries over the whole window', async () => {
  const delays: number[] = []
  const hooks = { onRetry: ({ delayMs }: { delayMs: number }) => void delays.push(delayMs) }
  const { client } = scripted([new TypeError('x')], {
    hooks,
    maxRetries: 60,
    retry: { baseDelayMs: 4, maxDelayMs: 4, budget: { capacity: 100, refillPerSecond: 0 } },
  })
  await errorOf(client.me())
  expect(delays).toHaveLength(60)
  expect(delays.every((delay) => delay >= 0 && delay <= 4)).toBe(true)
  expect(delays.filter((delay) => delay < 2).length).toBeGreaterThan(10)
  expect(delays.filter((delay) => delay >= 2).length).toBeGreaterThan(10)
})

it('stops retrying when the budget of the client is spent', async () => {
  const { client, seen } = scripted([refusal(503, 'overloaded')], {
    retry: { baseDelayMs: 1, maxDelayMs: 1, budget: { capacity: 3, refillPerSecond: 0 } },
  })
  await Promise.all(Array.from({ length: 10 }, () => errorOf(client.me())))
  expect(seen).toHaveLength(13)
  let now = 0
  const budget = makeBudget({ capacity: 1, refillPerSecond: 2 }, () => now)
  expect([budget.take(), budget.take()]).toEqual([true, false])
  now = 500
  expect([budget.take(), budget.take()]).toEqual([true, false])
})

const hanging = (signal: AbortSignal): Promise<Response> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

it('ends an attempt that takes too long, also while the body is read', async () => {
  const { client, seen } = scripted([hanging])
  const error = await errorOf(client.me({ timeout: 20, maxRetries: 1 }))
  expect(error).toBeInstanceOf(TimeoutError)
  expect(error).toMatchObject({ afterMs: 20, code: 'timeout', retryable: true })
  expect(seen).toHaveLength(2)
  const slow = scripted([
    async (signal) =>
      new Response(
        new ReadableStream({ start: (stream) => signal.addEventListener('abort', () => stream.error(signal.reason)) }),
      ),
  ])
  expect(await errorOf(slow.client.me({ timeout: 20, maxRetries: 0 }))).toBeInstanceOf(TimeoutError)
})

it('takes a time limit longer than any timer as no limit', async () => {
  for (const timeout of [Number.POSITIVE_INFINITY, 1e12]) {
    const { client, seen } = scripted([ME])
    expect((await client.me({ timeout })).id).toBe('agent:agt_1')
    expect(seen).toHaveLength(1)
  }
})

it('ends when the caller aborts: before, during an attempt, and between two', async () => {
  const before = AbortSignal.abort('enough')
  const { client, seen } = scripted([ME])
  const early = await errorOf(client.me({ signal: before }))
  expect(early).toBeInstanceOf(AbortedError)
  expect([early.name, early.cause, seen.length]).toEqual(['AbortError', 'enough', 0])
  const during = new AbortController()
  const hung = scripted([hanging])
  const waiting = errorOf(hung.client.me({ signal: during.signal }))
  during.abort()
  expect(await waiting).toBeInstanceOf(AbortedError)
  const between = new AbortController()
  const retried = scripted([refusal(503, 'overloaded')], {
    retry: { baseDelayMs: 60_000, maxDelayMs: 60_000, jitter: 'none' },
    hooks: { onRetry: () => between.abort() },
  })
  expect(await errorOf(retried.client.me({ signal: between.signal }))).toBeInstanceOf(AbortedError)
  expect(retried.seen).toHaveLength(1)
})

it('follows no redirect', async () => {
  const { client, seen } = scripted([
    new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }),
  ])
  expect(await errorOf(client.me())).toMatchObject({ code: 'redirect_refused', retryable: false })
  expect(seen).toHaveLength(1)
})

it('names itself, sends the headers it is given, and lets none of them replace its credential', async () => {
  const { client, seen } = scripted([ME], {
    userAgent: 'my-app/1.2',
    defaultHeaders: { 'x-team': 'a', 'X-API-Key': 'other' },
  })
  await client.me({ headers: { 'x-one': '1', 'x-api-key': 'other' }, query: { extra: 1, none: undefined } })
  expect(seen[0]?.headers.get('user-agent')).toBe('strongroom-sdk/0.1.0 my-app/1.2')
  expect([seen[0]?.headers.get('x-team'), seen[0]?.headers.get('x-one')]).toEqual(['a', '1'])
  expect(seen[0]?.headers.get('x-api-key')).toBe('sra_access.topsecret')
  expect(seen[0]?.url).toBe('https://vault.example/api/v1/machine/me?extra=1')
  const asked = scripted([ME], { apiKey: vi.fn(async () => 'sra_fresh.one') })
  await asked.client.me()
  expect(asked.seen[0]?.headers.get('x-api-key')).toBe('sra_fresh.one')
})

it('shows hooks and logs neither bodies nor credentials', async () => {
  const events: unknown[] = []
  const say = (...said: unknown[]): void => void events.push(said)
  const { client } = scripted([refusal(503, 'overloaded', {}, { details: { echo: 'body-of-the-answer' } }), AGENT], {
    hooks: { onRequest: say, onResponse: say, onRetry: say },
    logger: { error: say, warn: say, info: say, debug: say },
    logLevel: 'debug',
  })
  await client.agents.update('agt_1', { name: 'body-of-the-request' })
  const { inspect } = await import('node:util')
  const text = events.map((event) => inspect(event, { depth: 3 })).join('\n')
  expect(events.length).toBeGreaterThan(6)
  for (const leak of ['topsecret', 'body-of-the-request']) expect(text).not.toContain(leak)
  expect(text).toContain('/api/v1/machine/agent/agt_1')
})

it('refuses options that cannot work, and says what is missing', () => {
  const bad: readonly (readonly [StrongroomOptions, string])[] = [
    [{}, 'config_missing'],
    [{ server: 'vault.example' }, 'config_invalid'],
    [{ server: 'ftp://vault.example' }, 'config_invalid'],
    [{ server: 'https://user:pass@vault.example' }, 'config_invalid'],
    [{ server: 'https://vault.example', apiKey: 'a', accessToken: 'b' }, 'config_conflict'],
    [{ bundle: 'srb1.x' }, 'bundle_invalid'],
    [{ server: 'https://vault.example', verify: { maxCheckpointAge: 'soon' } }, 'config_invalid'],
  ]
  for (const [options, code] of bad) {
    expect(() => new Strongroom(options)).toThrow(ConfigError)
    expect(() => new Strongroom(options)).toThrow(expect.objectContaining({ code, hint: expect.any(String) }))
  }
})

it('refuses an API key in a browser unless it is allowed', () => {
  const options = { server: 'https://vault.example', apiKey: 'sra_a.b' }
  const trustStore = new Strongroom(options)
  expect(trustStore).toBeInstanceOf(Strongroom)
  expect(() => new BrowserStrongroom(options)).toThrow(expect.objectContaining({ code: 'api_key_in_browser' }))
  expect(new BrowserStrongroom({ ...options, dangerouslyAllowBrowserApiKey: true })).toBeInstanceOf(Strongroom)
  expect(new BrowserStrongroom({ server: 'https://vault.example', accessToken: 't' })).toBeInstanceOf(Strongroom)
})

it('says which key or anchor a call would need', async () => {
  const { client } = scripted([ME])
  expect(await errorOf(client.secrets.get('sr://a/b/c'))).toMatchObject({ missing: ['STRONGROOM_PRIVATE_KEY'] })
  const broken = scripted([ME], { privateKey: '-----BEGIN PRIVATE KEY-----\nAAAA' })
  const error = await errorOf(broken.client.secrets.get('sr://a/b/c'))
  expect(error).toMatchObject({ name: 'ConfigError', code: 'config_invalid' })
})

it('leaves no rejection unhandled, whichever form of the answer is asked for', async () => {
  const { client } = scripted([refusal(404, 'agent_not_found')])
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  await errorOf(client.agents.get('agt_1').withResponse())
  await errorOf(client.agents.get('agt_1').asResponse())
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})
