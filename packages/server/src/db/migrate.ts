import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { StartError } from '../errors.ts'
import { CONNECT_MS } from './start-refusals.ts'

// Plain SQL, forward only, each file in one transaction, all under one lock, so that several processes may start at once.

const DIRECTORY = new URL('../../migrations/', import.meta.url)
const LOCK = 8_420_001

export interface Migration {
  readonly name: string
  readonly sql: string
  readonly digest: string
}

export const migrations = (): readonly Migration[] =>
  readdirSync(DIRECTORY)
    .filter((name) => /^[0-9]{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(new URL(name, DIRECTORY), 'utf8')
      return { name, sql, digest: createHash('sha256').update(sql).digest('hex') }
    })

export interface MigrateOptions {
  readonly connection: pg.ClientConfig
  readonly progress?: (step: string) => void
  /** Refuses instead, where something is to be applied. */
  readonly onlyCheck?: boolean
}

/** Brings the database to this code's version. Refuses one that is newer, or whose history is not ours. */
export async function migrate({
  connection,
  progress = () => undefined,
  onlyCheck = false,
}: MigrateOptions): Promise<void> {
  const client = new pg.Client({
    ...connection,
    options: '-c search_path=strongroom -c lock_timeout=60000',
    connectionTimeoutMillis: CONNECT_MS,
  })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await client.query('create schema if not exists strongroom')
    await client.query(
      'create table if not exists strongroom.migration (name text primary key, digest text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string; digest: string }>(
      'select name, digest from strongroom.migration order by name',
    )
    const pending = compare(migrations(), rows)
    if (onlyCheck && pending.length > 0) throw waiting(pending.length)
    for (const migration of pending) {
      progress(`migrating the database: ${migration.name}`)
      await apply(client, migration)
    }
  } catch (error) {
    if (isForbidden(error)) throw await notTheOwner(client, error)
    throw error
  } finally {
    // Ending the connection frees the lock.
    await client.end()
  }
}

const isForbidden = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && error.code === '42501'

/** Who may do what the login may not: the owner of the schema, or of tables in it. */
async function notTheOwner(client: pg.Client, { message }: Error): Promise<StartError> {
  const { rows } = await client.query<{ login: string; database: string; owner: string | null }>(`
    select quote_ident(session_user) as login, quote_ident(current_database()) as database, quote_ident(coalesce(
      (select min(tableowner) from pg_tables where schemaname = 'strongroom' and tableowner <> session_user),
      (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'strongroom'))) as owner`)
  const [{ login, database, owner }] = rows as [{ login: string; database: string; owner: string | null }]
  if (owner === null)
    return new StartError(
      'database_owner_other',
      `the login ${login} may not make a schema in the database ${database}: ${message}`,
      `as an administrator: grant create on database ${database} to ${login}`,
    )
  return new StartError(
    'database_owner_other',
    `the schema strongroom belongs to ${owner}, and the login ${login} may not change it: ${message}`,
    `give the login ${owner} in STRONGROOM_MIGRATION_URL; if there is no organisation in it yet, ${owner} can drop the schema: drop schema strongroom cascade`,
  )
}

const waiting = (count: number): StartError =>
  new StartError(
    'migrations_waiting',
    `the data is of an older version: ${count} ${count === 1 ? 'migration waits' : 'migrations wait'}`,
    'do this with the version the data belongs to; a start of this version migrates it, and there is no way back',
  )

/** The migrations still to be applied. */
export function compare(
  known: readonly Migration[],
  applied: readonly { name: string; digest: string }[],
): readonly Migration[] {
  for (const [i, { name, digest }] of applied.entries()) {
    const ours = known[i]
    if (!ours)
      throw new StartError(
        'database_newer',
        `the database has the migration ${name}, which this version does not know`,
        'start the newer Strongroom it belongs to; a downgrade needs a restore',
      )
    if (ours.name !== name || ours.digest !== digest)
      throw new StartError(
        'database_foreign',
        `the migration ${name} in the database is not the one of this version`,
        'use the database with the version that made it, or restore a backup',
      )
  }
  return known.slice(applied.length)
}

async function apply(client: pg.Client, { name, sql, digest }: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query('insert into strongroom.migration (name, digest) values ($1, $2)', [name, digest])
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback')
    if (isForbidden(cause)) throw cause
    throw new StartError(
      'migration_failed',
      `the migration ${name} failed: ${(cause as Error).message}`,
      'nothing of it was applied; report this with the PostgreSQL version',
    )
  }
}
