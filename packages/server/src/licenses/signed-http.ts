import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Answered, EgressRefused, type Outgoing } from '../outside/egress.ts'

// Talking to a provider: both sides sign what they say with the secret they share, as Standard Webhooks does it.

/** The way out, given from outside so that it can be guarded and tested. */
export type Outbound = (outgoing: Outgoing) => Promise<Answered>

const TOLERANCE_S = 300

const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

export interface Signed {
  readonly id: string
  /** In seconds. */
  readonly timestamp: string
  readonly body: Uint8Array
}

export function signatureOf(secret: string, { id, timestamp, body }: Signed): string {
  const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return `v1,${mac}`
}

export function signedHeaders(secret: string, id: string, at: Date, body: Uint8Array): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatureOf(secret, { id, timestamp, body }),
  }
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>
const one = (headers: Headers, name: string): string => {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

/** Of an answer or of a callback: signed with the secret, and just now. */
export function isSigned(secret: string, headers: Headers, body: Uint8Array, now: Date): boolean {
  const [id, timestamp] = [one(headers, 'webhook-id'), one(headers, 'webhook-timestamp')]
  const age = Math.abs(now.getTime() / 1000 - Number(timestamp))
  if (id === '' || !/^[0-9]{1,12}$/.test(timestamp) || age > TOLERANCE_S) return false
  const expected = Buffer.from(signatureOf(secret, { id, timestamp, body }))
  return one(headers, 'webhook-signature')
    .split(' ')
    .some((offered) => offered.length === expected.length && timingSafeEqual(Buffer.from(offered), expected))
}

/** What the network says when nothing has left this machine. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

export type Reply =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Buffer }
  | { readonly kind: 'unavailable' | 'unknown'; readonly cause: string }

/** After a request has left, every end but a genuine answer is unknown. */
export function failureOf(error: unknown): Reply {
  if (error instanceof EgressRefused) return { kind: 'unavailable', cause: 'address_refused' }
  const { code = 'no_answer' } = error as { code?: string }
  return NOT_SENT.has(code)
    ? { kind: 'unavailable', cause: 'not_reachable' }
    : { kind: 'unknown', cause: code === 'no_answer' ? code : code.toLowerCase() }
}
