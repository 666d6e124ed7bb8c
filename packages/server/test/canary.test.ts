import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { API_PREFIX, api, type Route, type Routes } from '@strongroom/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sealAudit } from '../src/audit/seal.ts'
import { makeAccessToken, makeApiKey } from '../src/secrets/credentials.ts'
import { flushRequests } from '../src/telemetry/requests.ts'
import { type Harness, startHarness, type TestAgent } from './harness.ts'
import { asSuperuser } from './principals.ts'

// Secrets in every position of requests to every route, well-formed and not; afterwards none of them is in the log, in the
// audit log, in telemetry, in metrics or in an answer. Catches: anything of a request that is written down by mistake. Seen red:
// the raw user agent in telemetry; the URL in the log; the name of an unknown member in a validation error.

const random = (): string => randomBytes(24).toString('base64url')
/** Looks like a word, so that the scan for secrets lets it through. */
const letters = (): string =>
  [...randomBytes(12)].map((byte) => 'abcdefghijklmnopqrstuvwxyz'.charAt(byte % 26)).join('')
const CANARIES: Readonly<Record<string, string>> = {
  header: `canary-header-${random()}`,
  path: `canarypath${randomBytes(12).toString('hex')}`,
  query: `canary-query-${random()}`,
  queryName: `canaryname${randomBytes(12).toString('hex')}`,
  body: `canary-body-${random()}`,
  bodyName: `canarymember${randomBytes(12).toString('hex')}`,
  idempotencyKey: `canary-idem-${random()}`,
  setupToken: `canary-setup-${random()}`,
  cookie: `canary-cookie-${random()}`,
  accessToken: makeAccessToken().token,
  feedback: `heron lantern ${letters()} quartz`,
}

let h: Harness
let agent: TestAgent
let secret: string
let foreignKey: string
const lines: string[] = []
const answers: string[] = []
beforeAll(async () => {
  h = await startHarness(
    { logLevel: 'debug', otlpEndpoint: 'http://127.0.0.1:1' },
    { write: (line) => void lines.push(line) },
  )
  agent = await h.agent(await h.org('canary'), ['machine.all'], ['TENANT_ADMIN', 'TENANT_AGENT_MANAGER'])
  secret = agent.apiKey.split('.')[1] ?? ''
  foreignKey = makeApiKey(h.deps.pepper).apiKey
})
afterAll(() => h.close())

const routes: readonly Route[] = Object.values(api).flatMap((group: Routes): Route[] => Object.values(group))
const canary = (name: string): string => CANARIES[name] ?? expect.fail(`no canary ${name}`)

const HEADER_NAMES = [
  'accept',
  'accept-language',
  'cookie',
  'from',
  'if-match',
  'origin',
  'referer',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-device-installation-id',
  'x-forwarded-for',
  'x-request-id',
  'x-canary',
]

function headersOf(credential: Record<string, string>): Record<string, string> {
  const everywhere = Object.fromEntries(
    HEADER_NAMES.map((name) => [name, name === 'cookie' ? canary('cookie') : canary('header')]),
  )
  return {
    ...everywhere,
    'idempotency-key': canary('idempotencyKey'),
    'x-setup-token': canary('setupToken'),
    'content-type': 'application/json',
    ...credential,
  }
}

const bodies = (): (string | undefined)[] => [
  undefined,
  JSON.stringify({ [canary('bodyName')]: canary('body') }),
  JSON.stringify({
    category: 'other',
    summary: canary('body'),
    details: `password: ${canary('body')}`,
    [canary('bodyName')]: 1,
  }),
  JSON.stringify({
    category: canary('body'),
    name: { [canary('bodyName')]: canary('body') },
    permissions: [canary('body')],
  }),
  JSON.stringify([canary('body')]),
  `{"a":"${canary('body')}`,
  `{"${canary('bodyName')}":1,"${canary('bodyName')}":2}`,
  `${'['.repeat(40)}"${canary('body')}"${']'.repeat(40)}`,
  `"${canary('body').repeat(3000)}"`,
]

