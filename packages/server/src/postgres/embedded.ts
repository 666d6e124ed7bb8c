import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../errors.ts'
import { unusable } from './data-lock.ts'
import { keepLogBounded } from './own-log.ts'
import { type Owner, ownDirectory, unprivilegedOwner } from './owner.ts'
import { provideRuntime } from './runtime.ts'
import { provideSocketDirectory } from './socket-directory.ts'

// A real PostgreSQL as a child process: the same engine at a desk and in production. It listens on a Unix socket inside the
// data directory only, and asks for a generated password even there.

export interface EmbeddedPostgres {
  /** Connection settings of the bootstrap superuser; everything else gets its own role. */
  readonly socketDirectory: string
  readonly port: number
  readonly superuserPassword: string
  readonly pid: number
  /** Settles when PostgreSQL ends by itself, which it should not. */
  readonly died: Promise<void>
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  readonly dataDirectory: string
  readonly progress?: (step: string) => void
  /** Further `name=value` settings; tests turn durability off with them, and the start-up check then refuses. */
  readonly settings?: Readonly<Record<string, string>>
}

const PORT = 5432
const STOP_TIMEOUT_MS = 12_000
const START_TIMEOUT_MS = 60_000
const ORPHANS_END_MS = 30_000

/** Starts PostgreSQL on the data directory, which the caller has locked: whatever else runs on it is an orphan and is ended. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    return await startIn(options)
  } catch (error) {
    throw unusable(options.dataDirectory, error)
  }
}

async function startIn({
  dataDirectory,
  progress = () => undefined,
  settings = {},
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const owner = unprivilegedOwner()
  const home = join(dataDirectory, 'postgres')
  mkdirSync(home, { recursive: true })
  // Others may pass through to what is theirs, and list nothing.
  chmodSync(dataDirectory, 0o711)
  chmodSync(home, 0o711)
  removeDrafts(home)
  const bin = provideRuntime(home, progress)
  const data = join(home, 'data')
  const superuserPassword = providePassword(join(home, 'password'))
  if (!existsSync(data)) initialise({ bin, home, data, owner, superuserPassword, progress })
  await endOrphan(data)
  const { path: socketDirectory, remove } = provideSocketDirectory(home, owner, `.s.PGSQL.${PORT}`)
  progress('starting PostgreSQL')
  const log = keepLogBounded(logIn(home))
  const child = await launchReady({ bin, home, data, owner, socketDirectory, settings })
  const died = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void died.then(log.stop)
  const pid = child.pid as number
  return { socketDirectory, port: PORT, superuserPassword, pid, died, stop: () => stop(child, died).then(remove) }
}

const logIn = (home: string): string => join(home, 'postgres.log')

const DRAFT = /^(?:(?:runtime-.*|data)\.draft|initdb)-[0-9]+$/

/** What a start that was killed had begun, its copy of the password among it. In a container the next one has the same number. */
function removeDrafts(home: string): void {
  for (const name of readdirSync(home).filter((name) => DRAFT.test(name)))
    rmSync(join(home, name), { recursive: true, force: true, maxRetries: 5 })
}

