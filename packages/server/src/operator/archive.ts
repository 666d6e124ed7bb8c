import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  scryptSync,
  timingSafeEqual,
} from 'node:crypto'
import { rmSync } from 'node:fs'
import { access, type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { RootKey } from '../secrets/root-key.ts'
import { OperatorError } from './operator-error.ts'

// A file of encrypted lines. Text in chunks of 64 KiB, each under AES-256-GCM with its number and whether it is the last as
// nonce: chunks cannot be changed, moved, left out or cut off. The key is made for this file from a random salt and the root
// key or a passphrase. The first line of the file is plain, says how, and is part of what every chunk authenticates.

export type ArchiveLock = { readonly rootKey: RootKey } | { readonly passphrase: string }

const MAGIC = 'strongroom-backup'
const CHUNK_BYTES = 65_536
const TAG_BYTES = 16
const MAX_HEADER_BYTES = 512
const MIN_PASSPHRASE = 12
const SCRYPT = { N: 131_072, r: 8, p: 1, maxmem: 268_435_456 } as const

interface Header {
  readonly format: string
  readonly version: 1
  readonly lock: 'root-key' | 'passphrase'
  readonly salt: string
  /** Tells a wrong key from a damaged file. */
  readonly check: string
}

function fileKey(lock: ArchiveLock, salt: Buffer): Buffer {
  const master =
    'passphrase' in lock
      ? scryptSync(lock.passphrase.normalize('NFC'), salt, 32, SCRYPT)
      : lock.rootKey.derive('backup').export()
  return Buffer.from(hkdfSync('sha256', master, salt, 'strongroom.backup.v1', 32))
}

const checkOf = (key: Buffer): Buffer =>
  createHmac('sha256', key).update('strongroom.backup.check').digest().subarray(0, 16)

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(index, 5, 6)
  nonce.writeUInt8(isLast ? 1 : 0, 11)
  return nonce
}

export interface ArchiveWriter {
  write(line: string): Promise<void>
  /** Of all lines so far. */
  digest(): string
  /** The file is there, whole and on disk, from now on and not before. */
  finish(): Promise<{ bytes: number }>
  abandon(): Promise<void>
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

export async function createArchive(file: string, lock: ArchiveLock): Promise<ArchiveWriter> {
  if ('passphrase' in lock && lock.passphrase.length < MIN_PASSPHRASE)
    throw new OperatorError(
      'passphrase_short',
      `a passphrase of less than ${MIN_PASSPHRASE} characters protects nothing`,
      'choose a longer one',
    )
  if (await exists(file))
    throw new OperatorError(
      'archive_exists',
      `there is a file at ${file} already`,
      'name another file, or move that one',
    )
  const draft = `${file}.${randomBytes(4).toString('hex')}.partial`
  const handle = await open(draft, 'wx', 0o600)
  const removeDraft = (): void => rmSync(draft, { force: true })
  process.once('exit', removeDraft)
  const salt = randomBytes(32)
  const key = fileKey(lock, salt)
  const header = Buffer.from(
    `${JSON.stringify({ format: MAGIC, version: 1, lock: 'passphrase' in lock ? 'passphrase' : 'root-key', salt: salt.toString('base64url'), check: checkOf(key).toString('base64url') } satisfies Header)}\n`,
  )
  await handle.writeFile(header)
  const writer = chunkWriter({ handle, draft, file }, key, header)
  const settled = <T>(work: Promise<T>): Promise<T> => work.finally(() => process.off('exit', removeDraft))
  return { ...writer, finish: () => settled(writer.finish()), abandon: () => settled(writer.abandon()) }
}

/** Encrypts one chunk after the other. */
function chunkSealer(key: Buffer, header: Buffer): (plain: Buffer, isLast: boolean) => Buffer {
  let index = 0
  return (plain, isLast) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index++, isLast)).setAAD(header)
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }
}