interface Shot {
  readonly route: Route
  readonly url: string
  readonly body: string | undefined
  readonly credential: Record<string, string>
}

/** Everything with the genuine key; of the others, which are turned away before the body is read, one request each. */
function shotsAt(route: Route, genuine: Record<string, string>, others: readonly Record<string, string>[]): Shot[] {
  const at = (id: string): string => API_PREFIX[route.api] + route.path.replace(/:\w+/g, id)
  const path = at(canary('path'))
  const query = `?${canary('queryName')}=${canary('query')}&page=${canary('query')}&limit=${canary('query')}`
  const [none, ...some] = route.method === 'GET' ? [undefined] : bodies()
  const urls = [
    path,
    path + query,
    `${path}?page=${canary('query')}`,
    `${path}/${canary('path')}`,
    at(canary('path').repeat(6)),
    `${path}%zz${canary('path')}`,
  ]
  return [
    ...urls.map((url) => ({ route, url, body: none, credential: genuine })),
    ...some.map((body) => ({ route, url: path, body, credential: genuine })),
    ...others.map((credential) => ({ route, url: path + query, body: some[0], credential })),
  ]
}

/** A stream of events does not end by itself: its beginning is enough. */
async function textOf(answer: Response): Promise<string> {
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return answer.text()
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

async function fire({ route, url, body, credential }: Shot): Promise<void> {
  const answer = await fetch(h.url + url, {
    method: route.method,
    headers: headersOf(credential),
    ...(body !== undefined && { body }),
  })
  answers.push(`${JSON.stringify([...answer.headers])} ${await textOf(answer)}`)
}

const sendRaw = (text: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(h.url).port), '127.0.0.1', () => socket.end(text))
    socket.on('data', (chunk) => void answers.push(String(chunk)))
    socket.on('close', () => resolve())
    socket.on('error', () => resolve())
  })

/** One that is stored, where it belongs, and one that is refused for the secret in it. */
async function sendFeedback(): Promise<void> {
  const { client } = agent
  await client.feedback.send({ body: { category: 'other', summary: 'a wish', details: canary('feedback') } })
  await expect(
    client.feedback.send({ body: { category: 'other', summary: 'a leak', details: `it says ${agent.apiKey}` } }),
  ).rejects.toMatchObject({ code: 'feedback_contains_secret' })
}

/** Requests that break inside: the database refuses, and its error quotes what it was given. */
async function crash(): Promise<void> {
  await asSuperuser(h, (client) => client.query('alter table idempotency rename to idempotency_away'))
  try {
    for (const route of Object.values(api.agents).filter(({ method }) => method !== 'GET')) {
      const url = API_PREFIX.machine + route.path.replace(/:\w+/g, canary('path'))
      await fire({
        route,
        url,
        body: JSON.stringify({ name: canary('body'), permissions: [] }),
        credential: { 'x-api-key': agent.apiKey },
      })
    }
  } finally {
    await asSuperuser(h, (client) => client.query('alter table idempotency_away rename to idempotency'))
  }
}

