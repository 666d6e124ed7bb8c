import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { makeNames, nameStatements } from './named.ts'
import type { Tables } from './schema.ts'
import { breakWhenSilent } from './silence.ts'
import { askTogether } from './together.ts'

// The database as the rest of the server sees it: one pool, one dialect, time-outs on every connection.

/** A connection inside a transaction. Stores take it first and never begin one themselves. */
export type Db = Transaction<Tables>

export interface DatabaseLogin {
  readonly connection: pg.PoolConfig
  readonly poolSize: number
  /** How many times as long as usual it waits. For tests: a machine that does four things at once is slow, and not broken. */
  readonly patience?: number
  /** Statements that take as long as they take, as those of the operator do. */
  readonly isUnhurried?: boolean
}

const WAITS_MS = { statement_timeout: 5000, lock_timeout: 2000, idle_in_transaction_session_timeout: 10_000 } as const
const CONNECTION_WAIT_MS = 5000
/** Longer than any statement may take: by then PostgreSQL has answered, if it can. */
const SILENCE_MS = 10_000
const SETTINGS: Readonly<Record<string, string>> = {
  search_path: 'strongroom',
  // A generic plan for a query with LIMIT $n costs several times a fresh one.
  plan_cache_mode: 'force_custom_plan',
  // Compiling a statement costs more than any of ours takes to run.
  jit: 'off',
  // Ours find less with every step. Taken for ten times as much, they make room for millions of rows each time, and clear it.
  recursive_worktable_factor: '0.001',
  timezone: 'UTC',
  application_name: 'strongroom',
}

const INT8 = 20
const INT8_ARRAY = 1016
const types = new pg.TypeOverrides()
// Counters and log sizes stay far below 2^53; money is never stored in int8.
types.setTypeParser(INT8, Number)
types.setTypeParser(INT8_ARRAY, (text: string) =>
  text
    .slice(1, -1)
    .split(',')
    .filter((part) => part !== '')
    .map(Number),
)

function connectionOptions(connection: pg.PoolConfig, patience: number): pg.PoolConfig {
  const waits = Object.entries(WAITS_MS).map(([name, ms]) => [name, String(ms * patience)] as const)
  const settings = [...Object.entries(SETTINGS), ...waits].map(([name, value]) => `-c ${name}=${value}`)
  return { ...connection, types, options: [connection.options ?? '', ...settings].join(' ').trim() }
}

/** A named statement: PostgreSQL parses it once per connection, and this one runs for every request. */
const FIND_KEYS = {
  name: 'authenticate_keys',
  text: 'select access_key as key, found as row from authenticate_keys($1)',
} as const

const EVENT_ID = '{"eventId":"'
const READ_ENVIRONMENTS = {
  name: 'read_environments',
  text: 'select key, row from read_environments($1)',
  parameterOf: (questions: readonly string[]): string => `[${questions.join(',')}]`,
  // The question is long; its answer is named by the id of its audit event, which every question brings first.
  rowKey: (question: string): string => question.slice(EVENT_ID.length, question.indexOf('"', EVENT_ID.length)),
} as const

export interface Database {
  readonly pool: pg.Pool
  readonly kysely: Kysely<Tables>
  /** What is known of an API key by its public half; null if there is none. */
  findKey<T>(accessKey: string): Promise<T | null>
  /** The one statement of an environment read; the question is JSON. */
  readEnvironment(question: string): Promise<string | null>
  close(): Promise<void>
}

export function openDatabase(
  { connection, poolSize, patience = 1, isUnhurried = false }: DatabaseLogin,
  onError: (error: Error) => void,
): Database {
  const pool = new pg.Pool({
    ...connectionOptions(connection, patience),
    max: poolSize,
    connectionTimeoutMillis: CONNECTION_WAIT_MS * patience,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: SILENCE_MS,
  })
  // A connection that breaks is replaced at the next use; without a listener it would end the process. The pool listens to
  // those that nobody uses only, and one can also break between two statements of a transaction.
  pool.on('error', onError)
  const nameOf = makeNames()
  pool.on('connect', (client) => {
    client.on('error', onError)
    nameStatements(client, nameOf)
    if (!isUnhurried) breakWhenSilent(client, SILENCE_MS * patience)
  })
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const close = async (): Promise<void> => {
    await kysely.destroy()
    // Kysely ends the pool only if it has used it.
    if (!pool.ending) await pool.end()
  }
  return {
    pool,
    kysely,
    findKey: askTogether(pool, FIND_KEYS),
    readEnvironment: askTogether(pool, READ_ENVIRONMENTS),
    close,
  }
}
