import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../test/process.ts'
import { benchCommerce } from './commerce.ts'
import { benchList, benchSearch } from './lists.ts'
import { type LoadProcess, type Measured, startLoad, startMeasured } from './processes.ts'
import {
  type Beside,
  type Contender,
  describe,
  describeBytes,
  describeRatio,
  megabytes,
  type Round,
  ratioOf,
  request,
  runRound,
  wait,
} from './rounds.ts'
import { countStatements } from './statements.ts'
import { makeVaultWorld } from './vault-world.ts'
import { benchCommits, benchReads, type Parts } from './vaults.ts'
import { makeWorld, type World } from './world.ts'

// What a request costs beside a bare Fastify route with one SELECT, in one run and in turns: these machines are noisy, ratios
// are not. The server is the one an operator starts: main.ts with its own PostgreSQL, log, telemetry, audit and limits. Of CPU
// times the best round counts, since other work on the machine only adds; the medians stand beside it. `npm run bench -- server commerce`
// does one part of it: requests, vaults or commerce.

const CONNECTIONS = 64
const POOL = 10
const ROUNDS = 16
const ROUND_MS = 1500
const REFUSALS_MS = 3000
const WARM_UP_MS = 6000
const IDLE_MS = 5000
const GOAL_RATIO = 2
const GOAL_IDLE_BYTES = 150_000_000
const GROWTH = { entries: 100_000, vaults: 1000, itemsPerVault: 10, listedItems: 10_000 }

/** The two take turns, so that what else the machine does hits both. */
async function benchMe(ours: Contender, bare: Contender, load: LoadProcess): Promise<string[]> {
  const options = { connections: CONNECTIONS, milliseconds: ROUND_MS }
  for (const contender of [bare, ours]) await runRound(contender, load, { ...options, milliseconds: WARM_UP_MS })
  const [own, other]: [Round[], Round[]] = [[], []]
  for (let i = 0; i < ROUNDS; i++) {
    other.push(await runRound(bare, load, options))
    own.push(await runRound(ours, load, options))
  }
  return [
    `${CONNECTIONS} connections, ${ROUNDS} rounds of ${ROUND_MS / 1000} s in turn, for one request:`,
    describe('bare Fastify, one SELECT', other),
    describe('GET /api/v1/machine/me', own),
    describeRatio(ratioOf(own, other), GOAL_RATIO),
  ]
}

/** Most are over the limit of their address soon; an attacker's requests are, too. */
async function benchRefusals(ours: Contender, world: World, load: LoadProcess): Promise<string[]> {
  const { server, data, requests } = ours
  const kinds = [
    ['no credential', []],
    ['a mistyped key', [`x-api-key: ${(world.apiKeys[0] as string).slice(0, -1)}-`]],
    ['a token of no known form', ['authorization: Bearer none']],
  ] as const
  const single = { port: server.port, connections: 1, milliseconds: 1, requests: requests.slice(0, 1) }
  const lines: string[] = ['refused without a known principal:']
  for (const [name, headers] of kinds) {
    const refused: Contender = { server, data, requests: [request('/api/v1/machine/me', headers)], status: [401, 429] }
    const counted = await countStatements(world.admin, data, () => load.apply(single))
    const round = await runRound(refused, load, { connections: CONNECTIONS, milliseconds: REFUSALS_MS })
    const statements = counted.read()
    await counted.stop()
    const verdict = `goal 0: ${statements === 0 ? 'met' : 'missed'}`
    lines.push(
      `  ${`${name}:`.padEnd(26)} ${round.cpu.toFixed(0).padStart(4)} µs CPU; ${round.perSecond.toFixed(0)} requests/s; ${statements} statements for ${round.count} requests (${verdict})`,
    )
  }
  return lines
}

type Stops = (() => unknown)[]

async function startServer(data: string, stops: Stops): Promise<Measured> {
  const args = ['--data', data, '--port', String(await freePort())]
  // The receivers of webhooks are on this machine.
  const env = { STRONGROOM_EGRESS_ALLOW: '127.0.0.0/8' }
  const server = await startMeasured({ program: '../src/main.ts', args, env, logFile: join(data, 'log') })
  stops.push(server.stop)
  return server
}

