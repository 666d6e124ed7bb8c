import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError, type Client, connect, createClient } from '@strongroom/sdk'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type EmbeddedPostgres, startEmbedded } from '../src/postgres/embedded.ts'
import { makeLogMonitor } from './crash/checks/log.ts'
import { killPostgres } from './crash/kill-postgres.ts'
import { makeRandom } from './crash/random.ts'
import { makeWorld, type World } from './crash/world.ts'
import { members } from './crash/writers/members.ts'
import { codeOf } from './people.ts'
import { freePort, runServer, type ServerProcess } from './process.ts'

// Two server processes on one PostgreSQL of the operator's, durable as in production. Catches: what a process remembers of what
// another one may change, a log that only one process can append to, a stop that cuts off requests, a server that does not outlive
// its database. Seen red: an append without the lock on its log; an exit at once on SIGTERM; nobody listening to connections in
// use (the process ended); a broken connection answered with 500; the lock file of PostgreSQL removed at every start.

const rootKey = Buffer.alloc(32, 9).toString('base64url')
const directory = mkdtempSync(join(tmpdir(), 'sr-procs-'))
let postgres: EmbeddedPostgres
let databaseUrl: string
let first: ServerProcess
let second: ServerProcess
let world: World

/** What docs/how-to/self-host.md asks of an operator: a login, its database, and the two roles. */
async function prepare({ socketDirectory, port, superuserPassword }: EmbeddedPostgres): Promise<string> {
  const host = socketDirectory
  const admin = new pg.Client({ host, port, user: 'postgres', password: superuserPassword, database: 'postgres' })
  await admin.connect()
  for (const statement of [
    'create role strongroom_app',
    'create role strongroom_worker',
    `create role operator login nosuperuser nobypassrls password 'words'`,
    'grant strongroom_app, strongroom_worker to operator',
    'create database strongroom owner operator',
  ])
    await admin.query(statement)
  await admin.end()
  return `postgres://operator:words@/strongroom?host=${encodeURIComponent(host)}&port=${port}`
}

const started: ServerProcess[] = []
async function start(): Promise<ServerProcess> {
  const server = await runServer({
    data: mkdtempSync(join(directory, 'server-')),
    port: await freePort(),
    env: { DATABASE_URL: databaseUrl, STRONGROOM_ROOT_KEY: rootKey },
  })
  started.push(server)
  return server
}