/** After a kill of the postmaster alone its children end by themselves, with their statement at the latest. */
async function launchReady(options: Launch): Promise<ChildProcess> {
  const deadline = Date.now() + ORPHANS_END_MS
  const log = logIn(options.home)
  for (;;) {
    const before = existsSync(log) ? statSync(log).size : 0
    const child = launch(options)
    try {
      await ready(child, options.data, log)
      return child
    } catch (error) {
      const said = readFileSync(log).subarray(before).toString()
      if (!said.includes('pre-existing shared memory block') || Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

function providePassword(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' })
  return readFileSync(file, 'utf8').trim()
}

interface Initialise {
  readonly bin: string
  readonly home: string
  readonly data: string
  readonly owner: Owner | undefined
  readonly superuserPassword: string
  readonly progress: (step: string) => void
}

function initialise({ bin, home, data, owner, superuserPassword, progress }: Initialise): void {
  progress('creating the database (first start only)')
  const draft = ownDirectory(`${data}.draft-${process.pid}`, 0o700, owner)
  const passwordFile = join(home, `initdb-${process.pid}`)
  writeFileSync(passwordFile, superuserPassword, { mode: 0o600 })
  if (owner) chownSync(passwordFile, owner.uid, owner.gid)
  try {
    const args = [
      '-D',
      draft,
      '-U',
      'postgres',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
      '--data-checksums',
    ]
    const { status, stderr } = spawnSync(join(bin, 'initdb'), args, {
      ...owner,
      encoding: 'utf8',
      cwd: home,
      env: environment(),
    })
    if (status !== 0) {
      throw new StartError(
        'postgres_init_failed',
        `PostgreSQL could not create its data directory: ${lastLine(stderr ?? '')}`,
        'check that the disk has space and that the data directory is writable',
      )
    }
    // A rename is atomic: a database whose making was cut short is never taken for a whole one.
    renameSync(draft, data)
  } finally {
    rmSync(passwordFile, { force: true })
    rmSync(draft, { recursive: true, force: true })
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''

/** Nothing of our own environment, which may hold secrets, reaches PostgreSQL. */
const environment = (): NodeJS.ProcessEnv => ({ PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' })

interface Launch {
  readonly bin: string
  readonly home: string
  readonly data: string
  readonly owner: Owner | undefined
  readonly socketDirectory: string
  readonly settings: Readonly<Record<string, string>>
}

function launch({ bin, home, data, owner, socketDirectory, settings }: Launch): ChildProcess {
  const all = {
    listen_addresses: '',
    unix_socket_directories: socketDirectory,
    unix_socket_permissions: '0700',
    port: String(PORT),
    max_connections: '100',
    password_encryption: 'scram-sha-256',
    log_min_messages: 'warning',
    log_min_error_statement: 'panic',
    ...settings,
  }
  const log = openSync(logIn(home), 'a', 0o600)
  const args = ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  // A group of its own: an interrupt typed at the terminal is for us, and we stop PostgreSQL when we are done.
  const child = spawn(join(bin, 'postgres'), args, {
    ...owner,
    cwd: home,
    env: environment(),
    stdio: ['ignore', log, log],
    detached: true,
  })
  closeSync(log)
  // However this process ends, short of a kill: nobody else would ever stop it.
  const endWithUs = (): void => void child.kill('SIGINT')
  process.once('exit', endWithUs)
  child.once('exit', () => process.off('exit', endWithUs))
  return child
}

/** Polls the status PostgreSQL itself writes into its lock file: there is no event to wait for from outside. */
async function ready(child: ChildProcess, data: string, log: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new StartError(
        'postgres_start_failed',
        `PostgreSQL ended while starting: ${lastLine(existsSync(log) ? readFileSync(log, 'utf8') : '')}`,
        `read ${log}`,
      )
    }
    if (statusOf(data, child.pid) === 'ready') return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  child.kill('SIGQUIT')
  throw new StartError('postgres_start_failed', 'PostgreSQL did not become ready within a minute', `read ${log}`)
}

const lockLines = (data: string): string[] => {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}
/** The lock of an earlier life says how that one was. */
const statusOf = (data: string, pid: number | undefined): string | undefined => {
  const lines = lockLines(data)
  return Number(lines[0]) === pid ? lines[7]?.trim() : undefined
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** One that has ended and that nobody has collected (Z) runs no more; in containers it can stay for ever. */
const isPostgres = (pid: number): boolean => {
  if (!isAlive(pid)) return false
  try {
    return process.platform !== 'linux' || /^[0-9]+ \(postgres\) [^ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/**
 * A lock whose process is gone is left to PostgreSQL: it names the shared memory by which a new one notices children of the old
 * one that still write. If the number belongs to something else by now, ours takes its place: PostgreSQL knows its parent.
 */
function disown(data: string, pid: number): void {
  if (!isAlive(pid)) return
  const [, ...rest] = lockLines(data)
  writeFileSync(join(data, 'postmaster.pid'), [process.pid, ...rest].join('\n'))
}

/** After a kill -9 of ours PostgreSQL goes on alone. It is asked to end, so that the new one finds everything written. */
async function endOrphan(data: string): Promise<void> {
  const pid = Number(lockLines(data)[0])
  if (!pid) return
  if (!isPostgres(pid)) return disown(data, pid)
  process.kill(pid, 'SIGINT')
  const deadline = Date.now() + STOP_TIMEOUT_MS
  while (isPostgres(pid) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
  if (isPostgres(pid)) process.kill(pid, 'SIGQUIT')
  while (isPostgres(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Fast shutdown: open transactions are rolled back, everything acknowledged is on disk. */
async function stop(child: ChildProcess, died: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS)
  await died
  clearTimeout(timer)
}
