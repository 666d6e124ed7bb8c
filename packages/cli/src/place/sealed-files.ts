import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from 'node:crypto'
import { join } from 'node:path'
import { CliError } from '../errors/cli-error.ts'
import { readIfThere, writePrivate } from './private-file.ts'

// Where there is no system keychain: one master key, sealed with the passphrase; everything else is sealed with the master key.
// A new passphrase seals 32 bytes anew, and an unlocked machine keeps those 32 bytes and not the passphrase.

const COST = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1024 * 1024 } as const
const SUITE = 'scrypt-131072-8-1/aes-256-gcm'

interface Sealed {
  readonly suite: string
  readonly salt?: string
  readonly nonce: string
  readonly sealed: string
}

const masterPath = (folder: string): string => join(folder, 'master.json')
const filePath = (folder: string, name: string): string => join(folder, `${name}.key`)

function seal(key: Uint8Array, purpose: string, secret: Uint8Array): Pick<Sealed, 'nonce' | 'sealed'> {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
  const sealed = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()])
  return { nonce: nonce.toString('base64'), sealed: sealed.toString('base64') }
}

function open(key: Uint8Array, purpose: string, { nonce, sealed }: Sealed): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64')).setAAD(Buffer.from(purpose))
  decipher.setAuthTag(bytes.subarray(-16))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()])
  } catch {
    return undefined
  }
}

const stretch = (passphrase: string, salt: Uint8Array): Buffer =>
  scryptSync(passphrase.normalize('NFKC'), salt, 32, COST)

async function readSealed(path: string): Promise<Sealed | undefined> {
  const text = await readIfThere(path)
  if (text === undefined) return undefined
  try {
    const sealed = JSON.parse(text) as Sealed
    if (sealed.suite === SUITE && typeof sealed.nonce === 'string' && typeof sealed.sealed === 'string') return sealed
  } catch {
    // Said below, once for both.
  }
  throw new CliError('file_unreadable', `${path} is not a file of sealed keys`, {
    fix: 'restore it from a backup, or move it away and run: strongroom login',
  })
}

export const hasMaster = async (folder: string): Promise<boolean> =>
  (await readSealed(masterPath(folder))) !== undefined

/** Tells one sealed master key from every other and says nothing of the key itself; nothing where there is none. */
export async function markOfMaster(folder: string): Promise<string | undefined> {
  const master = await readSealed(masterPath(folder))
  return master && createHash('sha256').update(master.sealed).digest('base64url')
}

/** A new master key under this passphrase. What was sealed with an older one cannot be opened any more. */
export async function makeMaster(folder: string, passphrase: string): Promise<Uint8Array> {
  const key = randomBytes(32)
  await sealMaster(folder, key, passphrase)
  return key
}

/** The same master key under another passphrase. */
export async function sealMaster(folder: string, key: Uint8Array, passphrase: string): Promise<void> {
  const salt = randomBytes(16)
  const sealed = { suite: SUITE, salt: salt.toString('base64'), ...seal(stretch(passphrase, salt), 'master', key) }
  await writePrivate(masterPath(folder), `${JSON.stringify(sealed)}\n`)
}

/** Nothing where the passphrase is another one. */
export async function openMaster(folder: string, passphrase: string): Promise<Uint8Array | undefined> {
  const sealed = await readSealed(masterPath(folder))
  if (!sealed?.salt) return undefined
  return open(stretch(passphrase, Buffer.from(sealed.salt, 'base64')), 'master', sealed)
}

export async function readSecretFile(folder: string, name: string, key: Uint8Array): Promise<string | undefined> {
  const sealed = await readSealed(filePath(folder, name))
  if (!sealed) return undefined
  const opened = open(key, `secret of ${name}`, sealed)
  if (opened) return opened.toString('utf8')
  throw new CliError('file_unreadable', `${filePath(folder, name)} was sealed with other keys, or was altered`, {
    fix: 'run: strongroom login',
  })
}

export async function writeSecretFile(folder: string, name: string, key: Uint8Array, secret: string): Promise<void> {
  const sealed = { suite: SUITE, ...seal(key, `secret of ${name}`, Buffer.from(secret)) }
  await writePrivate(filePath(folder, name), `${JSON.stringify(sealed)}\n`)
}

export const secretFile = filePath
