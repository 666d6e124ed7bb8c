import { platform } from '#platform'
import type { Policy } from '../directory/documents.ts'
import { fromBase64, toBase64 } from '../encoding/base64.ts'
import type { Bytes } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'

// Section 8: the floor under passphrase stretching. It is compiled in; the server names parameters, but cannot lower them.

const ARGON2_VERSION = 19
const MIN_MEMORY_KIB = 65_536
const MIN_PASSES = 3
const LANES = 4
const MIN_ITERATIONS = 600_000
const MIN_SALT_BYTES = 16

// Ceilings: the parameters come from the server, which must not make a client burn its memory or its battery.
const MAX_MEMORY_KIB = 1_048_576
/** Memory times passes is the work: twenty times the floor, some ten seconds on a small machine. */
const MAX_WORK_KIB = 4_194_304
const MAX_ITERATIONS = 10_000_000
const MAX_SALT_BYTES = 64
const MAX_PHC_LENGTH = 256

declare const checkedPhc: unique symbol
/** A PHC parameter string that passed the floor. Only `checkKdf` makes one, and only such a one goes into a bundle. */
export type CheckedPhc = string & { readonly [checkedPhc]: true }

export interface Argon2idParameters {
  readonly algorithm: 'argon2id'
  readonly memoryKib: number
  readonly passes: number
  readonly lanes: 4
  readonly salt: Bytes
  readonly phc: CheckedPhc
}

export interface Pbkdf2Parameters {
  readonly algorithm: 'pbkdf2-sha256'
  readonly iterations: number
  readonly salt: Bytes
  readonly phc: CheckedPhc
}

export type KdfParameters = Argon2idParameters | Pbkdf2Parameters

export interface KdfRule {
  /** From the verified policy of the organisation, never from a response. */
  readonly policyKdf: Policy['kdf']
  /** The PHC string this client used last, from its own store. */
  readonly lastUsed?: string | undefined
}

const NUMBER = '([1-9][0-9]{0,9})'
const SALT = '([A-Za-z0-9+/]{1,172})'
const ARGON2ID = new RegExp(String.raw`^\$argon2id\$v=${NUMBER}\$m=${NUMBER},t=${NUMBER},p=${NUMBER}\$${SALT}$`)
const PBKDF2 = new RegExp(String.raw`^\$pbkdf2-sha256\$i=${NUMBER}\$${SALT}$`)

/**
 * Gives the parameters of a PHC string (parameters and salt, never a hash), or refuses: `malformed` if it is none,
 * `kdf_floor` below the floor, the policy or the parameters used last, `limit_exceeded` above what a client will spend.
 */
export function checkKdf(phc: string, { policyKdf, lastUsed }: KdfRule): KdfParameters {
  const parameters = parsePhc(phc)
  checkFloor(parameters)
  checkCeiling(parameters)
  const chosen = parameters.algorithm === 'argon2id' || policyKdf === 'pbkdf2'
  ensure(chosen, 'kdf_floor', 'PBKDF2 is used only where the signed policy of the organisation says so')
  if (lastUsed !== undefined) checkPinned(parameters, parsePhc(lastUsed))
  return parameters
}

function parsePhc(phc: string): KdfParameters {
  ensure(phc.length <= MAX_PHC_LENGTH, 'limit_exceeded', 'the parameters for passphrase stretching are too long')
  const name = /^\$([a-z0-9-]{1,32})\$/.exec(phc)?.[1]
  ensure(name !== undefined, 'malformed', 'the parameters for passphrase stretching are not a PHC string')
  ensure(
    name === 'argon2id' || name === 'pbkdf2-sha256',
    'kdf_floor',
    'passphrases are stretched with Argon2id or PBKDF2',
  )
  return name === 'argon2id' ? parseArgon2id(phc) : parsePbkdf2(phc)
}

