import { createHash } from 'node:crypto'
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import { CliError } from '../errors/cli-error.ts'
import type { Io } from '../place/io.ts'
import { homeOf } from '../place/paths.ts'

// What a server keeps on this machine. Keys and trust of people may lie in the same folder: they are never touched here.

/** The server leaves it where a restore was killed, and takes it away once it starts there. */
const UNFINISHED = 'restore.unfinished'
const SERVER_ENTRIES = ['postgres', 'objects', 'root.key', 'lock.sock', UNFINISHED] as const
const OTHERS_OF_OURS = new Set<string>(['keys', 'trust.json'])

export interface DataDirectory {
  readonly path: string
  /** What was there before the server was started. */
  readonly had: { readonly database: boolean; readonly objects: boolean; readonly rootKey: boolean }
  /** What is there a restore has begun and not finished: nobody has worked with it. */
  readonly isUnfinished: boolean
}

/** As the server itself decides it. */
export function dataPath({ env, cwd }: Io, given: string | undefined): string {
  const chosen = given ?? (env.STRONGROOM_DATA || undefined)
  if (chosen !== undefined) return resolve(cwd, chosen)
  if (process.getuid?.() === 0) return '/var/lib/strongroom'
  return join(env.XDG_DATA_HOME || join(homeOf(env), '.local', 'share'), 'strongroom')
}

export function lookAt(path: string): DataDirectory {
  const has = (name: string): boolean => existsSync(join(path, name))
  const had = { database: has('postgres/data'), objects: has('objects'), rootKey: has('root.key') }
  return { path, had, isUnfinished: has(UNFINISHED) }
}

/** PostgreSQL does not run as root: whoever it runs as must be able to pass through every folder above its data. */
export function ensureReachable(path: string, { env }: Io): void {
  if (process.getuid?.() !== 0 || env.DATABASE_URL) return
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false })
    if (stat && (stat.mode & 0o001) === 0)
      throw new CliError(
        'data_unreachable',
        `you are root, and the user PostgreSQL runs as cannot pass through ${folder}`,
        {
          fix: shellLine`chmod o+x ${folder}, or choose another place: --data /var/lib/strongroom`,
        },
      )
  }
}

/** Whether a server runs on it: the lock that it holds answers. */
function isInUse(path: string): Promise<boolean> {
  const real = realpathSync(path)
  const name = createHash('sha256').update(real).digest('hex').slice(0, 32)
  const lock = process.platform === 'linux' ? `\0strongroom-${name}` : join(real, 'lock.sock')
  return new Promise((settle) => {
    const socket = connect({ path: lock })
    const end = (answer: boolean): void => {
      socket.destroy()
      settle(answer)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

/** Whether there is something to delete. Refuses a directory that holds anything but the data of a server. */
export async function ensureResettable(path: string, { env }: Io): Promise<boolean> {
  if (env.DATABASE_URL)
    throw new CliError(
      'reset_refused',
      'the data is in the PostgreSQL of DATABASE_URL, and that is not ours to delete',
      {
        fix: 'unset DATABASE_URL, or drop that database yourself',
      },
    )
  if (!existsSync(path)) return false
  const { had } = lookAt(path)
  const entries = readdirSync(path).filter((name) => !OTHERS_OF_OURS.has(name))
  if (entries.length === 0) return false
  if (!had.database && !had.rootKey)
    throw new CliError('reset_refused', `${path} is no data directory of Strongroom, and nothing in it was deleted`, {
      fix: 'give the right one with --data',
    })
  if (await isInUse(path))
    throw new CliError('reset_refused', `a server runs on ${path}`, { fix: 'stop it first, with Ctrl-C' })
  return true
}

/** Deletes what a server keeps, and nothing else. */
export async function resetData(path: string): Promise<void> {
  for (const name of SERVER_ENTRIES) await rm(join(path, name), { recursive: true, force: true })
}
