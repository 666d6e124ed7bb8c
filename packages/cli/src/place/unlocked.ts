import { createHash } from 'node:crypto'
import { lstat, mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Paths } from './paths.ts'
import { readIfThere, writePrivate } from './private-file.ts'
import { markOfMaster } from './sealed-files.ts'

// For a while after the passphrase was given, the master key lies in memory-backed storage that only this user can read; so a
// person types the passphrase once, and a machine that is switched off keeps nothing. A user may have several sets of keys: each
// has a file of its own, and a key counts only beside the sealed master key that it was opened from.

const IDLE_MS = 30 * 60_000
const LONGEST_MS = 12 * 3_600_000

type Place = Pick<Paths, 'keys' | 'runtime'>

interface Unlocked {
  readonly key: string
  /** Of the sealed master key it was opened from. */
  readonly master: string
  readonly since: number
  readonly used: number
}

/** Somebody else's folder under our name must not get the key. */
async function isOurs(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined)
  const stat = await lstat(folder).catch(() => undefined)
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0
}

/** The file of this set of keys, however its folder is spelled. */
async function fileFor({ keys, runtime }: Place): Promise<string | undefined> {
  if (runtime === undefined || !(await isOurs(runtime))) return undefined
  const folder = await realpath(keys).catch(() => keys)
  return join(runtime, `unlocked-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`)
}

/** Nothing where it is not what we wrote. */
function parsed(text: string): Unlocked | undefined {
  try {
    const { key, master, since, used } = JSON.parse(text) as Unlocked
    const isWhole = typeof key === 'string' && Number.isFinite(since) && Number.isFinite(used)
    return isWhole ? { key, master, since, used } : undefined
  } catch {
    return undefined
  }
}

export async function readUnlocked(place: Place, now = Date.now()): Promise<Uint8Array | undefined> {
  const file = await fileFor(place)
  const text = file === undefined ? undefined : await readIfThere(file)
  if (file === undefined || text === undefined) return undefined
  const unlocked = parsed(text)
  const isOver =
    !unlocked || now - unlocked.used > IDLE_MS || now - unlocked.since > LONGEST_MS || unlocked.used > now + IDLE_MS
  if (isOver || unlocked.master !== (await markOfMaster(place.keys))) {
    await lock(place)
    return undefined
  }
  // Writing at every use would cost more than it says.
  if (now - unlocked.used > 60_000) await writePrivate(file, JSON.stringify({ ...unlocked, used: now }))
  return Buffer.from(unlocked.key, 'base64')
}

/** Refuses nothing: where it cannot be kept, the passphrase is asked for again. */
export async function keepUnlocked(place: Place, key: Uint8Array, now = Date.now()): Promise<void> {
  const [file, master] = [await fileFor(place), await markOfMaster(place.keys)]
  if (file === undefined || master === undefined) return
  const unlocked: Unlocked = { key: Buffer.from(key).toString('base64'), master, since: now, used: now }
  await writePrivate(file, JSON.stringify(unlocked))
}

export async function lock(place: Place): Promise<void> {
  const file = await fileFor(place)
  if (file !== undefined) await rm(file, { force: true })
}
