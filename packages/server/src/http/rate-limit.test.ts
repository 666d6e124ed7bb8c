import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../test/harness.ts'
import { type Answer, exchange } from '../../test/raw/wire.ts'
import { buildApp } from '../app.ts'
import { makeApiKey } from '../secrets/credentials.ts'
import { FAILURES_PER_ADDRESS, FAILURES_PER_KEY, makeRateLimiter, networkOf, PER_CREDENTIAL } from './rate-limit.ts'

// Catches, each seen red: one request more than the limit, a limit by X-Forwarded-For,
// failures that count against whoever holds the key or shares the address, a Retry-After after which one is still refused.

let h: Harness
let org: { orgId: string; tenantId: string }
let agent: TestAgent
let app: FastifyInstance
let url: string
/** Time stands still unless a test moves it: nothing is refilled meanwhile. */
let now: Date
beforeAll(async () => {
  h = await startHarness()
  org = await h.org('limited')
})
afterAll(() => h.close())
beforeEach(async () => {
  now = new Date()
  agent = await h.agent(org, [])
  app = buildApp({ ...h.deps, now: () => now })
  url = await app.listen({ host: '127.0.0.1', port: 0 })
  return () => app.close()
})

type Headers = Readonly<Record<string, string>>
const ask = (headers: Headers, path = '/api/v1/machine/me'): Promise<Response> => fetch(url + path, { headers })
const askAll = (count: number, headers: (i: number) => Headers, path?: string): Promise<Response[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(headers(i), path)))
const count = (answers: readonly { readonly status: number }[], status: number): number =>
  answers.filter((answer) => answer.status === status).length
const valid = (): Headers => ({ 'x-api-key': agent.apiKey })
const headersOf = (answer: Response | undefined) =>
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after'].map((name) => answer?.headers.get(name))
const later = (seconds: number): void => {
  now = new Date(now.getTime() + seconds * 1000)
}
const NOBODY = 'sra_00000000000000000000.wrong'

const AT_ONCE = 200

/** So many requests, two hundred at once: more would wait for a database connection longer than the server lets them. */
async function burst(count: number, headers: readonly string[], path = '/api/v1/machine/me'): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let left = count; left > 0; left -= AT_ONCE) {
    const perConnection = Math.min(left, AT_ONCE) / 20
    const one = [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')
    const sending = { port: Number(new URL(url).port), bytes: Buffer.from(one.repeat(perConnection)) }
    const exchanges = Array.from({ length: 20 }, () => exchange({ ...sending, answers: perConnection }))
    for (const done of await Promise.all(exchanges)) answers.push(...done.answers)
  }
  return answers
}
const tally = (answers: readonly { readonly status: number }[]) => [count(answers, 200), count(answers, 429)]
const remainingOf = ({ headers }: Answer): number => Number(headers.get('ratelimit-remaining')?.[0])

describe('a credential', () => {
  it('is accepted exactly as often as its limit says, however many ask at once; others are not touched', async () => {
    const other = await h.agent(org, [])
    const before = await burst(PER_CREDENTIAL.burst - 100, [`X-API-Key: ${agent.apiKey}`])
    const last = await burst(AT_ONCE, [`X-API-Key: ${agent.apiKey}`])
    expect([tally(before), tally(last)]).toEqual([
      [PER_CREDENTIAL.burst - 100, 0],
      [100, 100],
    ])
    const remaining = [...before, ...last].filter(({ status }) => status === 200).map(remainingOf)
    expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: PER_CREDENTIAL.burst }, (_, i) => i))
    expect((await ask({ 'x-api-key': other.apiKey })).status).toBe(200)
  })

  it('is told its limit, what remains and when it is full again; a refused one, when to come back', async () => {
    expect(headersOf(await ask(valid()))).toEqual(['1200', '1199', '1', null])
    await burst(PER_CREDENTIAL.burst, [`X-API-Key: ${agent.apiKey}`])
    const refused = await ask(valid())
    expect(headersOf(refused)).toEqual(['1200', '0', '1', '1'])
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } })
    later(1)
    expect(count(await burst(120, [`X-API-Key: ${agent.apiKey}`]), 200)).toBe(PER_CREDENTIAL.perMinute / 60)
  })
})

