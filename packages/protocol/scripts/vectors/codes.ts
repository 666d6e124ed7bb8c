import type { ProtocolErrorCode } from '../../src/errors.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { base64, hex } from './reference.ts'

// Section 8: the codes people copy by hand, and the floor under passphrase stretching.

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The checksum of BIP-173 with the constant of BIP-350, written down as in those documents. */
function polymod(values: readonly number[]): number {
  const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
  let check = 1
  for (const value of values) {
    const top = check >>> 25
    check = ((check & 0x1ffffff) << 5) ^ value
    for (let i = 0; i < 5; i++) check ^= (top >>> i) & 1 ? (generator[i] as number) : 0
  }
  return check
}

const symbols = (text: string): number[] => Array.from(text, (char) => ALPHABET.indexOf(char))

/** Five bits a symbol, the last filled with zeros. */
function toSymbols(bytes: Uint8Array): number[] {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((group) => Number.parseInt(group.padEnd(5, '0'), 2))
}

export function codeOf(prefix: 'SRD1' | 'SRR1', bytes: Uint8Array): string {
  const data = toSymbols(bytes)
  const remainder = polymod([...symbols(prefix), ...data, 0, 0, 0, 0, 0, 0]) ^ 0x2bc830a3
  const checksum = [25, 20, 15, 10, 5, 0].map((shift) => (remainder >>> shift) & 31)
  const text = [...data, ...checksum].map((symbol) => ALPHABET[symbol]).join('')
  return [prefix, ...(text.match(/.{1,4}/g) ?? [])].join('-')
}

export const DEVICE_BYTES = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')
export const RECOVERY_BYTES = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i))
export const DEVICE = codeOf('SRD1', DEVICE_BYTES)
export const RECOVERY = codeOf('SRR1', RECOVERY_BYTES)

const exchanged = (text: string, at: number): string =>
  text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2)
const replaced = (text: string, at: number, char: string): string => text.slice(0, at) + char + text.slice(at + 1)

const formats = (kind: 'device' | 'recovery', name: string, bytes: Uint8Array): VectorCase =>
  accepts('format', name, { kind, bytes: hex(bytes) }, { text: codeOf(kind === 'device' ? 'SRD1' : 'SRR1', bytes) })
const parses = (kind: 'device' | 'recovery', name: string, typed: string, bytes: Uint8Array): VectorCase =>
  accepts('parse', name, { kind, typed }, { bytes: hex(bytes) })
const unreadable = (
  kind: 'device' | 'recovery',
  name: string,
  typed: string,
  code: ProtocolErrorCode = 'malformed',
): VectorCase => refuses('parse', name, code, { kind, typed })

const codeCases: readonly VectorCase[] = [
  formats('device', 'a device secret', DEVICE_BYTES),
  formats('device', 'a device secret of zeros', Buffer.alloc(16)),
  formats('device', 'a device secret of ones', Buffer.alloc(16, 255)),
  formats('recovery', 'a recovery code', RECOVERY_BYTES),
  formats('recovery', 'a recovery code of zeros', Buffer.alloc(32)),
  parses('device', 'a device secret as it is written', DEVICE, DEVICE_BYTES),
  parses('device', 'in lower case', DEVICE.toLowerCase(), DEVICE_BYTES),
  parses('device', 'without dashes', DEVICE.replaceAll('-', ''), DEVICE_BYTES),
  parses(
    'device',
    'with spaces, and the dashes of a word processor',
    ` ${DEVICE.replaceAll('-', ' – ')} `,
    DEVICE_BYTES,
  ),
  parses('device', 'with O for 0', DEVICE.replaceAll('0', 'O'), DEVICE_BYTES),
  parses('device', 'with i and l for 1', DEVICE.replaceAll('1', 'l').replace('l', 'i'), DEVICE_BYTES),
  parses('recovery', 'a recovery code as it is written', RECOVERY, RECOVERY_BYTES),
  unreadable('device', 'one character wrong', replaced(DEVICE, 6, DEVICE.charAt(6) === 'A' ? 'B' : 'A')),
  unreadable(
    'device',
    'one character of the checksum wrong',
    replaced(DEVICE, DEVICE.length - 1, DEVICE.endsWith('A') ? 'B' : 'A'),
  ),
  unreadable('device', 'two neighbours exchanged', exchanged(DEVICE, 10)),
  unreadable('device', 'a character missing', DEVICE.slice(0, -1)),
  unreadable('device', 'a character too many', `${DEVICE}0`),
  unreadable('device', 'the letter U', replaced(DEVICE, 6, 'U')),
  unreadable('device', 'another sign', replaced(DEVICE, 6, '*')),
  unreadable('device', 'a letter that becomes ASCII in upper case', replaced(DEVICE, 6, 'ı')),
  unreadable('device', 'a recovery code in its place', RECOVERY),
  unreadable('recovery', 'a device secret in its place', DEVICE),
  unreadable('device', 'another prefix', DEVICE.replace('SRD', 'SRX')),
  unreadable('device', 'another version', DEVICE.replace('SRD1', 'SRD2'), 'alg_downgrade'),
  unreadable('device', 'nothing', ''),
  unreadable('device', 'a whole page', 'A'.repeat(257), 'limit_exceeded'),
  unreadable('recovery', 'two characters wrong', replaced(replaced(RECOVERY, 6, 'X'), 20, 'X')),
]

