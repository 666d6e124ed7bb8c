import { nextCommit } from './org-vaults.ts'
import { commitSignatures } from './primitives.ts'
import type { LoadProcess, Measured } from './processes.ts'
import {
  type Beside,
  bestOf,
  type Contender,
  describe,
  describeRatio,
  type Meanwhile,
  medianOf,
  NO_END,
  type Pairs,
  type Round,
  ratioOf,
  request,
  runBeside,
  runRound,
} from './rounds.ts'
import { oneField, type VaultWorld, verifiedRead, WRITERS } from './vault-world.ts'

// What vaults cost beside the bare route, in a small organisation and in a large one: two servers with a database each, in turns.

export interface Subject {
  readonly server: Measured
  readonly data: string
  readonly world: VaultWorld
}

const CONNECTIONS = 64
const READ_ROUNDS = 10
const ROUND_MS = 1500
/** A server goes on getting quicker for so long: V8 compiles what it has seen fifty thousand times once more. */
const WARM_UP_MS = 20_000
const COMMIT_ROUNDS = 6
const COMMITS_PER_ROUND = 10
const WARM_UP_COMMITS = 15
const LIMIT_READ = 2.5
const LIMIT_GROWN = 1.3
const LIMIT_COMMIT = 6

const FIELDS = 50

const reading = ({ server, data, world }: Subject): Contender => ({
  server,
  data,
  requests: world.readers.map(({ apiKey, vault }) =>
    request(`/api/v1/machine/vault/${vault.vaultId}/environment-fields?include=wrapped-key,signers`, [
      `x-api-key: ${apiKey}`,
    ]),
  ),
  status: [200],
})

async function ensureProven({ server, world }: Subject): Promise<void> {
  for (const reader of [world.readers[0], world.readers.at(-1)]) {
    if (!reader) throw new Error('nobody reads')
    const count = await verifiedRead(`http://127.0.0.1:${server.port}`, world, reader)
    if (count !== FIELDS) throw new Error(`${count} fields were read`)
  }
}

interface Turns {
  readonly bare: Round[]
  readonly small: Round[]
  readonly large: Round[]
}

async function inTurns(count: number, run: (name: keyof Turns) => Promise<Round>): Promise<Turns> {
  const turns: Turns = { bare: [], small: [], large: [] }
  for (let i = 0; i < count; i++)
    for (const name of ['bare', 'small', 'large'] as const) turns[name].push(await run(name))
  return turns
}

export interface Parts {
  readonly bare: Contender
  readonly small: Subject
  readonly large: Subject
  readonly load: LoadProcess
  readonly beside: Beside
}

/** The bare route asked at the same time, and as often as those who were measured in turn. */
async function atOnce(
  { beside }: Parts,
  inTurn: readonly Round[],
  limit: number,
  run: (meanwhile: Meanwhile) => Promise<Round>,
): Promise<string[]> {
  const perSecond = medianOf(inTurn, (round) => round.perSecond)
  const pairs: Pairs = { own: [], bare: [] }
  for (const _ of inTurn) await runBeside(beside, pairs, { connections: CONNECTIONS, perSecond }, run)
  return [
    describe('the bare route at the same time, as often', pairs.bare),
    describe('beside it', pairs.own),
    describeRatio(ratioOf(pairs.own, pairs.bare), limit),
  ]
}

export async function benchReads(parts: Parts): Promise<string[]> {
  const { bare, small, large, load } = parts
  const contenders = { bare, small: reading(small), large: reading(large) }
  for (const subject of [small, large]) await ensureProven(subject)
  for (const contender of Object.values(contenders))
    await runRound(contender, load, { connections: CONNECTIONS, milliseconds: WARM_UP_MS })
  const options = { connections: CONNECTIONS, milliseconds: ROUND_MS }
  const turns = await inTurns(READ_ROUNDS, (name) => runRound(contenders[name], load, options))
  const lines = [
    `environment-fields of ${FIELDS} fields with proofs, signers and wrapped key; ${CONNECTIONS} connections, ${READ_ROUNDS} rounds in turn, for one request:`,
    describe('bare Fastify, one SELECT', turns.bare),
    describe(`organisation of ${small.world.entries} log entries`, turns.small),
    describeRatio(ratioOf(turns.small, turns.bare), LIMIT_READ),
    describe(`organisation of ${large.world.entries} log entries`, turns.large),
    describeRatio(ratioOf(turns.large, turns.small), LIMIT_GROWN, 'the small one'),
  ]
  const beside = await atOnce(parts, turns.small, LIMIT_READ, (meanwhile) =>
    runRound(contenders.small, load, { ...options, meanwhile }),
  )
  return [...lines, ...beside, ...(await byConnections(contenders.large, load))]
}

