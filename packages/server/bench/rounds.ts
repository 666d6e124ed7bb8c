import type { LoadResult } from './load.ts'
import { type LoadProcess, type Measured, postgresMicroseconds } from './processes.ts'

// One round: load on one server, and what the server and its PostgreSQL used for a request. Contenders take turns, so that what
// else the machine does hits all of them.

/** Telemetry of a round is written after it, and belongs to it. */
const SETTLE_MS = 700

export interface Contender {
  readonly server: Measured
  /** The data directory of its PostgreSQL. */
  readonly data: string
  readonly requests: readonly string[]
  /** The status each answer must have. */
  readonly status: readonly number[]
}

export interface Round {
  readonly cpu: number
  readonly postgres: number | undefined
  readonly perSecond: number
  /** From the first request until telemetry was written. */
  readonly seconds: number
  readonly bodyBytes: number
  readonly count: number
  /** Requests that the server told to come again. */
  readonly again: number
  readonly answers: LoadResult['answers']
  /** Of each chain, how many requests were answered. */
  readonly taken: readonly number[]
}

/** For rounds that end with their last answer. */
export const NO_END = 120_000

export interface RoundOptions {
  readonly connections: number
  readonly milliseconds: number
  /** For requests that follow one another: each connection has its own and keeps to their order. */
  readonly chains?: readonly (readonly string[])[]
  readonly perSecond?: number
  readonly meanwhile?: Meanwhile | undefined
}

/** What goes on from the first request to the last answer. */
export interface Meanwhile {
  begin(): void
  end(): void
}

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] as number

/** Other work on the machine only adds. */
export const bestOf = (rounds: readonly Round[]): number => Math.min(...rounds.map(({ cpu }) => cpu))
export const medianOf = (rounds: readonly Round[], value: (round: Round) => number): number => median(rounds.map(value))

export const request = (path: string, headers: readonly string[] = []): string =>
  [`GET ${path} HTTP/1.1`, 'host: 127.0.0.1', 'user-agent: bench/1.0', ...headers, '', ''].join('\r\n')

export async function runRound(
  { server, data, requests, status }: Contender,
  load: LoadProcess,
  options: RoundOptions,
): Promise<Round> {
  const [before, postgresBefore] = [await server.usage(), postgresMicroseconds(data)]
  const { meanwhile, ...how } = options
  meanwhile?.begin()
  const { answers, bodyBytes, seconds, taken } = await load.apply({ port: server.port, requests, ...how })
  meanwhile?.end()
  await wait(SETTLE_MS)
  const [after, postgresAfter] = [await server.usage(), postgresMicroseconds(data)]
  const given = Object.entries(answers).map(([code, times]) => ({ code: Number(code), times }))
  // Told to come again, and answered when it did.
  const again = options.chains ? (answers[503] ?? 0) : 0
  const isWrong = given.some(({ code }) => !status.includes(code) && !(again > 0 && code === 503))
  if (isWrong) throw new Error(`unexpected answers: ${JSON.stringify(answers)}`)
  const count = given.reduce((sum, { times }) => sum + times, -again)
  return {
    cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / count,
    postgres: postgresAfter === undefined ? undefined : (postgresAfter - (postgresBefore ?? 0)) / count,
    perSecond: count / seconds,
    seconds: seconds + SETTLE_MS / 1000,
    bodyBytes: bodyBytes / count,
    count,
    again,
    answers,
    taken,
  }
}

/** With a load of its own, so that neither waits for the other. */
export interface Beside {
  readonly bare: Contender
  readonly load: LoadProcess
}

export interface Pairs {
  readonly own: Round[]
  readonly bare: Round[]
}

/** Of two at once it cannot be told apart. */
const withoutPostgres = (round: Round): Round => ({ ...round, postgres: undefined })

/**
 * Runs a round, and as long as it takes asks the bare route as often. A request that comes seldom costs a process several times what it
 * costs in a stream of them, and the bare route in a round of its own is asked as fast as it can answer.
 */
export async function runBeside(
  { bare, load }: Beside,
  pairs: Pairs,
  { connections, perSecond }: { readonly connections: number; readonly perSecond: number },
  round: (meanwhile: Meanwhile) => Promise<Round>,
): Promise<void> {
  let asked: Promise<Round> | undefined
  const begin = (): void => {
    asked = runRound(bare, load, { connections, milliseconds: NO_END, perSecond })
  }
  const own = await round({ begin, end: load.enough })
  if (!asked) throw new Error('a round without its beginning')
  pairs.own.push(withoutPostgres(own))
  pairs.bare.push(withoutPostgres(await asked))
}

export function describe(name: string, rounds: readonly Round[]): string {
  const postgres = rounds.every((round) => round.postgres !== undefined)
    ? `; PostgreSQL ${medianOf(rounds, ({ postgres = 0 }) => postgres).toFixed(0)} µs`
    : ''
  const both = `${bestOf(rounds).toFixed(0).padStart(4)} µs CPU (median ${medianOf(rounds, ({ cpu }) => cpu).toFixed(0)})`
  const perSecond = medianOf(rounds, (round) => round.perSecond).toFixed(0)
  const bytes = medianOf(rounds, (round) => round.bodyBytes).toFixed(0)
  return `  ${`${name}:`.padEnd(44)} ${both}${postgres}; ${perSecond} requests/s; ${bytes} bytes`
}

export interface Ratio {
  readonly best: number
  readonly ofMedians: number
}

export const ratioOf = (own: readonly Round[], other: readonly Round[]): Ratio => ({
  best: bestOf(own) / bestOf(other),
  ofMedians: medianOf(own, ({ cpu }) => cpu) / medianOf(other, ({ cpu }) => cpu),
})

const verdict = (value: number, limit: number): string => (value <= limit ? 'met' : 'missed')

export const describeRatio = ({ best, ofMedians }: Ratio, limit: number, over = 'baseline'): string =>
  `  ${' '.repeat(44)} ${best.toFixed(2)} × ${over} (of medians ${ofMedians.toFixed(2)}; limit ${limit.toFixed(1)}: ${verdict(best, limit)})`

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
export const describeBytes = (bytes: number, limit: number): string =>
  `${megabytes(bytes)} (limit ${megabytes(limit)}: ${verdict(bytes, limit)})`