export const makeCodes = (): VectorFile => ({
  vectors: 'codes',
  section: '8',
  comment:
    'Device secret (SRD1, 128 bits) and recovery code (SRR1, 256 bits): Crockford base32 with the checksum of BIP-350 over prefix and data, in groups of four.',
  cases: codeCases,
})

const SALT16 = base64(Buffer.alloc(16, 7)).replace(/=+$/, '')
export const argon = (m: number, t: number, p = 4, v = 19, salt = SALT16): string =>
  `$argon2id$v=${v}$m=${m},t=${t},p=${p}$${salt}`
const pbkdf = (i: number): string => `$pbkdf2-sha256$i=${i}$${SALT16}`
export const PHC = argon(65_536, 3)

const allowed = (name: string, phc: string, result: object, rule: object = {}): VectorCase =>
  accepts('check', name, { phc, policyKdf: 'argon2id', ...rule }, { ...result, salt: hex(Buffer.alloc(16, 7)) })
const below = (name: string, phc: string, rule: object = {}, code: ProtocolErrorCode = 'kdf_floor'): VectorCase =>
  refuses('check', name, code, { phc, policyKdf: 'argon2id', ...rule })

const floorCases: readonly VectorCase[] = [
  allowed('the floor', PHC, { algorithm: 'argon2id', memoryKib: 65_536, passes: 3 }),
  allowed(
    'more of both',
    argon(131_072, 4),
    { algorithm: 'argon2id', memoryKib: 131_072, passes: 4 },
    { lastUsed: PHC },
  ),
  allowed(
    'Argon2id under a policy of PBKDF2',
    PHC,
    { algorithm: 'argon2id', memoryKib: 65_536, passes: 3 },
    { policyKdf: 'pbkdf2' },
  ),
  allowed(
    'PBKDF2 where the policy says so',
    pbkdf(600_000),
    { algorithm: 'pbkdf2-sha256', iterations: 600_000 },
    { policyKdf: 'pbkdf2' },
  ),
  allowed(
    'PBKDF2 after Argon2id where the policy says so',
    pbkdf(600_000),
    { algorithm: 'pbkdf2-sha256', iterations: 600_000 },
    { policyKdf: 'pbkdf2', lastUsed: PHC },
  ),
  below('a little less memory', argon(65_535, 3)),
  below('one pass less', argon(65_536, 2)),
  below('another number of lanes', argon(65_536, 3, 1)),
  below('an older version of Argon2', argon(65_536, 3, 4, 16)),
  below('Argon2i', PHC.replace('argon2id', 'argon2i')),
  below('bcrypt', '$2b$12$abcdefghijklmnopqrstuv', {}, 'kdf_floor'),
  below('a salt of 15 bytes', argon(65_536, 3, 4, 19, base64(Buffer.alloc(15, 7)))),
  below('PBKDF2 where the policy does not say so', pbkdf(600_000)),
  below('an iteration less', pbkdf(599_999), { policyKdf: 'pbkdf2' }),
  below('less memory than last time', PHC, { lastUsed: argon(131_072, 3) }),
  below('fewer passes than last time', argon(131_072, 3), { lastUsed: argon(65_536, 4) }),
  below('fewer iterations than last time', pbkdf(600_000), { policyKdf: 'pbkdf2', lastUsed: pbkdf(700_000) }),
  below('more than a gigabyte', argon(1_048_577, 3), {}, 'limit_exceeded'),
  below('more work than a client will spend', argon(1_048_576, 5), {}, 'limit_exceeded'),
  below('more iterations than a client will spend', pbkdf(10_000_001), { policyKdf: 'pbkdf2' }, 'limit_exceeded'),
  below('a hash after the salt', `${PHC}$AAAA`, {}, 'malformed'),
  below('a leading zero', PHC.replace('t=3', 't=03'), {}, 'malformed'),
  below('parameters in another order', PHC.replace('m=65536,t=3', 't=3,m=65536'), {}, 'malformed'),
  below('a salt that is no base64', argon(65_536, 3, 4, 19, '!!!!'), {}, 'malformed'),
  below('no PHC string', 'argon2id', {}, 'malformed'),
  below('nothing', '', {}, 'malformed'),
]

export const makeKdfFloor = (): VectorFile => ({
  vectors: 'kdf-floor',
  section: '8',
  comment:
    'Parameters for passphrase stretching that a server names, the way the signed policy asks for, and what the client used last.',
  cases: floorCases,
})
