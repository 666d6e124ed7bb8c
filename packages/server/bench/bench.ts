import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../test/process.ts'
import type { LoadResult } from './load.ts'
import { type LoadProcess, type Measured, postgresMicroseconds, startLoad, startMeasured } from './processes.ts'
import { countStatements } from './statements.ts'
import { makeWorld, type World } from './world.ts'

// What a request costs beside a bare Fastify route with one SELECT, in one run and in turns: these machines are noisy, ratios
// are not. The server is the one an operator starts: main.ts with its own PostgreSQL, log, telemetry, audit and limits.

const CONNECTIONS = 64
const POOL = 10
const ROUNDS = 16
const ROUND_MS = 1500
const REFUSALS_MS = 3000
const WARM_UP_MS = 6000
/** Telemetry of a round is written after it, and belongs to it. */
const SETTLE_MS = 700
const IDLE_MS = 5000
const GOAL_RATIO = 2
const GOAL_IDLE_BYTES = 150_000_000

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number

interface Contender {
  readonly server: Measured
  readonly requests: readonly string[]
  /** The status each answer must have. */
  readonly status: readonly number[]
}

interface Round {
  readonly cpu: number
  readonly postgres: number | undefined
  readonly perSecond: number
  readonly bodyBytes: number
  readonly answers: LoadResult['answers']
}

const request = (path: string, headers: readonly string[] = []): string =>
  [`GET ${path} HTTP/1.1`, 'host: 127.0.0.1', 'user-agent: bench/1.0', ...headers, '', ''].join('\r\n')

async function runRound(
  { server, requests, status }: Contender,
  load: LoadProcess,
  data: string,
  milliseconds = ROUND_MS,
): Promise<Round> {
  const [before, postgresBefore] = [await server.usage(), postgresMicroseconds(data)]
  const { answers, bodyBytes, seconds } = await load.apply({
    port: server.port,
    connections: CONNECTIONS,
    milliseconds,
    requests,
  })
  await wait(SETTLE_MS)
  const [after, postgresAfter] = [await server.usage(), postgresMicroseconds(data)]
  const wrong = Object.keys(answers).filter((given) => !status.includes(Number(given)))
  if (wrong.length > 0) throw new Error(`unexpected answers: ${JSON.stringify(answers)}`)
  const count = Object.values(answers).reduce((sum, own) => sum + own, 0)
  return {
    cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / count,
    postgres: postgresAfter === undefined ? undefined : (postgresAfter - (postgresBefore ?? 0)) / count,
    perSecond: count / seconds,
    bodyBytes: bodyBytes / count,
    answers,
  }
}

function describe(name: string, rounds: readonly Round[]): string {
  const of = (value: (round: Round) => number): number => median(rounds.map(value))
  const postgres = rounds.every((round) => round.postgres !== undefined)
    ? `; PostgreSQL ${of(({ postgres = 0 }) => postgres).toFixed(0)} µs`
    : ''
  const [cpu, perSecond, bytes] = [of(({ cpu }) => cpu), of((round) => round.perSecond), of((round) => round.bodyBytes)]
  const both = `${bestOf(rounds).toFixed(0).padStart(4)} µs CPU (median ${cpu.toFixed(0)})`
  return `  ${name.padEnd(26)} ${both}${postgres}; ${perSecond.toFixed(0)} requests/s; ${bytes.toFixed(0)} bytes`
}

/** Other work on the machine only adds. */
const bestOf = (rounds: readonly Round[]): number => Math.min(...rounds.map(({ cpu }) => cpu))

