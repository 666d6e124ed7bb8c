import { gzipSync } from 'node:zlib'
import { ERRORS } from '@strongroom/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECURITY_HEADERS } from '../../src/http/security-headers.ts'
import { type Harness, startHarness, type TestAgent } from '../harness.ts'
import { asSuperuser, seedUser } from '../principals.ts'
import { bodies } from './bodies.ts'
import type { RawCase } from './case.ts'
import { connections } from './connections.ts'
import { framing } from './framing.ts'
import { headers } from './headers.ts'
import { mediaTypes } from './media-types.ts'
import { paths } from './paths.ts'
import { queries } from './queries.ts'
import { requestLines } from './request-lines.ts'
import { type Answer, exchange } from './wire.ts'

// Bytes as no client library sends them. Each case says what must come of it; for all of them: no 5xx, the one error body,
// the security headers, nothing served to strangers, nothing changed, and the next connection is served.
//
// Catches, each seen red: paths in a second spelling, repeated credentials or hosts, a foreign Host, headers beyond the count
// dropped without a word, bodies on GET, media types that are almost JSON, compressed bodies, the scan before JSON.parse left
// out, Node's own answers to Expect and a missing Host, the parser's refusals without the security headers or before the
// answers of earlier requests, the body of an unknown route that is read, a connection kept open for a body nobody reads.

const THEMES: Readonly<Record<string, readonly RawCase[]>> = {
  framing,
  'request lines': requestLines,
  paths,
  queries,
  'media types': mediaTypes,
  bodies,
  headers,
  connections,
}

let h: Harness
let port: number
let manager: TestAgent
let fill: (text: string) => Buffer
let before: Record<string, string>
beforeAll(async () => {
  h = await startHarness()
  port = Number(new URL(h.url).port)
  const org = await h.org('raw')
  manager = await h.agent(org, ['machine.all'], ['TENANT_AGENT_MANAGER'])
  const owner = await seedUser(h, org, { orgRoles: ['ORG_OWNER'] })
  const bomb = gzipSync(Buffer.alloc(10_000_000)).toString('latin1')
  const values: Record<string, string> = {
    KEY: manager.apiKey,
    KEY_LOWER: manager.apiKey.toLowerCase(),
    TOKEN: owner.accessToken,
    AGENT: manager.agentId,
  }
  fill = (text) =>
    Buffer.from(
      text
        .replace('Content-Length: 6\r\n\r\n{BOMB}', () => `Content-Length: ${bomb.length}\r\n\r\n${bomb}`)
        .replace(/\{([A-Z_]+)\}/g, (whole, name: string) => values[name] ?? whole),
      'latin1',
    )
  before = await stateOf()
})
afterAll(() => h.close())

/** Every table but those of the audit log, where refusals are recorded, and sessions, which remember their last use. */
const stateOf = (): Promise<Record<string, string>> =>
  asSuperuser(h, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class join pg_namespace n on n.oid = relnamespace
       where nspname = 'strongroom' and relkind = 'r' and relname not in ('audit_event', 'audit_unsealed', 'session')`,
    )
    const state: Record<string, string> = {}
    for (const { name } of rows) {
      const { rows: found } = await client.query<{ digest: string }>(
        `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest from ${name} t`,
      )
      state[name] = found[0]?.digest ?? ''
    }
    return state
  })

const FORBIDDEN = /^(?:server|x-powered-by|set-cookie|access-control-.*|location|content-encoding|etag)$/

function checkHeaders({ status, headers, body }: Answer, isHead: boolean): void {
  if (status === 100) return
  expect([...headers.keys()].filter((name) => FORBIDDEN.test(name))).toEqual([])
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    expect([name, headers.get(name)]).toEqual([name, [value]])
  expect(headers.get('x-request-id')).toEqual([expect.stringMatching(/^req_[0-9a-z]{22}$/)])
  expect(headers.get('content-type')).toEqual(['application/json; charset=utf-8'])
  if (status === 405) expect(headers.get('allow')).toEqual([expect.stringMatching(/^[A-Z]+(?:, [A-Z]+)*$/)])
  if (status === 429 || status === 503) expect(headers.has('retry-after')).toBe(true)
  if (isHead) expect(body).toBe('')
}

function checkRefusal({ headers, body }: Answer, code: RawCase['code'], text: string): void {
  const { error } = JSON.parse(body) as { error: Record<string, unknown> }
  expect(error).toMatchObject({ code: code ?? expect.any(String), requestId: headers.get('x-request-id')?.[0] })
  expect(error).toMatchObject({ message: expect.stringMatching(/\S/), hint: expect.stringMatching(/\S/) })
  for (const secret of ['{KEY}', '{TOKEN}'])
    if (text.includes(secret)) expect(body).not.toContain(fill(secret).toString())
}

async function check({ text, status, code, closes, half, isHead, isOpen }: RawCase): Promise<void> {
  const bytes = fill(text)
  const { answers, closed } = await exchange({
    port,
    bytes,
    answers: status.length,
    isHead: isHead ?? false,
    half: half ?? false,
    untilClosed: closes ?? false,
  })
  expect(answers.map((answer) => answer.status)).toEqual(status)
  if (closes) expect([closed, answers.at(-1)?.headers.get('connection') ?? ['close']]).toEqual([true, ['close']])
  for (const answer of answers) {
    checkHeaders(answer, isHead ?? false)
    expect(answer.status).toBeLessThan(500)
    if (answer.status >= 400 && !isHead) checkRefusal(answer, answer === answers.at(-1) ? code : undefined, text)
    if (!isOpen && !/\{(?:KEY|TOKEN)\}/.test(text)) expect(answer.status).toBeGreaterThanOrEqual(400)
  }
  if (code && !isHead) expect(ERRORS[code].status).toBe(status.at(-1))
}

async function expectService(): Promise<void> {
  const normal = fill('GET /api/v1/machine/me HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\n\r\n')
  const { answers } = await exchange({ port, bytes: normal, answers: 1 })
  expect(answers[0]?.status).toBe(200)
}

for (const [theme, cases] of Object.entries(THEMES))
  describe(theme, () => {
    for (const one of cases)
      it(one.name, async () => {
        // Failed attempts are limited; time lets them be forgotten.
        h.advance(2_000)
        await check(one)
        await expectService()
      })
  })

it('has at least 300 cases, each with its own name and bytes', () => {
  const all = Object.values(THEMES).flat()
  expect(all.length).toBeGreaterThanOrEqual(300)
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  expect(new Set(all.map(({ text, half }) => `${half} ${text}`)).size).toBe(all.length)
})

it('has changed nothing with any of them, and recorded none of them as done', async () => {
  const after = Object.entries(await stateOf())
  expect(after.filter(([table, digest]) => digest !== before[table]).map(([table]) => table)).toEqual([])
  const done = await asSuperuser(h, (client) =>
    client.query("select action from audit_event where outcome <> 'refused'"),
  )
  expect(done.rows).toEqual([])
})
