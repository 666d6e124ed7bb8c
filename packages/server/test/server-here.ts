import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { provideSetupToken } from '../src/modules/setup/token.ts'
import { type provideDatabase, start, WORKER_POOL } from '../src/start.ts'
import { openTestDatabase, PATIENCE } from './harness-on.ts'
import { copyDatabase, dropDatabase } from './postgres.ts'
import { freePort } from './process.ts'

// The server in the process of the tests, all of it: warm after the first file, where most of what tests took was a server that was not. Each
// has a database of its own in the PostgreSQL of the run, named in its data directory.

/** Whether there is a PostgreSQL of a run, and somebody who tidies up when all is over. */
export const isTestRun = (): boolean => process.env.STRONGROOM_TEST_DATA !== undefined

async function postgresOfRun() {
  const { inject } = await import('vitest')
  return inject('postgres')
}

const fileOf = (data: string): string => join(data, 'database')
const nameOf = (data: string): string => readFileSync(fileOf(data), 'utf8')

/** Gives a data directory a database: a new one, or one like that of another directory whose server does not run. */
export async function makeRunDatabase(data: string, like?: string): Promise<void> {
  const { name } = await copyDatabase(await postgresOfRun(), like === undefined ? undefined : nameOf(like))
  writeFileSync(fileOf(data), name)
}

export async function dropRunDatabase(data: string): Promise<void> {
  await dropDatabase((await postgresOfRun()).superuser, nameOf(data))
}

/** In place of a PostgreSQL of the server's own. */
const provideRunDatabase: typeof provideDatabase = async ({ dataDirectory, poolSize }, _, undo) => {
  if (!existsSync(fileOf(dataDirectory))) await makeRunDatabase(dataDirectory)
  const { logins } = await postgresOfRun()
  const open = (role: 'app' | 'worker', size: number) => {
    const connection = { ...logins[role], database: nameOf(dataDirectory) }
    const database = openTestDatabase({ connection, poolSize: size, patience: PATIENCE })
    undo.push(() => database.close())
    return database
  }
  const databaseDied = new Promise<void>(() => undefined)
  return { database: open('app', poolSize), worker: open('worker', WORKER_POOL), logins, databaseDied }
}

export interface ServerHere {
  readonly url: string
  /** undefined where there is an organisation. */
  readonly setupToken: string | undefined
  /** Its data stay. */
  stop(): Promise<void>
}

export async function startServerHere(data: string, env: NodeJS.ProcessEnv): Promise<ServerHere> {
  const place = { STRONGROOM_DATA: data, STRONGROOM_PORT: String(await freePort()) }
  const config = readConfig({ STRONGROOM_LOG_LEVEL: 'silent', ...place, ...env }, [])
  const { url, deps, stop } = await start({ config, provide: provideRunDatabase })
  return { url, setupToken: await provideSetupToken(deps), stop }
}