describe('failed attempts', () => {
  it('are answered exactly as often as the limit of an address says, however many come at once', async () => {
    const answers = await askAll(200, (i) => ({ 'x-api-key': `sra_${String(i).padStart(20, '0')}.wrong` }))
    expect([count(answers, 401), count(answers, 429)]).toEqual([FAILURES_PER_ADDRESS.burst, 140])
    expect(headersOf(answers.find(({ status }) => status === 429))).toEqual(['60', '0', '1', '1'])
  })

  it('are answered exactly as often as the limit of the named key says', async () => {
    const answers = await askAll(40, () => ({ 'x-api-key': NOBODY }))
    expect([count(answers, 401), count(answers, 429)]).toEqual([FAILURES_PER_KEY.burst, 30])
    const refused = answers.find(({ status }) => status === 429)
    expect(headersOf(refused)).toEqual(['10', '0', '6', '6'])
    later(5)
    expect((await ask({ 'x-api-key': NOBODY })).status).toBe(429)
    later(1)
    expect((await ask({ 'x-api-key': NOBODY })).status).toBe(401)
  })

  it('never lock out who holds the valid key, whether they fail on its name or from its address', async () => {
    const accessKey = agent.apiKey.split('.')[0]
    const forged = makeApiKey(h.deps.pepper).apiKey.split('.')[1]
    const answers = await askAll(120, (i) => ({ 'x-api-key': i % 2 ? `${accessKey}.${forged}` : NOBODY }))
    expect(count(answers, 429)).toBeGreaterThan(50)
    const fair = await askAll(50, valid)
    expect(count(fair, 200)).toBe(50)
    expect(headersOf(fair[0])[0]).toBe('1200')
  })

  it('are counted without a credential too, and forgotten after a minute', async () => {
    expect(count(await askAll(70, () => ({})), 401)).toBe(60)
    later(60)
    expect(count(await askAll(70, () => ({})), 401)).toBe(60)
  })

  it('are counted for the address of the connection, whatever is said to be forwarded', async () => {
    const spoofed = (i: number): Headers => ({
      'x-forwarded-for': `10.0.0.${i}`,
      'x-real-ip': `10.0.1.${i}`,
      forwarded: `for=10.0.2.${i}`,
      'cf-connecting-ip': `10.0.3.${i}`,
      'true-client-ip': `10.0.4.${i}`,
    })
    const answers = await askAll(200, spoofed)
    expect([count(answers, 401), count(answers, 429)]).toEqual([FAILURES_PER_ADDRESS.burst, 140])
  })
})

it('limits what needs no credential by address, with the same headers', async () => {
  await burst(PER_CREDENTIAL.burst - 100, ['X-Forwarded-For: 10.0.0.1'], '/api/v1/platform/setup')
  const last = await burst(AT_ONCE, ['X-Forwarded-For: 10.0.0.1'], '/api/v1/platform/setup')
  expect(tally(last)).toEqual([100, 100])
  expect((await ask({ 'x-forwarded-for': '10.0.0.2' }, '/api/v1/platform/setup')).status).toBe(429)
  expect((await ask(valid())).status).toBe(200)
})

it('takes a whole /64 of IPv6 for one address, and IPv4 in either spelling for the same', () => {
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
  expect(networkOf('2001:DB8:1:2::9')).toBe('2001:db8:1:2')
  expect(networkOf('2001:db8::9')).toBe('2001:db8:0:0')
  expect(networkOf('::1')).toBe('0:0:0:0')
  expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0')
  expect(networkOf('::ffff:10.1.2.3')).toBe('10.1.2.3')
  expect(networkOf('10.1.2.3')).toBe('10.1.2.3')
})

it('does not go back with the clock, and forgets the least recent first', () => {
  const limiter = makeRateLimiter()
  const limit = { perMinute: 60, burst: 2 }
  limiter.take('a', limit, 1_000_000)
  limiter.take('a', limit, 1_000_000)
  expect(limiter.take('a', limit, 0).allowed).toBe(false)
  expect(limiter.take('a', limit, 0).resetSeconds).toBe(1)
  for (let i = 0; i < 50_000; i++) {
    limiter.take(`other ${i}`, limit, 0)
    if (i % 10_000 === 0) expect(limiter.take('a', limit, 0).allowed).toBe(false)
  }
})