/** The two take turns, so that what else the machine does hits both. */
async function benchMe(ours: Contender, bare: Contender, load: LoadProcess, data: string): Promise<string[]> {
  for (const contender of [bare, ours]) await runRound(contender, load, data, WARM_UP_MS)
  const rounds: { ours: Round; bare: Round }[] = []
  for (let i = 0; i < ROUNDS; i++) {
    rounds.push({ bare: await runRound(bare, load, data), ours: await runRound(ours, load, data) })
  }
  const [allOurs, allBare] = [rounds.map((round) => round.ours), rounds.map((round) => round.bare)]
  const ratio = bestOf(allOurs) / bestOf(allBare)
  const ofMedians = median(allOurs.map(({ cpu }) => cpu)) / median(allBare.map(({ cpu }) => cpu))
  return [
    `${CONNECTIONS} connections, ${ROUNDS} rounds of ${ROUND_MS / 1000} s in turn, for one request:`,
    describe('bare Fastify, one SELECT:', allBare),
    describe('GET /api/v1/machine/me:', allOurs),
    `  ratio ${ratio.toFixed(2)} (of medians ${ofMedians.toFixed(2)}; goal ≤ ${GOAL_RATIO.toFixed(1)}: ${ratio <= GOAL_RATIO ? 'met' : 'missed'})`,
  ]
}

/** Most are over the limit of their address soon; an attacker's requests are, too. */
async function benchRefusals(ours: Contender, world: World, load: LoadProcess, data: string): Promise<string[]> {
  const { server, requests } = ours
  const kinds = [
    ['no credential', []],
    ['a mistyped key', [`x-api-key: ${(world.apiKeys[0] as string).slice(0, -1)}-`]],
    ['a token of no known form', ['authorization: Bearer none']],
  ] as const
  const single = { port: server.port, connections: 1, milliseconds: 1, requests: requests.slice(0, 1) }
  const lines: string[] = ['refused without a known principal:']
  for (const [name, headers] of kinds) {
    const refused: Contender = { server, requests: [request('/api/v1/machine/me', headers)], status: [401, 429] }
    const counted = await countStatements(world.admin, data, () => load.apply(single))
    const round = await runRound(refused, load, data, REFUSALS_MS)
    const statements = counted.read()
    await counted.stop()
    const count = Object.values(round.answers).reduce((sum, own) => sum + own, 0)
    const verdict = `goal 0: ${statements === 0 ? 'met' : 'missed'}`
    lines.push(
      `  ${`${name}:`.padEnd(26)} ${round.cpu.toFixed(0).padStart(4)} µs CPU; ${round.perSecond.toFixed(0)} requests/s; ${statements} statements for ${count} requests (${verdict})`,
    )
  }
  return lines
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`

async function benchServer(data: string): Promise<void> {
  const stops: (() => unknown)[] = []
  try {
    const server = await startMeasured({
      program: '../src/main.ts',
      args: ['--data', data, '--port', String(await freePort())],
      logFile: join(data, 'log'),
    })
    stops.push(server.stop)
    await wait(IDLE_MS)
    const { rssBytes: idle } = await server.usage()
    const world = await makeWorld(data)
    stops.push(world.close)
    const bareServer = await startMeasured({
      program: './bare.ts',
      env: { BENCH_URL: world.bareUrl, BENCH_POOL: String(POOL) },
      logFile: join(data, 'bare.log'),
    })
    stops.push(bareServer.stop)
    const load = startLoad()
    stops.push(load.stop)
    const ours: Contender = {
      server,
      requests: world.apiKeys.map((key) => request('/api/v1/machine/me', [`x-api-key: ${key}`])),
      status: [200],
    }
    const bare: Contender = {
      server: bareServer,
      requests: world.bareKeys.map((key) => request(`/rows/${key}`)),
      status: [200],
    }
    for (const line of await benchMe(ours, bare, load, data)) console.log(line)
    const { rssBytes: loaded } = await server.usage()
    for (const line of await benchRefusals(ours, world, load, data)) console.log(line)
    console.log(
      `RSS of the API process: ${megabytes(idle)} idle (goal ≤ ${megabytes(GOAL_IDLE_BYTES)}: ${idle <= GOAL_IDLE_BYTES ? 'met' : 'missed'}); ${megabytes(loaded)} after the load (bare: ${megabytes((await bareServer.usage()).rssBytes)})`,
    )
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

const data = mkdtempSync(join(tmpdir(), 'sr-bench-'))
try {
  await benchServer(data)
} finally {
  rmSync(data, { recursive: true, force: true })
}