function chunkWriter(
  place: { handle: FileHandle; draft: string; file: string },
  key: Buffer,
  header: Buffer,
): ArchiveWriter {
  const { handle, draft, file } = place
  const digest = createHash('sha256')
  const seal = chunkSealer(key, header)
  let waiting: Buffer[] = []
  let size = 0
  /** Whole chunks go out; at least one byte stays, so that the last chunk is never empty. */
  const flush = async (): Promise<void> => {
    const all = Buffer.concat(waiting)
    let at = 0
    for (; all.length - at > CHUNK_BYTES; at += CHUNK_BYTES)
      await handle.writeFile(seal(all.subarray(at, at + CHUNK_BYTES), false))
    waiting = [all.subarray(at)]
    size = all.length - at
  }
  return {
    write: async (line) => {
      const part = Buffer.from(`${line}\n`)
      digest.update(part)
      waiting.push(part)
      size += part.length
      if (size > 4 * CHUNK_BYTES) await flush()
    },
    digest: () => digest.copy().digest('hex'),
    finish: async () => {
      await flush()
      await handle.writeFile(seal(Buffer.concat(waiting), true))
      await handle.sync()
      const { size: bytes } = await handle.stat()
      await handle.close()
      await rename(draft, file)
      await syncDirectory(dirname(file))
      return { bytes }
    },
    abandon: async () => {
      await handle.close().catch(() => undefined)
      await unlink(draft).catch(() => undefined)
    },
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  await handle.sync().finally(() => handle.close())
}

const damaged = (file: string): OperatorError =>
  new OperatorError('archive_damaged', `the archive ${file} is damaged or was cut off`, 'use another copy of it')

function parseHeader(line: string): Header | undefined {
  try {
    const header = JSON.parse(line) as Header
    return header.format === MAGIC &&
      header.version === 1 &&
      typeof header.salt === 'string' &&
      typeof header.check === 'string'
      ? header
      : undefined
  } catch {
    return undefined
  }
}

async function openHeader(
  handle: FileHandle,
  file: string,
  lock: ArchiveLock,
): Promise<{ header: Buffer; key: Buffer }> {
  const start = Buffer.alloc(MAX_HEADER_BYTES)
  const { bytesRead } = await handle.read(start, 0, MAX_HEADER_BYTES, 0)
  const end = start.subarray(0, bytesRead).indexOf(10)
  const header = parseHeader(start.subarray(0, Math.max(0, end)).toString())
  if (!header)
    throw new OperatorError(
      'archive_unreadable',
      `${file} is not a backup this version can read`,
      'check the name of the file',
    )
  const wanted = 'passphrase' in lock ? 'passphrase' : 'root-key'
  const wrong = new OperatorError(
    'archive_key_wrong',
    `the archive ${file} is locked with ${header.lock === 'passphrase' ? 'another passphrase' : 'another root key'}`,
    'give the key or passphrase it was made with',
  )
  if (header.lock !== wanted) throw wrong
  const key = fileKey(lock, Buffer.from(header.salt, 'base64url'))
  const check = Buffer.from(header.check, 'base64url')
  if (check.length !== 16 || !timingSafeEqual(check, checkOf(key))) throw wrong
  return { header: start.subarray(0, end + 1), key }
}

async function openArchive(file: string): Promise<FileHandle> {
  const handle = await open(file, 'r').catch(() => undefined)
  // A folder can be opened as well, and not be read.
  if (handle && !(await handle.stat()).isDirectory()) return handle
  await handle?.close()
  throw new OperatorError(
    'archive_unreadable',
    `${file} cannot be read`,
    'check the name of the file and its permissions',
  )
}

/** Refuses a key or passphrase that the archive is not locked with. */
export async function ensureOpens(file: string, lock: ArchiveLock): Promise<void> {
  const handle = await openArchive(file)
  await openHeader(handle, file, lock).finally(() => handle.close())
}

/** The lines of an archive. Each one is authentic; that none is missing is known only when the last one has come. */
export async function* readArchive(file: string, lock: ArchiveLock): AsyncGenerator<string> {
  const handle = await openArchive(file)
  try {
    const { header, key } = await openHeader(handle, file, lock)
    const { size } = await handle.stat()
    let parts: Buffer[] = []
    let index = 0
    let at = header.length
    if (at >= size) throw damaged(file)
    for (; at < size; at += CHUNK_BYTES + TAG_BYTES) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES + TAG_BYTES, size - at))
      await handle.read(chunk, 0, chunk.length, at)
      const isLast = at + chunk.length === size
      let plain = decrypt(chunk, key, header, nonceOf(index++, isLast)) ?? fail(damaged(file))
      for (let end = plain.indexOf(10); end >= 0; end = plain.indexOf(10)) {
        yield Buffer.concat([...parts, plain.subarray(0, end)]).toString()
        parts = []
        plain = plain.subarray(end + 1)
      }
      parts.push(plain)
    }
  } finally {
    await handle.close()
  }
}

const fail = (error: Error): never => {
  throw error
}

function decrypt(chunk: Buffer, key: Buffer, header: Buffer, nonce: Buffer): Buffer | undefined {
  if (chunk.length <= TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(header)
  decipher.setAuthTag(chunk.subarray(chunk.length - TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(chunk.subarray(0, chunk.length - TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}
