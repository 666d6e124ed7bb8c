import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { StartError } from '../errors.ts'

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
      "make one: node -p \"require('crypto').randomBytes(32).toString('base64url')\"",
    )
  }
  return bytes
}

/** Where the root key lies; undefined if the environment itself holds it. */
export const rootKeyFileOf = ({ rootKey, rootKeyFile, dataDirectory }: Config): string | undefined =>
  rootKey === undefined ? (rootKeyFile ?? join(dataDirectory, 'root.key')) : undefined

export const readRootKeyFile = (file: string): RootKey => openRootKey(decode(readFileSync(file, 'utf8'), file))

/** A new one, whole and on disk when this returns. Refuses to write over a file. */
export function makeRootKeyFile(file: string): void {
  writeDurably(file, `${randomBytes(ROOT_KEY_BYTES).toString('base64url')}\n`)
}

/** From the environment, from a file the operator names, or from the data directory, where the first start makes one. */
export function loadRootKey(config: Config): RootKey {
  if (config.rootKey !== undefined) return openRootKey(decode(config.rootKey, 'STRONGROOM_ROOT_KEY'))
  const file = config.rootKeyFile ?? join(config.dataDirectory, 'root.key')
  if (!existsSync(file)) {
    if (config.rootKeyFile !== undefined)
      throw new StartError(
        'root_key_missing',
        `there is no root key at ${file}`,
        'restore it from your backup, or unset STRONGROOM_ROOT_KEY_FILE',
      )
    makeRootKeyFile(file)
  }
  return readRootKeyFile(file)
}

/** Written whole or not at all: a server that lost its root key half-written could not open its own log key. */
function writeDurably(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o711 })
  const draft = `${file}.${process.pid}`
  const handle = openSync(draft, 'wx', 0o600)
  writeSync(handle, text)
  fsyncSync(handle)
  closeSync(handle)
  renameSync(draft, file)
  const directory = openSync(dirname(file), 'r')
  fsyncSync(directory)
  closeSync(directory)
}
