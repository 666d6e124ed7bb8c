import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import type { OperatorDeps } from '../src/operator/operator-deps.ts'
import type { Harness } from './harness.ts'

// The operator's side of a harness: the owner's login, the database as a superuser sees it, and a place for files.

const databaseOf = ({ deps }: Harness): string => String(deps.database.pool.options.database)

export const operatorOf = (h: Harness): OperatorDeps => ({
  ...h.deps,
  owner: { ...inject('postgres').logins.owner, database: databaseOf(h) },
})

export async function seeingAll<T>(h: Harness, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    ...inject('postgres').superuser,
    database: databaseOf(h),
    options: '-c search_path=strongroom',
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Every row of every table, as text. */
export const dumpAll = (h: Harness): Promise<Record<string, string[]>> =>
  seeingAll(h, async (client) => {
    const { rows: tables } = await client.query<{ tablename: string }>(
      `select tablename from pg_tables where schemaname = 'strongroom' order by tablename`,
    )
    const dump: Record<string, string[]> = {}
    for (const { tablename } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `select to_jsonb(t)::text as row from ${tablename} t order by 1`,
      )
      dump[tablename] = rows.map(({ row }) => row)
    }
    return dump
  })

export function makeDirectory(): { path(name: string): string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'sr-operator-'))
  return { path: (name) => join(directory, name), remove: () => rmSync(directory, { recursive: true, force: true }) }
}
