import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import {
  EMPTY_TRUST_STORE,
  ProtocolError,
  parseTrustStore,
  serialiseTrustStore,
  type TrustStore,
} from '@strongroom/protocol'
import { StrongroomError } from '../strongroom/strongroom-error.ts'
import type { CacheStore } from './cache.ts'
import { type InTurn, makeQueue, pause } from './queue.ts'
import { failed, type TrustKeeper } from './trust.ts'

// Files of a Node client: the trust store, shared by every process of a user, and the cache. The only file here that needs Node.
//
// They are small and few, so they are read and written at once: handing each step to a thread takes many times as long as the step.
// Only what waits for the disk is waited for elsewhere.

const isCode = (error: unknown, code: string): boolean => (error as { code?: string }).code === code

/** Undefined where the file is not there. */
const readIfThere = (path: string): string | undefined => bytesIfThere(path)?.toString('utf8')

function bytesIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

const kept = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fsync(fd, (error) => (error ? reject(error) : resolve()))
  })

/** Whole or not at all, also when the machine stops in the middle: a reader sees the old file or the new one. */
async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}.${randomUUID()}.tmp`
  try {
    const fd = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(fd, content)
      await kept(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** The new file is what is found after a stop when its directory is kept; some systems cannot open one, and keep it by themselves. */
async function syncDirectory(path: string): Promise<void> {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return
  }
  await kept(fd).catch(() => undefined)
  closeSync(fd)
}

// The lock. A process holds it while a file `<store>.lock.<n>` with the highest n names it. Whoever wants it and finds the holder
// gone makes the next number, which only one can (`wx`), and then looks again: a number is removed only when a higher one exists,
// so whoever was too slow sees that. Nobody ever removes a lock that might be held, and a holder that was killed blocks nobody.

const FREE = 'free'
const POLL_MS = 5
const WAIT_MS = 30_000
/** A holder writes its name right after making the file; one that did not was killed in between. */
const UNNAMED_MS = 2_000
/** On a disk shared by machines nobody can see whether the holder lives; it works for milliseconds. */
const ELSEWHERE_MS = 60_000

interface Holder {
  readonly pid: number
  readonly host: string
  /** Tells a process from a later one with the same number, where the system says when it began. */
  readonly began: string
}

function beganOf(pid: number): string {
  let line = ''
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // This system does not say, or nobody of that number is there.
  }
  // The name in parentheses may hold spaces.
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return isCode(error, 'EPERM')
  }
}

function isHeld(path: string): boolean {
  const text = readIfThere(path)
  if (text === undefined) return false
  const ageMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  let holder: Holder
  try {
    holder = JSON.parse(text) as Holder
  } catch {
    return ageMs < UNNAMED_MS
  }
  if (holder.host !== hostname()) return ageMs < ELSEWHERE_MS
  return isRunning(holder.pid) && beganOf(holder.pid) === holder.began
}

interface Generation {
  readonly n: number
  readonly name: string
  readonly isFree: boolean
}

function generationsOf(directory: string, prefix: string): readonly Generation[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({ name, parts: name.slice(prefix.length).split('.') }))
    .filter(({ parts }) => /^[1-9][0-9]{0,15}$/.test(parts[0] ?? '') && (parts.length === 1 || parts[1] === FREE))
    .map(({ name, parts }) => ({ n: Number(parts[0]), name, isFree: parts[1] === FREE }))
    .sort((a, b) => a.n - b.n || Number(a.isFree) - Number(b.isFree))
}

interface Lock {
  isMine(): boolean
  release(): void
}

/** Makes the file and names us in it; false if somebody else has made it. */
function madeFirst(path: string): boolean {
  const holder: Holder = { pid: process.pid, host: hostname(), began: beganOf(process.pid) }
  try {
    writeFileSync(path, JSON.stringify(holder), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Undefined if it is somebody else's. */
function tryLock(path: string): Lock | undefined {
  const directory = dirname(path)
  const prefix = `${basename(path)}.lock.`
  const before = generationsOf(directory, prefix)
  const newest = before.at(-1)
  if (newest && !newest.isFree && isHeld(join(directory, newest.name))) return undefined
  const own = join(directory, `${prefix}${(newest?.n ?? 0) + 1}`)
  if (!madeFirst(own)) return undefined
  const isMine = (): boolean => generationsOf(directory, prefix).at(-1)?.name === basename(own)
  if (!isMine()) {
    rmSync(own, { force: true })
    return undefined
  }
  for (const old of before) rmSync(join(directory, old.name), { force: true })
  return { isMine, release: () => letGo(own) }
}

function letGo(own: string): void {
  try {
    renameSync(own, `${own}.${FREE}`)
  } catch {
    // Somebody has taken it over.
  }
}

async function withLock<T>(path: string, work: (isMine: () => boolean) => Promise<T>): Promise<T> {
  const until = Date.now() + WAIT_MS
  for (;;) {
    const lock = tryLock(path)
    if (lock) return work(lock.isMine).finally(lock.release)
    if (Date.now() > until) throw (await failed()).locked(path)
    await pause(POLL_MS + Math.random() * POLL_MS)
  }
}

/** Drafts of processes that were killed while writing. */
function removeDrafts(path: string): void {
  const prefix = `${basename(path)}.`
  for (const name of readdirSync(dirname(path))) {
    const [, pid] = /\.([0-9]+)\.[0-9a-f-]{36}\.tmp$/.exec(name) ?? []
    if (pid === undefined || !name.startsWith(prefix) || isRunning(Number(pid))) continue
    rmSync(join(dirname(path), name), { force: true })
  }
}

// Keepers of one file in one process wait here, without asking the file system.
const queues = new Map<string, InTurn>()

/** A trust store in a file of mode 0600. Refuses one it cannot read: a client without its pins must not read secrets. */
export function fileTrust(path: string): TrustKeeper {
  const place = resolve(path)
  const inTurn = queues.get(place) ?? makeQueue()
  queues.set(place, inTurn)
  let last: { text: string; store: TrustStore } | undefined
  const read = async (): Promise<TrustStore> => {
    try {
      const text = readIfThere(place)
      if (text === undefined) return EMPTY_TRUST_STORE
      if (last?.text !== text) last = { text, store: parseTrustStore(text) }
      return last.store
    } catch (error) {
      throw (await failed()).unreadable(error, place)
    }
  }
  const change = async (
    next: (store: TrustStore) => TrustStore | Promise<TrustStore>,
    isMine: () => boolean,
  ): Promise<TrustStore> => {
    const before = await read()
    const after = await next(before)
    if (after === before) return before
    if (!isMine()) throw (await failed()).locked(place)
    removeDrafts(place)
    await writeWhole(place, serialiseTrustStore(after))
    await syncDirectory(dirname(place))
    return after
  }
  return {
    read,
    update: (next) =>
      inTurn(async () => {
        mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
        return withLock(place, (isMine) => change(next, isMine))
      }).catch(async (error: unknown) => {
        throw error instanceof ProtocolError || StrongroomError.is(error)
          ? error
          : (await failed()).unwritable(error, place)
      }),
  }
}

/** A cache of files of mode 0600 in one directory. */
export function fileCache(directory: string): CacheStore {
  const fileOf = (key: string): string => join(directory, `${encodeURIComponent(key)}.json`)
  return {
    get: async (key) => {
      const bytes = bytesIfThere(fileOf(key))
      return bytes && new Uint8Array(bytes)
    },
    set: async (key, bytes) => {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      // Whoever finds the one before it after a stop asks the server again, so nobody waits until the new name is kept.
      await writeWhole(fileOf(key), bytes)
    },
    delete: async (key) => rmSync(fileOf(key), { force: true }),
  }
}
