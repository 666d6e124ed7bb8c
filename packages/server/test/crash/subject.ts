import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runServer, type ServerProcess } from '../process.ts'
import { openAsAuditor } from './database.ts'
import { killPostgres, postmasterOf } from './kill-postgres.ts'
import type { KillMode } from './options.ts'

// The server under test, with its embedded PostgreSQL, started as an operator starts it and killed as nobody would.

export interface Subject {
  readonly url: string
  readonly setupToken: string
  /** Gives the moment of the kill. */
  kill(mode: KillMode): number
  /** The same command again, once the server has ended: by the kill, or by itself because PostgreSQL is gone. */
  restart(): Promise<Restarted>
  /** Before each load; does something to the mutant only. */
  arm(): Promise<void>
  stop(): Promise<void>
}

export interface Restarted {
  /** How long until it said that it was ready. */
  readonly readyMs: number
  /** False if it had to be killed, although PostgreSQL was gone. */
  readonly endedByItself: boolean
}

export interface SubjectOptions {
  readonly dataDirectory: string
  readonly port: number
  readonly unsafe: boolean
  readonly env?: NodeJS.ProcessEnv
}

const ENDS_WITHIN_MS = 20_000
const PRINTS_WITHIN_MS = 5000

const SETTINGS = 'postgres/data/postgresql.auto.conf'

/**
 * The mutant: commits are acknowledged before they are written, and written late. The server checks the settings when it
 * starts, so they are changed behind its back, and before the next start back again.
 */
async function makeUnsafe(dataDirectory: string): Promise<void> {
  const { pool, close } = openAsAuditor(dataDirectory)
  await pool.query(`alter system set synchronous_commit = 'off'`)
  await pool.query(`alter system set wal_writer_delay = '10s'`)
  await pool.query(`alter system set wal_writer_flush_after = '1GB'`)
  await pool.query('select pg_reload_conf()')
  await close()
}

interface Running extends ServerProcess {
  readonly ended: Promise<void>
}

async function launch({ dataDirectory, port, unsafe, env = {} }: SubjectOptions): Promise<Running> {
  const settings = join(dataDirectory, SETTINGS)
  if (unsafe && existsSync(settings)) writeFileSync(settings, '')
  const server = await runServer({ data: dataDirectory, port, env })
  return { ...server, ended: new Promise((resolve) => server.child.once('close', () => resolve())) }
}

/** False if it does not end in time and is killed. */
async function endOf({ child, ended }: Running): Promise<boolean> {
  let inTime = true
  const late = setTimeout(() => {
    inTime = false
    child.kill('SIGKILL')
  }, ENDS_WITHIN_MS)
  await ended
  clearTimeout(late)
  return inTime
}

/** Printed after the line that says that it is ready. */
async function readSetupToken({ output }: ServerProcess): Promise<string> {
  const deadline = Date.now() + PRINTS_WITHIN_MS
  for (;;) {
    const [, token] = /setup token\s+(\S+)\n/.exec(output()) ?? []
    if (token !== undefined) return token
    if (Date.now() > deadline) throw new Error(`the server prints no setup token: ${output()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export async function startSubject(options: SubjectOptions): Promise<Subject> {
  const { dataDirectory, unsafe } = options
  let server = await launch(options)
  let launching = Promise.resolve(server)
  const setupToken = await readSetupToken(server)
  return {
    url: server.url,
    setupToken,
    kill: (mode) => {
      const postmaster = postmasterOf(dataDirectory)
      const killedAt = Date.now()
      if (mode !== 'postgres') server.child.kill('SIGKILL')
      if (mode !== 'server') killPostgres(postmaster)
      return killedAt
    },
    restart: async () => {
      const endedByItself = await endOf(server)
      const from = Date.now()
      launching = launch(options)
      server = await launching
      return { readyMs: Date.now() - from, endedByItself }
    },
    arm: async () => {
      if (unsafe) await makeUnsafe(dataDirectory)
    },
    stop: async () => {
      // Also one that is just being started: nobody else would end it.
      const last = await launching.catch(() => server)
      await last.end('SIGTERM')
    },
  }
}
