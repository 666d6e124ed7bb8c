import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { CliError } from '../errors/cli-error.ts'

// An archive under a passphrase: `SRX2`, cost, salt and nonce, then the content in segments of 64 KiB, each AES-256-GCM under a nonce
// that counts them and says which one is the last: none can be left out, moved or cut off. The header is authenticated with each, so
// nobody can lower the cost of guessing. The key is of this archive alone, by its salt. `SRX1`, of before, is one such segment.

const MAGIC = Buffer.from('SRX2')
const FORMER = Buffer.from('SRX1')
const LOG_N = 17
const LARGEST_LOG_N = 20
const HEADER = MAGIC.length + 1 + 16 + 12
const TAG = 16
export const SEGMENT = 65_536
const LARGEST_JSON = 1_073_741_824

const keyOf = (passphrase: string, salt: Uint8Array, logN: number): Buffer =>
  scryptSync(passphrase.normalize('NFKC'), salt, 32, { N: 2 ** logN, r: 8, p: 1, maxmem: 2 ** (logN + 11) })

/** The first bytes of the header's nonce, the number of the segment, and whether it is the last. */
function nonceOf(header: Buffer, index: number, isLast: boolean): Buffer {
  const nonce = Buffer.from(header.subarray(21))
  nonce.writeUInt32BE(index, 7)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** The archive of what comes, as it comes: memory does not grow with it. */
export async function* sealArchive(
  content: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Buffer, void, undefined> {
  const header = Buffer.concat([MAGIC, Buffer.of(LOG_N), randomBytes(28)])
  const key = keyOf(passphrase, header.subarray(5, 21), LOG_N)
  let index = 0
  const seal = (segment: Uint8Array, isLast: boolean): Buffer => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(header, index, isLast)).setAAD(header)
    index += 1
    return Buffer.concat([cipher.update(segment), cipher.final(), cipher.getAuthTag()])
  }
  yield header
  let waiting = Buffer.alloc(0)
  for await (const chunk of content) {
    waiting = Buffer.concat([waiting, chunk])
    // Which segment is the last is known when there is no more.
    for (; waiting.length > SEGMENT; waiting = waiting.subarray(SEGMENT))
      yield seal(waiting.subarray(0, SEGMENT), false)
  }
  yield seal(waiting, true)
}

export interface OpenedArchive {
  /** How many bytes its content has. */
  readonly size: number
  /** A part of the content, as it is read; a segment that was altered ends it. */
  read(from: number, size: number): AsyncGenerator<Uint8Array, void, undefined>
  close(): Promise<void>
}

const notOurs = (): CliError => new CliError('import_unreadable', 'this is not an archive of strongroom export')
const altered = (): CliError =>
  new CliError('wrong_passphrase', 'the passphrase does not open the archive, or it was altered')

async function bytesAt(file: FileHandle, at: number, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size)
  let filled = 0
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, at + filled)
    if (bytesRead === 0) throw altered()
    filled += bytesRead
  }
  return bytes
}

/** Segments of `SRX2`; the only one of `SRX1` is as large as its file. */
function segmentsOf(header: Buffer, sealed: number) {
  const isFormer = header.subarray(0, 4).equals(FORMER)
  const size = isFormer ? sealed - TAG : SEGMENT
  const count = isFormer ? 1 : Math.max(1, Math.ceil(sealed / (SEGMENT + TAG)))
  const nonce = (index: number): Buffer =>
    isFormer ? header.subarray(21) : nonceOf(header, index, index === count - 1)
  return { isFormer, size, count, nonce }
}

export async function openArchive(path: string, passphrase: string): Promise<OpenedArchive & { isFormer: boolean }> {
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw new CliError('file_unreadable', `${path} cannot be read`, { fix: 'check the path', cause })
  })
  try {
    const sealed = (await file.stat()).size - HEADER
    if (sealed < TAG) throw notOurs()
    const header = await bytesAt(file, 0, HEADER)
    const [magic, logN] = [header.subarray(0, 4), header[4] ?? 0]
    const isOurs = (magic.equals(MAGIC) || magic.equals(FORMER)) && logN >= LOG_N && logN <= LARGEST_LOG_N
    const { isFormer, size, count, nonce } = segmentsOf(header, sealed)
    if (!isOurs || (isFormer && sealed > LARGEST_JSON)) throw notOurs()
    const key = keyOf(passphrase, header.subarray(5, 21), logN)
    const segment = async (index: number): Promise<Buffer> => {
      const at = index * (size + TAG)
      const bytes = await bytesAt(file, HEADER + at, Math.min(size + TAG, sealed - at))
      if (bytes.length < TAG) throw altered()
      const decipher = createDecipheriv('aes-256-gcm', key, nonce(index)).setAAD(header)
      decipher.setAuthTag(bytes.subarray(-TAG))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(0, -TAG)), decipher.final()])
      } catch {
        throw altered()
      }
    }
    return {
      isFormer,
      size: sealed - count * TAG,
      read: async function* (from, wanted) {
        let [at, left] = [from, wanted]
        while (left > 0) {
          const index = Math.floor(at / size)
          const part = (await segment(index)).subarray(at - index * size).subarray(0, left)
          if (part.length === 0) throw altered()
          yield part
          at += part.length
          left -= part.length
        }
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** What was packed as JSON. Refuses what would become larger than this program can hold. */
export function unpacked(packed: Uint8Array): unknown {
  try {
    return JSON.parse(gunzipSync(packed, { maxOutputLength: LARGEST_JSON }).toString('utf8'))
  } catch {
    throw altered()
  }
}
