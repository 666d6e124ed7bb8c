import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { CliError } from '../errors/cli-error.ts'

// An archive of values under a passphrase: `SRX1`, cost, salt and nonce, then AES-256-GCM over gzipped JSON. The header is
// authenticated, so nobody can lower the cost of guessing.

const MAGIC = Buffer.from('SRX1')
const LOG_N = 17
const HEADER = MAGIC.length + 1 + 16 + 12
const LARGEST_LOG_N = 20

const keyOf = (passphrase: string, salt: Uint8Array, logN: number): Buffer =>
  scryptSync(passphrase.normalize('NFKC'), salt, 32, { N: 2 ** logN, r: 8, p: 1, maxmem: 2 ** (logN + 11) })

export function sealArchive(content: unknown, passphrase: string): Buffer {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const header = Buffer.concat([MAGIC, Buffer.of(LOG_N), salt, nonce])
  const cipher = createCipheriv('aes-256-gcm', keyOf(passphrase, salt, LOG_N), nonce).setAAD(header)
  const sealed = Buffer.concat([cipher.update(gzipSync(JSON.stringify(content))), cipher.final()])
  return Buffer.concat([header, sealed, cipher.getAuthTag()])
}

export function openArchive(bytes: Buffer, passphrase: string): unknown {
  const logN = bytes[MAGIC.length] ?? 0
  const isArchive =
    bytes.length > HEADER + 16 && bytes.subarray(0, 4).equals(MAGIC) && logN >= LOG_N && logN <= LARGEST_LOG_N
  if (!isArchive) throw new CliError('import_unreadable', 'this is not an archive of strongroom export')
  const header = bytes.subarray(0, HEADER)
  const [salt, nonce] = [header.subarray(5, 21), header.subarray(21)]
  const decipher = createDecipheriv('aes-256-gcm', keyOf(passphrase, salt, logN), nonce).setAAD(header)
  decipher.setAuthTag(bytes.subarray(-16))
  try {
    const packed = Buffer.concat([decipher.update(bytes.subarray(HEADER, -16)), decipher.final()])
    return JSON.parse(gunzipSync(packed, { maxOutputLength: 1_073_741_824 }).toString('utf8'))
  } catch {
    throw new CliError('wrong_passphrase', 'the passphrase does not open the archive, or it was altered')
  }
}
