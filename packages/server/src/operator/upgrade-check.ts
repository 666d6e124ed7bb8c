import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../config.ts'
import { compare, migrations } from '../db/migrate.ts'
import { CONNECT_MS, unreachable } from '../db/start-refusals.ts'
import { StartError } from '../errors.ts'
import { lockDataDirectory } from '../postgres/data-lock.ts'
import { startEmbedded } from '../postgres/embedded.ts'
import type { OperatorOptions } from './operator-deps.ts'

// What a start of this program would do to the data. Nothing is written: the one transaction is read-only.

export interface UpgradeCheck {
  /** `newer` and `foreign`: a start refuses. */
  readonly state: 'empty' | 'current' | 'waiting' | 'newer' | 'foreign'
  /** The last migration of the data; null where there is none. */
  readonly data: string | null
  readonly program: string
  /** What a start would apply. */
  readonly waiting: readonly string[]
  readonly postgres: string | null
  /** When the last backup was begun, whether or not it was finished. */
  readonly lastBackup: string | null
  readonly problem: { readonly code: string; readonly message: string; readonly nextStep: string } | null
}

const EMPTY: Pick<UpgradeCheck, 'data' | 'waiting' | 'postgres' | 'lastBackup' | 'problem'> = {
  data: null,
  waiting: [],
  postgres: null,
  lastBackup: null,
  problem: null,
}

export async function checkUpgrade(config: Config, { progress }: OperatorOptions = {}): Promise<UpgradeCheck> {
  const program = migrations().at(-1)?.name ?? ''
  const { databaseUrl, migrationUrl, dataDirectory } = config
  if (databaseUrl !== undefined) return check({ connectionString: migrationUrl ?? databaseUrl }, program)
  const home = join(dataDirectory, 'postgres')
  if (!existsSync(join(home, 'data'))) return { ...EMPTY, state: 'empty', program }
  const lock = await lockDataDirectory(dataDirectory)
  try {
    const postgres = await startEmbedded({ dataDirectory, ...(progress && { progress }) })
    try {
      const { socketDirectory: host, port, superuserPassword: password } = postgres
      return await check({ host, port, user: 'postgres', password, database: 'strongroom' }, program)
    } finally {
      await postgres.stop()
    }
  } finally {
    await lock.release()
  }
}

async function check(connection: pg.ClientConfig, program: string): Promise<UpgradeCheck> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: CONNECT_MS })
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (cause) {
    throw unreachable(cause)
  }
  try {
    await client.query('begin read only')
    const postgres = (await client.query<{ server_version: string }>('show server_version')).rows[0]?.server_version
    const applied = await appliedIn(client)
    if (applied.length === 0) return { ...EMPTY, state: 'empty', program, postgres: postgres ?? null }
    const found = { data: applied.at(-1)?.name ?? null, program, postgres: postgres ?? null }
    return { ...EMPTY, ...found, ...judge(applied), lastBackup: await lastBackup(client) }
  } finally {
    await client.end()
  }
}

interface Applied {
  readonly name: string
  readonly digest: string
}

async function appliedIn(client: pg.Client): Promise<readonly Applied[]> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('strongroom.migration') is not null as there`,
  )
  if (!rows[0]?.there) return []
  return (await client.query<Applied>('select name, digest from strongroom.migration order by name')).rows
}

function judge(applied: readonly Applied[]): Pick<UpgradeCheck, 'state' | 'waiting' | 'problem'> {
  try {
    const waiting = compare(migrations(), [...applied]).map(({ name }) => name)
    return { state: waiting.length > 0 ? 'waiting' : 'current', waiting, problem: null }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const { code, message, nextStep } = error
    return { state: code === 'database_newer' ? 'newer' : 'foreign', waiting: [], problem: { code, message, nextStep } }
  }
}

/** Seen one organisation at a time, as row-level security wants it. Data of a version that keeps it elsewhere has none. */
async function lastBackup(client: pg.Client): Promise<string | null> {
  try {
    await client.query(`select set_config('app.operator', 'yes', true)`)
    const orgs = await client.query<{ org_id: string }>('select org_id from strongroom.org')
    let last = 0
    for (const { org_id } of orgs.rows) {
      await client.query(`select set_config('app.org', $1, true)`, [org_id])
      const { rows } = await client.query<{ at: Date | null }>(
        `select max(occurred_at) as at from strongroom.audit_event where org_id = $1 and action = 'operator.backup'`,
        [org_id],
      )
      last = Math.max(last, rows[0]?.at?.getTime() ?? 0)
    }
    return last === 0 ? null : new Date(last).toISOString()
  } catch {
    return null
  }
}