/** Printed after the line that says that it is ready. */
async function setupTokenOf({ output }: ServerProcess): Promise<string> {
  for (;;) {
    const [, token] = /setup token\s+(\S+)\n/.exec(output()) ?? []
    if (token !== undefined) return token
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
const onBoth = (apiKey: string): [Client, Client] => [
  createClient({ baseUrl: first.url, apiKey }),
  createClient({ baseUrl: second.url, apiKey }),
]
const founderOn = ({ url }: ServerProcess): Client =>
  connect({ baseUrl: url }, { accessToken: world.founder.accessToken })

beforeAll(async () => {
  postgres = await startEmbedded({ dataDirectory: directory })
  databaseUrl = await prepare(postgres)
  // Both migrate the empty database at once, and one of them waits.
  ;[first, second] = await Promise.all([start(), start()])
  const [one, other] = await Promise.all([setupTokenOf(first), setupTokenOf(second)])
  const found = (setupToken: string): Promise<World> =>
    makeWorld({ type: 'start', url: first.url, setupToken, dataDirectory: directory, seed: 1 })
  // The newest token counts, and nobody knows which of the two it is.
  world = await found(one).catch(() => found(other))
})
afterAll(async () => {
  await Promise.all(started.map((server) => server.end('SIGKILL')))
  await postgres.stop()
  rmSync(directory, { recursive: true, force: true })
})

it('shows what was written through one process through the other at once, and revokes for both', async () => {
  for (let i = 0; i < 10; i++) {
    const [writing, reading] = i % 2 === 0 ? [first, second] : [second, first]
    const body = { name: `seen ${i}`, permissions: [] }
    const { agent, apiKey: old } = await founderOn(writing).agents.create({ body })
    const params = { id: agent.agentId }
    expect(await founderOn(reading).agents.get({ params })).toEqual({ agent })
    for (const client of onBoth(old ?? '')) expect((await client.agents.me()).agent).toEqual(agent)

    const { apiKey } = await founderOn(writing).agents.regenerateApiKey({ params })
    for (const client of onBoth(old ?? '').reverse()) expect(await codeOf(client.agents.me())).toBe('invalid_api_key')
    for (const client of onBoth(apiKey ?? '')) expect((await client.agents.me()).agent.agentId).toBe(agent.agentId)
    await founderOn(reading).agents.archive({ params })
    for (const client of onBoth(apiKey ?? '')) expect(await codeOf(client.agents.me())).toBe('invalid_api_key')
  }
})

it('appends to one log through both at once, without a gap and with one root for each size', async () => {
  let turn = 0
  const both = [founderOn(first), founderOn(second)]
  const shared: World = { ...world, session: () => both[turn++ % 2] as Client }
  const writer = await members.open(shared)
  const log = makeLogMonitor(shared)
  world.journal.run()
  await Promise.all(Array.from({ length: 12 }, (_, i) => writer.round(makeRandom(i), `joining ${i}`)))
  expect(world.journal.takeRefusals()).toEqual([])
  expect(world.journal.tally.byAction.get('invite.endorse')).toBe(12)
  expect(await log.check()).toEqual([])
  expect(await writer.check()).toEqual([])
})

it('finishes what is under way when told to stop, within 15 seconds, while the other goes on', async () => {
  const doomed = await start()
  const client = founderOn(doomed)
  // Connections that are open and idle: what is sent on them arrives at once.
  await Promise.all(Array.from({ length: 30 }, () => client.tenants.list()))
  let answered = 0
  const writes = Array.from({ length: 30 }, async (_, i) => {
    const agent = await client.agents.create({ body: { name: `last words ${i}`, permissions: [] } })
    answered++
    return agent
  })
  await Promise.race(writes)
  const open = writes.length - answered
  const from = Date.now()
  const stopped = doomed.end('SIGTERM')
  const made = await Promise.all(writes)
  expect(await stopped).toBe(0)
  expect(Date.now() - from).toBeLessThan(15_000)
  expect(open).toBeGreaterThan(8)
  const { agents } = await founderOn(second).agents.list()
  const there = new Set(agents.map(({ agentId }) => agentId))
  expect(made.every(({ agent }) => there.has(agent.agentId))).toBe(true)
})

it('goes on through one process when the other is killed in the middle of writes', async () => {
  const doomed = await start()
  const writes = Array.from({ length: 20 }, (_, i) =>
    founderOn(doomed)
      .agents.create({ body: { name: `cut off ${i}`, permissions: [] } })
      .catch(() => undefined),
  )
  await Promise.race(writes)
  expect(await doomed.end('SIGKILL')).toBe('SIGKILL')
  const acknowledged = (await Promise.all(writes)).filter((answer) => answer !== undefined)
  // Nothing the dead one held is waited for: every name can be written at once.
  for (let i = 0; i < writes.length; i++)
    await founderOn(second)
      .agents.create({ body: { name: `cut off ${i}`, permissions: [] } })
      .catch((error: ApiError) => expect(error.code).toBe('name_taken'))
  const { agents } = await founderOn(second).agents.list()
  for (const { agent } of acknowledged) expect(agents).toContainEqual(agent)
  expect(agents.filter(({ name }) => name.startsWith('cut off'))).toHaveLength(writes.length)
})

it('answers 503 with Retry-After while PostgreSQL is gone, and recovers by itself when it is back', async () => {
  const body = { name: 'kept', permissions: [] }
  const { agent, apiKey } = await founderOn(first).agents.create({ body })
  // Transactions are open when it goes. Each is answered by somebody who is still there.
  const writing = [first, second].flatMap((server) => Array.from({ length: 30 }, (_, i) => ({ server, i })))
  const outcomes = writing.map(({ server, i }) =>
    founderOn(server)
      .agents.create({ body: { name: `torn ${server.url} ${i}`, permissions: [] } })
      .then(
        () => 'made',
        (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
      ),
  )
  await Promise.race(outcomes)
  killPostgres(postgres.pid)
  await postgres.died
  const kinds = new Set(await Promise.all(outcomes))
  // Where it broke at the audit row, that is what is said.
  kinds.delete('audit_unavailable')
  expect([...kinds].sort()).toEqual(['made', 'not_ready'])
  for (const { url } of [first, second]) {
    const answers = await Promise.all([
      fetch(`${url}/readyz`),
      fetch(`${url}/api/v1/machine/me`, { headers: { 'x-api-key': apiKey ?? '' } }),
      fetch(`${url}/healthz`),
    ])
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 200])
    for (const answer of answers.slice(0, 2)) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    const refusal = await founderOn({ url } as ServerProcess)
      .agents.create({ body: { name: 'not now', permissions: [] } })
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ApiError)
    expect(refusal).toMatchObject({ status: 503, code: 'not_ready', retryAfter: 2 })
  }
  postgres = await startEmbedded({ dataDirectory: directory })
  for (const server of [first, second]) {
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status, { timeout: 20_000 }).toBe(200)
    expect(await founderOn(server).agents.get({ params: { id: agent.agentId } })).toEqual({ agent })
  }
  await founderOn(first).agents.create({ body: { name: 'not now', permissions: [] } })
})

/** One that has ended stays in the list until somebody collects it. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`
  return existsSync(file) && /\) [^ZX]/.test(readFileSync(file, 'utf8'))
}

it('does not start PostgreSQL beside children of a killed one that still work', async () => {
  const { socketDirectory: host, port, superuserPassword: password } = postgres
  const [worker, watcher] = [1, 2].map(() => new pg.Client({ host, port, user: 'postgres', password })) as [
    pg.Client,
    pg.Client,
  ]
  for (const client of [worker, watcher]) {
    client.on('error', () => undefined)
    await client.connect()
  }
  const { rows } = await worker.query<{ pid: number }>('select pg_backend_pid() as pid')
  const child = rows[0]?.pid ?? 0
  // Busy, so that it does not notice that its parent is gone.
  const busy = worker.query('select count(*) from generate_series(1, 8000000)').catch(() => undefined)
  const isBusy = `select 1 from pg_stat_activity where pid = $1 and state = 'active' and query like '%series%'`
  await expect.poll(async () => (await watcher.query(isBusy, [child])).rowCount).toBe(1)
  process.kill(postgres.pid, 'SIGKILL')
  await postgres.died
  expect(isRunning(child)).toBe(true)
  postgres = await startEmbedded({ dataDirectory: directory })
  expect(isRunning(child)).toBe(false)
  await busy
})
