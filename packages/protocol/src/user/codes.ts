import { platform } from '#platform'
import { fromBase32, toBase32 } from '../encoding/base64.ts'
import type { Bytes } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'

// Section 8: the two secrets a person may have to copy by hand, the device secret and the recovery code.
// Crockford's alphabet has no I, L, O and U, so that 1/I/L and 0/O are the same character however they are read.

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const RFC_4648 = 'abcdefghijklmnopqrstuvwxyz234567'
const GROUP = 4
const PREFIX_LENGTH = 4
const MAX_TYPED_LENGTH = 256

interface CodeForm {
  readonly prefix: string
  readonly name: string
  readonly bytes: number
}
const DEVICE: CodeForm = { prefix: 'SRD1', name: 'device secret', bytes: 16 }
const RECOVERY: CodeForm = { prefix: 'SRR1', name: 'recovery code', bytes: 32 }

declare const codeBrand: unique symbol
/** A secret in human hands. Its bytes live outside the object: one that is logged or serialised shows nothing. */
interface Code<N extends string> {
  readonly [codeBrand]: N
  readonly kind: N
}
export type DeviceSecret = Code<'device-secret'>
export type RecoveryCode = Code<'recovery-code'>

const secrets = new WeakMap<object, Bytes>()

function brand<N extends string>(kind: N, bytes: Bytes): Code<N> {
  const code = Object.freeze({ kind }) as Code<N>
  secrets.set(code, bytes)
  return code
}

/** Package-internal: the bytes, for deriving keys only. */
export function codeBytes(code: DeviceSecret | RecoveryCode): Bytes {
  const bytes = secrets.get(code)
  ensure(bytes, 'malformed', 'this code was not made or parsed by this package')
  return bytes
}

/** 128 bits that make guessing a passphrase hopeless, even for the server (section 8). */
export const makeDeviceSecret = (): DeviceSecret => brand('device-secret', platform.randomBytes(DEVICE.bytes))
/** 256 bits that open the private bundle without passphrase and device. */
export const makeRecoveryCode = (): RecoveryCode => brand('recovery-code', platform.randomBytes(RECOVERY.bytes))

/** `SRD1-` and eight groups of four: 26 characters of secret, 6 of checksum. */
export const formatDeviceSecret = (secret: DeviceSecret): string => format(DEVICE, codeBytes(secret))
/** `SRR1-` and fifteen groups: 52 characters of secret, 6 of checksum. */
export const formatRecoveryCode = (code: RecoveryCode): string => format(RECOVERY, codeBytes(code))

/** Takes what a person typed: any case, spaces and dashes anywhere, look-alikes. One wrong or swapped character is noticed. */
export const parseDeviceSecret = (typed: string): DeviceSecret => brand('device-secret', parse(DEVICE, typed))
export const parseRecoveryCode = (typed: string): RecoveryCode => brand('recovery-code', parse(RECOVERY, typed))

const CHECKSUM_LENGTH = 6
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const
/** The constant of BIP-350: with zero, characters could be added or lost before certain endings unnoticed. */
const TARGET = 0x2bc830a3

/**
 * The BCH code of BIP-173 over GF(32): any four wrong characters out of 89 are noticed, and two characters that were
 * swapped are two wrong ones. A truncated hash would notice them only with high probability.
 */
function residue(symbols: readonly number[]): number {
  let checksum = 1
  for (const symbol of symbols) {
    const top = checksum >>> 25
    checksum = ((checksum & 0x1ffffff) << 5) ^ symbol
    GENERATOR.forEach((term, bit) => {
      if ((top >>> bit) & 1) checksum ^= term
    })
  }
  return checksum
}

const symbolsOf = (text: string): number[] => Array.from(text, (char) => ALPHABET.indexOf(char))

function format({ prefix }: CodeForm, bytes: Bytes): string {
  const data = Array.from(toBase32(bytes), (char) => RFC_4648.indexOf(char))
  const room = new Array<number>(CHECKSUM_LENGTH).fill(0)
  // The prefix is under the checksum too: a code cannot become one of another kind by a typing error.
  const remainder = residue([...symbolsOf(prefix), ...data, ...room]) ^ TARGET
  const checksum = room.map((_, i) => (remainder >>> (5 * (CHECKSUM_LENGTH - 1 - i))) & 31)
  const body = [...data, ...checksum].map((symbol) => ALPHABET.charAt(symbol)).join('')
  return [prefix, ...(body.match(new RegExp(`.{1,${GROUP}}`, 'g')) ?? [])].join('-')
}

/** Spaces, and the dashes a word processor may have made of ours, go; look-alikes become what they were meant to be. */
function normalise({ name }: CodeForm, typed: string): string {
  ensure(typed.length <= MAX_TYPED_LENGTH, 'limit_exceeded', `this is too long for a ${name}`)
  const bare = typed.replace(/[\s\-\u2010-\u2015\u2212]/g, '')
  // Checked before the case is changed: some foreign letters become ASCII in upper case.
  ensure(/^[0-9A-Za-z]*$/.test(bare), 'malformed', `a ${name} consists of letters and digits only`)
  return bare.toUpperCase().replaceAll('O', '0').replace(/[IL]/g, '1')
}

function parse(form: CodeForm, typed: string): Bytes {
  const { prefix, name, bytes } = form
  const text = normalise(form, typed)
  const claimed = text.slice(0, PREFIX_LENGTH)
  const other = form === DEVICE ? RECOVERY : DEVICE
  ensure(claimed !== other.prefix, 'malformed', `this is a ${other.name}, not a ${name}`)
  const isFamily = claimed.slice(0, -1) === prefix.slice(0, -1)
  ensure(isFamily, 'malformed', `a ${name} begins with ${prefix}`)
  ensure(claimed === prefix, 'alg_downgrade', `this ${name} has a version this client does not know`)
  const expected = Math.ceil((bytes * 8) / 5) + CHECKSUM_LENGTH
  const body = symbolsOf(text.slice(PREFIX_LENGTH))
  ensure(
    body.length === expected,
    'malformed',
    `a ${name} has ${expected} characters after ${prefix}, this has ${body.length}`,
  )
  ensure(!body.includes(-1), 'malformed', `a ${name} never contains the letter U`)
  const matches = residue([...symbolsOf(prefix), ...body]) === TARGET
  ensure(matches, 'malformed', `the checksum of the ${name} does not match: a character is wrong or two are swapped`)
  return fromBase32(
    body
      .slice(0, -CHECKSUM_LENGTH)
      .map((symbol) => RFC_4648.charAt(symbol))
      .join(''),
  )
}