function parseArgon2id(phc: string): Argon2idParameters {
  const [, version, memory, passes, lanes, salt] = ARGON2ID.exec(phc) ?? []
  ensure(salt !== undefined, 'malformed', 'Argon2id parameters are not of the form $argon2id$v=19$m=…,t=…,p=4$salt')
  ensure(Number(version) === ARGON2_VERSION, 'kdf_floor', 'Argon2id must be of version 19')
  ensure(Number(lanes) === LANES, 'kdf_floor', 'Argon2id must run in 4 lanes')
  const cost = { memoryKib: Number(memory), passes: Number(passes), lanes: LANES } as const
  return { algorithm: 'argon2id', ...cost, salt: parseSalt(salt), phc: phc as CheckedPhc }
}

function parsePbkdf2(phc: string): Pbkdf2Parameters {
  const [, iterations, salt] = PBKDF2.exec(phc) ?? []
  ensure(salt !== undefined, 'malformed', 'PBKDF2 parameters are not of the form $pbkdf2-sha256$i=…$salt')
  return { algorithm: 'pbkdf2-sha256', iterations: Number(iterations), salt: parseSalt(salt), phc: phc as CheckedPhc }
}

/** PHC strings hold standard base64 without its padding. */
const parseSalt = (text: string): Bytes => fromBase64(text + '='.repeat((4 - (text.length % 4)) % 4))

function checkFloor(parameters: KdfParameters): void {
  ensure(parameters.salt.length >= MIN_SALT_BYTES, 'kdf_floor', 'the salt must have at least 16 bytes')
  if (parameters.algorithm === 'argon2id') {
    ensure(parameters.memoryKib >= MIN_MEMORY_KIB, 'kdf_floor', 'Argon2id must use at least 64 MiB of memory')
    ensure(parameters.passes >= MIN_PASSES, 'kdf_floor', 'Argon2id must make at least 3 passes')
  } else {
    ensure(parameters.iterations >= MIN_ITERATIONS, 'kdf_floor', 'PBKDF2 must make at least 600000 iterations')
  }
}

function checkCeiling(parameters: KdfParameters): void {
  ensure(parameters.salt.length <= MAX_SALT_BYTES, 'limit_exceeded', 'the salt is longer than 64 bytes')
  if (parameters.algorithm === 'argon2id') {
    const { memoryKib, passes } = parameters
    ensure(memoryKib <= MAX_MEMORY_KIB, 'limit_exceeded', 'Argon2id asks for more than 1 GiB of memory')
    ensure(memoryKib * passes <= MAX_WORK_KIB, 'limit_exceeded', 'Argon2id asks for more work than a client will spend')
  } else {
    ensure(
      parameters.iterations <= MAX_ITERATIONS,
      'limit_exceeded',
      'PBKDF2 asks for more work than a client will spend',
    )
  }
}

/** Each cost on its own: less memory is weaker, whatever the passes. A change of algorithm is the signed policy's affair. */
function checkPinned(next: KdfParameters, last: KdfParameters): void {
  const message = 'the server asks for weaker passphrase stretching than this client used last'
  if (next.algorithm === 'argon2id' && last.algorithm === 'argon2id') {
    ensure(next.memoryKib >= last.memoryKib, 'kdf_floor', message)
    ensure(next.passes >= last.passes, 'kdf_floor', message)
  } else if (next.algorithm === 'pbkdf2-sha256' && last.algorithm === 'pbkdf2-sha256') {
    ensure(next.iterations >= last.iterations, 'kdf_floor', message)
  }
}

/** The parameters of a new passphrase: the floor itself (RFC 9106, second recommendation), with a fresh salt. */
export function makeKdf(policyKdf: Policy['kdf']): KdfParameters {
  const salt = toBase64(platform.randomBytes(MIN_SALT_BYTES)).replace(/=+$/, '')
  const argon2id = `$argon2id$v=${ARGON2_VERSION}$m=${MIN_MEMORY_KIB},t=${MIN_PASSES},p=${LANES}$${salt}`
  return checkKdf(policyKdf === 'pbkdf2' ? `$pbkdf2-sha256$i=${MIN_ITERATIONS}$${salt}` : argon2id, { policyKdf })
}