async function byConnections(contender: Contender, load: LoadProcess): Promise<string[]> {
  const said: string[] = []
  for (const connections of [1, 16, 64]) {
    const { perSecond } = await runRound(contender, load, { connections, milliseconds: ROUND_MS })
    said.push(`${perSecond.toFixed(0)} at ${connections}`)
  }
  return [`  requests/s by connections: ${said.join(', ')}`]
}

const post = (path: string, apiKey: string, key: string, body: string): string =>
  [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'user-agent: bench/1.0',
    `x-api-key: ${apiKey}`,
    `idempotency-key: ${key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')

/** For each writer the next commits of its vault, each on top of the one before. */
async function chainsOf({ world }: Subject, connections: number, length: number, turn: number): Promise<string[][]> {
  const chains = []
  for (const { agent, vault } of world.writers.slice(0, connections)) {
    const chain = []
    for (let i = 0; i < length; i++) {
      const commit = await nextCommit(world.orgId, vault, [oneField(vault, i)])
      const key = `bench-${turn}-${i}-${vault.vaultId}`
      chain.push(post(`/api/v1/machine/vault/${vault.vaultId}/commits`, agent.apiKey, key, JSON.stringify({ commit })))
    }
    chains.push(chain)
  }
  return chains
}

let turn = 0

export async function commitRound(
  subject: Subject,
  load: LoadProcess,
  length = COMMITS_PER_ROUND,
  connections = WRITERS,
  meanwhile?: Meanwhile,
): Promise<Round> {
  const chains = await chainsOf(subject, connections, length, turn++)
  const contender: Contender = { server: subject.server, data: subject.data, requests: [], status: [201] }
  return runRound(contender, load, { connections, milliseconds: NO_END, chains, meanwhile })
}

export async function benchCommits(parts: Parts): Promise<string[]> {
  const { bare, small, large, load } = parts
  for (const subject of [small, large]) await commitRound(subject, load, WARM_UP_COMMITS)
  const options = { connections: CONNECTIONS, milliseconds: ROUND_MS }
  const turns = await inTurns(COMMIT_ROUNDS, (name) =>
    name === 'bare' ? runRound(bare, load, options) : commitRound(name === 'small' ? small : large, load),
  )
  for (const subject of [small, large]) await ensureProven(subject)
  const beside = await atOnce(parts, turns.small, LIMIT_COMMIT, (meanwhile) =>
    commitRound(small, load, COMMITS_PER_ROUND, WRITERS, meanwhile),
  )
  const said: string[] = []
  for (const connections of [1, 16, 64]) {
    const length = connections === 1 ? 400 : COMMITS_PER_ROUND
    const { perSecond } = await commitRound(large, load, length, connections)
    said.push(`${perSecond.toFixed(0)} at ${connections}`)
  }
  const signatures = commitSignatures()
  return [
    `commit of one field into a vault of ${FIELDS}; ${WRITERS} writers of one organisation with a vault each, ${COMMIT_ROUNDS} rounds in turn:`,
    describe('bare Fastify, one SELECT', turns.bare),
    describe(`organisation of ${small.world.entries} log entries`, turns.small),
    describeRatio(ratioOf(turns.small, turns.bare), LIMIT_COMMIT),
    describe(`organisation of ${large.world.entries} log entries`, turns.large),
    describeRatio(ratioOf(turns.large, turns.small), LIMIT_GROWN, 'the small one'),
    ...beside,
    `  its two signatures verified and its checkpoint signed, alone: ${signatures.toFixed(0)} µs, ${(signatures / bestOf(turns.bare)).toFixed(2)} × baseline`,
    `  commits/s by connections: ${said.join(', ')}`,
  ]
}
