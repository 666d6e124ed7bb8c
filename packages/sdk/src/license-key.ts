import type { IssuerKey } from './provisioner.ts'

// Keys of the built-in issuer, `key/<payload>.<signature>` with Ed25519: whoever has its public keys verifies them without asking anybody.
// The keys are public, at /.well-known/license-issuer-keys.json of the server that sells; put them into the program that checks.

export interface LicenseClaims {
  readonly licenseInstanceId: string
  readonly sku: string
  /** The organisation that bought it. */
  readonly org: string
  /** The server that issued it. */
  readonly issuer: string
  readonly seats: number
  readonly issuedAt: Date
  /** Null: it does not expire. */
  readonly expiresAt: Date | null
  /** Which key of the issuer has signed it. */
  readonly keyId: string
}

export interface VerifyLicenseOptions {
  /** Those of the issuer: all of them, also older ones. */
  readonly keys: readonly IssuerKey[]
  readonly now?: Date
  /** Refuses keys of other products. */
  readonly sku?: string
}

export type LicenseProblem =
  | 'malformed'
  | 'unknown_key'
  | 'bad_signature'
  | 'not_yet_valid'
  | 'expired'
  | 'other_product'

/** The key of a licence is not to be believed, or not for this; `problem` says why. */
export class LicenseVerificationError extends Error {
  override name = 'LicenseVerificationError'
  readonly problem: LicenseProblem
  constructor(problem: LicenseProblem, message: string) {
    super(message)
    this.problem = problem
  }
}

const refuse = (problem: LicenseProblem, message: string): never => {
  throw new LicenseVerificationError(problem, message)
}

const FORM = /^key\/([A-Za-z0-9_-]{1,4096})\.([A-Za-z0-9_-]{86})$/

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  try {
    const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(text, (character) => character.charCodeAt(0))
  } catch {
    return refuse('malformed', 'this is no licence key')
  }
}

interface Payload {
  readonly v: 1
  readonly iss: string
  readonly kid: string
  readonly lic: string
  readonly sku: string
  readonly sub: string
  readonly seats: number
  readonly iat: number
  readonly nbf: number
  readonly exp?: number
}

const TEXTS = ['iss', 'kid', 'lic', 'sku', 'sub'] as const
const NUMBERS = ['seats', 'iat', 'nbf'] as const

function payloadIn(bytes: Uint8Array): Payload {
  let read: Partial<Record<string, unknown>> | null = null
  try {
    read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // Said below, once for both.
  }
  const isWhole =
    typeof read === 'object' &&
    read?.v === 1 &&
    TEXTS.every((name) => typeof read[name] === 'string') &&
    NUMBERS.every((name) => Number.isSafeInteger(read[name])) &&
    (read.exp === undefined || Number.isSafeInteger(read.exp))
  return isWhole ? (read as unknown as Payload) : refuse('malformed', 'the licence key says nothing that is understood')
}

async function isSigned(key: IssuerKey, signature: Uint8Array<ArrayBuffer>, signed: string): Promise<boolean> {
  const publicKey = await crypto.subtle.importKey('raw', bytesOf(key.x), { name: 'Ed25519' }, false, ['verify'])
  return crypto.subtle.verify('Ed25519', publicKey, signature, new TextEncoder().encode(signed))
}

/** What a licence key says, if the issuer has signed it and it holds now. Throws `LicenseVerificationError` otherwise. */
export async function verifyLicense(
  licenseKey: string,
  { keys, now = new Date(), sku }: VerifyLicenseOptions,
): Promise<LicenseClaims> {
  const [, body = '', signature = ''] = FORM.exec(licenseKey.trim()) ?? refuse('malformed', 'this is no licence key')
  const payload = payloadIn(bytesOf(body))
  const key =
    keys.find(({ kid }) => kid === payload.kid) ?? refuse('unknown_key', 'no key of this issuer has this name')
  // Only what is signed counts, and the signature is over the text as it came.
  if (!(await isSigned(key, bytesOf(signature), `key/${body}`)))
    refuse('bad_signature', 'the issuer has not signed this')
  const at = now.getTime() / 1000
  if (at < payload.nbf) refuse('not_yet_valid', 'the licence has not begun')
  if (payload.exp !== undefined && at >= payload.exp) refuse('expired', 'the licence has expired')
  if (sku !== undefined && payload.sku !== sku) refuse('other_product', 'the licence is of another product')
  const { lic, sub, iss, seats, iat, exp, kid } = payload
  return {
    licenseInstanceId: lic,
    sku: payload.sku,
    org: sub,
    issuer: iss,
    seats,
    issuedAt: new Date(iat * 1000),
    expiresAt: exp === undefined ? null : new Date(exp * 1000),
    keyId: kid,
  }
}