interface Started {
  readonly server: Measured
  readonly world: World
  readonly idleBytes: number
  readonly bareServer: Measured
  readonly bare: Contender
  readonly load: LoadProcess
  readonly beside: Beside
}

async function startAll(data: string, stops: Stops): Promise<Started> {
  const server = await startServer(data, stops)
  await wait(IDLE_MS)
  const { rssBytes: idleBytes } = await server.usage()
  const world = await makeWorld(data)
  stops.push(world.close)
  const env = { BENCH_URL: world.bareUrl, BENCH_POOL: String(POOL) }
  const bareServer = await startMeasured({ program: './bare.ts', env, logFile: join(data, 'bare.log') })
  stops.push(bareServer.stop)
  const [load, loadBeside] = [startLoad(), startLoad()]
  stops.push(load.stop, loadBeside.stop)
  const requests = world.bareKeys.map((key) => request(`/rows/${key}`))
  const bare: Contender = { server: bareServer, data, requests, status: [200] }
  return { server, world, idleBytes, bareServer, bare, load, beside: { bare, load: loadBeside } }
}

const say = (lines: readonly string[]): void => {
  for (const line of lines) console.log(line)
}

async function benchRequests({ server, world, bare, load }: Started, data: string): Promise<void> {
  const requests = world.apiKeys.map((key) => request('/api/v1/machine/me', [`x-api-key: ${key}`]))
  const ours: Contender = { server, data, requests, status: [200] }
  say(await benchMe(ours, bare, load))
  say(await benchRefusals(ours, world, load))
}

async function benchVaults({ server, bare, load, beside }: Started, data: string, largeData: string, stops: Stops) {
  const small = { server, data, world: await makeVaultWorld(data) }
  const largeServer = await startServer(largeData, stops)
  const start = performance.now()
  const large = { server: largeServer, data: largeData, world: await makeVaultWorld(largeData, GROWTH) }
  const { entries, vaults, itemsPerVault, listedItems } = GROWTH
  const elsewhere = `${vaults} vaults and ${vaults * itemsPerVault} items elsewhere`
  say([`the large organisation has ${entries} log entries, ${elsewhere} (made in ${seconds(start)} s)`])
  const parts: Parts = { bare, small, large, load, beside }
  say(await benchList(large))
  say(await benchReads(parts))
  say(await benchCommits(parts))
  say(await benchSearch(large, `${vaults + 1} vaults with ${vaults * itemsPerVault + listedItems} items`))
  say([`RSS of the API process of the large organisation: ${megabytes((await largeServer.usage()).rssBytes)}`])
}

const seconds = (start: number): string => ((performance.now() - start) / 1000).toFixed(0)

const [, , ...asked] = process.argv
const isAsked = (part: string): boolean => asked.length === 0 || asked.includes(part)

async function benchServer(data: string, largeData: string): Promise<void> {
  const stops: Stops = []
  const [processor] = cpus()
  say([`Node ${process.version}, PostgreSQL of its own, ${cpus().length} × ${processor?.model}, ${process.platform}`])
  try {
    const started = await startAll(data, stops)
    const { server, bareServer, idleBytes } = started
    if (isAsked('requests')) {
      await benchRequests(started, data)
      const [own, bare] = [await server.usage(), await bareServer.usage()]
      say([
        `RSS of the API process: ${describeBytes(idleBytes, GOAL_IDLE_BYTES)} idle; ${megabytes(own.rssBytes)} after the load (bare: ${megabytes(bare.rssBytes)})`,
      ])
    }
    if (isAsked('vaults')) await benchVaults(started, data, largeData, stops)
    if (isAsked('commerce')) await benchCommerce({ ...started, data }, say)
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

const directories = [mkdtempSync(join(tmpdir(), 'sr-bench-')), mkdtempSync(join(tmpdir(), 'sr-bench-large-'))] as const
try {
  await benchServer(...directories)
} finally {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
}
