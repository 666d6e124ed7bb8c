import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { APP } from '../src/db/roles.ts'

// How many statements requests cause, by PostgreSQL's own account: for the while it logs every one. Background work logs in as
// another role and is not counted.

const TIMEOUT_MS = 10_000
const TURN_MS = 50

export interface StatementCount {
  /** Of requests, since counting started. */
  read(): number
  stop(): Promise<void>
}

const setting = async (admin: pg.Client, statements: readonly string[]): Promise<void> => {
  for (const statement of statements) await admin.query(statement)
  await admin.query('select pg_reload_conf()')
}

/** Counts from when a request that needs the database is first seen to be counted. */
export async function countStatements(
  admin: pg.Client,
  dataDirectory: string,
  askDatabase: () => Promise<unknown>,
): Promise<StatementCount> {
  const log = join(dataDirectory, 'postgres', 'postgres.log')
  const line = new RegExp(`^${APP} LOG: {2}(?:statement|execute)`, 'gm')
  const total = (): number => readFileSync(log, 'utf8').match(line)?.length ?? 0
  await setting(admin, ["alter system set log_line_prefix = '%u '", "alter system set log_statement = 'all'"])
  const deadline = Date.now() + TIMEOUT_MS
  while (total() === 0) {
    if (Date.now() > deadline) throw new Error('PostgreSQL logs no statement of a request that needs one')
    await askDatabase()
    await new Promise((resolve) => setTimeout(resolve, TURN_MS))
  }
  const before = total()
  return {
    read: () => total() - before,
    stop: () => setting(admin, ['alter system reset log_statement', 'alter system reset log_line_prefix']),
  }
}
