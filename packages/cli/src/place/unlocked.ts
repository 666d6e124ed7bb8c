import { lstat, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfThere, writePrivate } from './private-file.ts'

// For a while after the passphrase was given, the master key lies in memory-backed storage that only this user can read; so a
// person types the passphrase once, and a machine that is switched off keeps nothing.

const IDLE_MS = 30 * 60_000
const LONGEST_MS = 12 * 3_600_000

interface Unlocked {
  readonly key: string
  readonly since: number
  readonly used: number
}

/** Somebody else's folder under our name must not get the key. */
async function isOurs(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined)
  const stat = await lstat(folder).catch(() => undefined)
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0
}

const place = (folder: string): string => join(folder, 'unlocked')

export async function readUnlocked(folder: string | undefined, now = Date.now()): Promise<Uint8Array | undefined> {
  if (folder === undefined || !(await isOurs(folder))) return undefined
  const text = await readIfThere(place(folder))
  if (text === undefined) return undefined
  const { key, since, used } = JSON.parse(text) as Unlocked
  if (now - used > IDLE_MS || now - since > LONGEST_MS || used > now + IDLE_MS) {
    await lock(folder)
    return undefined
  }
  // Writing at every use would cost more than it says.
  if (now - used > 60_000) await writePrivate(place(folder), JSON.stringify({ key, since, used: now }))
  return Buffer.from(key, 'base64')
}

export async function keepUnlocked(folder: string | undefined, key: Uint8Array, now = Date.now()): Promise<void> {
  if (folder === undefined || !(await isOurs(folder))) return
  const unlocked: Unlocked = { key: Buffer.from(key).toString('base64'), since: now, used: now }
  await writePrivate(place(folder), JSON.stringify(unlocked))
}

export async function lock(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await rm(place(folder), { force: true })
}
