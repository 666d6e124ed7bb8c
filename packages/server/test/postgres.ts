import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../src/db/migrate.ts'
import { APP, type Logins, OWNER, provideEmbeddedRoles, WORKER } from '../src/db/roles.ts'
import { startEmbedded } from '../src/postgres/embedded.ts'

// A real PostgreSQL for a test run: started once, one migrated template, a copy of it for each test file.

export interface TestPostgres {
  readonly superuser: pg.ClientConfig
  readonly logins: Logins
  stop(): Promise<void>
}

/** Durability is off here: nothing in these tests survives them. Crash tests start their own. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'sr-'))
  const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '300' }
  const postgres = await startEmbedded({ dataDirectory: directory, settings })
  const superuser: pg.ClientConfig = {
    host: postgres.socketDirectory,
    port: postgres.port,
    user: 'postgres',
    password: postgres.superuserPassword,
    database: 'postgres',
  }
  const logins = await provideEmbeddedRoles(superuser)
  // As on an operator's own PostgreSQL, where one login migrates and works as both roles.
  await asSuperuser(superuser, `grant ${APP}, ${WORKER} to ${OWNER}`)
  await migrate({ connection: logins.owner })
  return {
    superuser,
    logins,
    stop: async () => {
      await postgres.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A copy of the migrated database, or of another one that nobody is connected to, and the logins that work on it. */
export async function copyDatabase(
  { superuser, logins }: Pick<TestPostgres, 'superuser' | 'logins'>,
  template = 'strongroom',
): Promise<Logins & { readonly name: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await asSuperuser(superuser, `create database ${name} template ${template} owner ${OWNER} strategy file_copy`)
  const on = (login: pg.ClientConfig): pg.ClientConfig => ({ ...login, database: name })
  return {
    name,
    owner: on(logins.owner),
    app: on(logins.app),
    worker: on(logins.worker),
    drop: () => dropDatabase(superuser, name),
  }
}

export const dropDatabase = (superuser: pg.ClientConfig, name: string): Promise<void> =>
  asSuperuser(superuser, `drop database if exists ${name} with (force)`)

async function asSuperuser(superuser: pg.ClientConfig, sql: string): Promise<void> {
  const client = new pg.Client(superuser)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