/** What no client of ours would send. */
async function sendBrokenHttp(): Promise<void> {
  const me = 'GET /api/v1/machine/me HTTP/1.1'
  const key = `x-api-key: ${agent.apiKey}\r\nconnection: close`
  await sendRaw(`GET /${canary('path')} HTTP/9.9\r\n${canary('header')}\r\n\r\n`)
  await sendRaw(`${canary('path')} / HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  await sendRaw(`${me}\r\nhost: ${canary('header')}\r\n${key}\r\n\r\n`)
  await sendRaw(`${me}\r\nhost: localhost\r\nx: ${canary('header').repeat(400)}\r\n\r\n`)
  await sendRaw(`GET /api/v1/machine/me?${canary('query').repeat(80)} HTTP/1.1\r\nhost: localhost\r\n${key}\r\n\r\n`)
  await sendRaw(
    `POST /api/v1/machine/agent HTTP/1.1\r\nhost: localhost\r\n${key}\r\ncontent-type: ${canary('header')}\r\ncontent-length: 3\r\n\r\n"a"`,
  )
}

/** A text and the ways it could be written down. */
const formsOf = (text: string): string[] => {
  const bytes = Buffer.from(text)
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  // Inside a longer text base64 depends on where it starts: the part that does not change is searched for each of the starts.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift, 0x20), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [
    text,
    encodeURIComponent(text),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    percent,
    percent.toUpperCase(),
    ...base64,
    ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

const tablesAsText = (tables: readonly string[]): Promise<Record<string, string>> =>
  asSuperuser(h, async (client) => {
    const texts: [string, string][] = []
    for (const table of tables) {
      const { rows } = await client.query<{ text: string }>(
        `select coalesce(string_agg(t::text, E'\\n'), '') as text from ${table} t`,
      )
      texts.push([table, rows[0]?.text ?? ''])
    }
    return Object.fromEntries(texts)
  })

it('finds no secret of any request in log, audit, telemetry, metrics, idempotency rows or answers', async () => {
  const others = [
    {},
    { 'x-api-key': foreignKey },
    { 'x-api-key': canary('header') },
    { authorization: `Bearer ${canary('accessToken')}` },
    { authorization: canary('header') },
    { 'x-api-key': agent.apiKey, authorization: `Bearer ${canary('accessToken')}` },
  ]
  for (const route of routes) {
    // Past the limits, so that every request meets the code behind them.
    h.advance(60_000)
    await Promise.all(shotsAt(route, { 'x-api-key': agent.apiKey }, others).map(fire))
  }
  await sendBrokenHttp()
  await sendFeedback()
  await crash()
  const spans = JSON.stringify(h.deps.telemetry.spans?.take(100_000))
  await flushRequests(h.deps, h.worker)
  await sealAudit(h.deps, h.worker)

  const tables = await tablesAsText([
    'audit_event',
    'audit_seal',
    'audit_unsealed',
    'request_event',
    'metric_minute',
    'idempotency',
    'feedback',
    'login_attempt',
  ])
  const metrics = await (await fetch(`${h.url}/metrics`)).text()
  const places: Record<string, string> = { ...tables, log: lines.join(''), metrics, spans, answers: answers.join('\n') }
  // The search would find something if it were there.
  expect(places.log).toContain(agent.agentId)
  expect(places.audit_event).toContain(agent.agentId)
  expect(places.request_event).toContain(agent.agentId)
  expect(places.metrics).toContain('/api/v1/machine/me')
  expect(places.answers).toContain('internal_error')
  expect(places.log).toContain('internal_error')
  expect(answers.length).toBeGreaterThan(routes.length * others.length)

  const secrets = { ...CANARIES, apiSecret: secret, foreignSecret: foreignKey.split('.')[1] ?? '' }
  const hits = Object.entries(secrets).flatMap(([name, text]) =>
    Object.entries(places).flatMap(([place, content]) =>
      formsOf(text).flatMap((form) =>
        content.includes(form)
          ? [
              `${name} in ${place}: …${content.slice(Math.max(0, content.indexOf(form) - 80), content.indexOf(form) + 20)}`,
            ]
          : [],
      ),
    ),
  )
  expect(hits).toEqual([expect.stringMatching(/^feedback in feedback: /)])
}, 300_000)

it('knows every form it searches for', () => {
  const forms = formsOf('a secret/with+odd chars')
  for (const text of ['x', 'xy', 'xyz'].map((before) =>
    Buffer.from(`${before}a secret/with+odd chars and more`).toString('base64'),
  ))
    expect(forms.some((form) => text.includes(form))).toBe(true)
  expect(forms).toContain(Buffer.from('a secret/with+odd chars').toString('hex'))
})
