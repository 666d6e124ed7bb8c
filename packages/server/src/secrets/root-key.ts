import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { StartError } from '../errors.ts'
import { ownName, whyForbidden } from '../forbidden.ts'
import { unusable } from '../postgres/data-lock.ts'

// The server's own secrets hang on one root key that is not in the database. Losing it loses no customer secret: values are
// not encrypted with it.

const ROOT_KEY_BYTES = 32

/** Purposes of derived keys. A purpose never changes its meaning. */
export type Purpose = 'seal' | 'backup' | 'cursor' | 'object-url' | 'opaque'

export interface RootKey {
  /** A key for one purpose; the same for every process on the same root key. */
  derive(purpose: Purpose): KeyObject
  seal(name: string, secret: Uint8Array): Buffer
  /** undefined if it was sealed under another root key or name. */
  open(name: string, sealed: Uint8Array): Buffer | undefined
}

export function openRootKey(bytes: Uint8Array): RootKey {
  const derived = new Map<Purpose, KeyObject>()
  const derive = (purpose: Purpose): KeyObject => {
    const known = derived.get(purpose)
    if (known) return known
    const key = createSecretKey(Buffer.from(hkdfSync('sha256', bytes, 'strongroom.server', purpose, 32)))
    derived.set(purpose, key)
    return key
  }
  return {
    derive,
    seal: (name, secret) => {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', derive('seal'), nonce).setAAD(Buffer.from(name))
      return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
    },
    open: (name, sealed) => {
      const decipher = createDecipheriv('aes-256-gcm', derive('seal'), sealed.subarray(0, 12), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(name)).setAuthTag(sealed.subarray(sealed.length - 16))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(12, sealed.length - 16)), decipher.final()])
      } catch {
        return undefined
      }
    },
  }
}

function decode(text: string, from: string): Buffer {
  const bytes = Buffer.from(text.trim(), 'base64url')
  if (bytes.length !== ROOT_KEY_BYTES || bytes.toString('base64url') !== text.trim()) {
    throw new StartError(
      'root_key_invalid',
      `the root key from ${from} is not 32 bytes in base64url`,
      "put your copy of the key back; only a new server gets a new one: node -p \"require('crypto').randomBytes(32).toString('base64url')\"",
    )
  }
  return bytes
}

/** Where the root key lies; undefined if the environment itself holds it. */
export const rootKeyFileOf = ({ rootKey, rootKeyFile, dataDirectory }: Config): string | undefined =>
  rootKey === undefined ? (rootKeyFile ?? join(dataDirectory, 'root.key')) : undefined

function bytesOf(file: string): Buffer {
  try {
    return decode(readFileSync(file, 'utf8'), file)
  } catch (error) {
    const why = whyForbidden(error)
    if (why === undefined) throw error
    throw new StartError(
      'root_key_unreadable',
      `the root key ${file} cannot be read: ${why}`,
      `let ${ownName()} read it, and nobody else`,
    )
  }
}

export const readRootKeyFile = (file: string): RootKey => openRootKey(bytesOf(file))

/** Whether two files hold the same key. Refuses what is no key. */
export const isSameRootKey = (one: string, other: string): boolean => bytesOf(one).equals(bytesOf(other))

/** The same key in another place, whole and on disk when this returns. */
export function copyRootKeyFile(from: string, to: string): void {
  writeDurably(to, `${bytesOf(from).toString('base64url')}\n`)
}

/** A new one, whole and on disk when this returns. Where another process has just made one, that one is kept: it may have sealed with it. */
export function makeRootKeyFile(file: string): void {
  writeDurably(file, `${randomBytes(ROOT_KEY_BYTES).toString('base64url')}\n`)
}

/** From the environment, from a file the operator names, or from the data directory. Refuses where there is none. */
export function readRootKey(config: Config): RootKey {
  const file = rootKeyFileOf(config)
  if (file === undefined) return openRootKey(decode(config.rootKey ?? '', 'STRONGROOM_ROOT_KEY'))
  if (existsSync(file)) return readRootKeyFile(file)
  throw new StartError(
    'root_key_missing',
    `there is no root key at ${file}`,
    config.rootKeyFile === undefined
      ? `put your copy of it back at ${file}, or name it with STRONGROOM_ROOT_KEY_FILE`
      : 'put your copy of it back there, or set STRONGROOM_ROOT_KEY_FILE to where it is',
  )
}

/** As `readRootKey`. The first start makes one; a database that has secrets under another one would never open with it. */
export async function loadRootKey(config: Config, { kysely }: Pick<Database, 'kysely'>): Promise<RootKey> {
  const file = rootKeyFileOf(config)
  if (file !== undefined && config.rootKeyFile === undefined && !existsSync(file)) {
    const sealed = await kysely.selectFrom('server_secret').select('name').limit(1).executeTakeFirst()
    if (!sealed) makeRootKeyFile(file)
  }
  return readRootKey(config)
}

/** Written whole or not at all: a server that lost its root key half-written could not open its own log key. */
function writeDurably(file: string, text: string): void {
  try {
    writeWhole(file, text)
  } catch (error) {
    throw unusable(dirname(file), error)
  }
}

function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o711 })
  // Not the number of this process: in containers those that share the folder have the same one, and so has the next start after a kill.
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  const handle = openSync(draft, 'wx', 0o600)
  writeSync(handle, text)
  fsyncSync(handle)
  closeSync(handle)
  putInPlace(draft, file)
  const directory = openSync(dirname(file), 'r')
  fsyncSync(directory)
  closeSync(directory)
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** A link takes no other's place, as a rename would. */
function putInPlace(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (NO_LINKS.has(code)) renameSync(draft, file)
    else if (code !== 'EEXIST') throw error
  }
  rmSync(draft, { force: true })
}
