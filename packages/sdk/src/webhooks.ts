// Standard Webhooks, for whoever receives them: https://www.standardwebhooks.com. Give the bytes as they came: what was parsed and written
// again is another message.

export interface WebhookEvent {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly apiVersion: string
  /** Of what it is about: whoever has seen a larger one has seen something newer. */
  readonly sequence: number
  readonly synthetic: boolean
  readonly org: string
  readonly tenant?: string
  readonly data: {
    readonly object: { readonly type: string; readonly id: string; readonly [member: string]: unknown }
    readonly previous?: Readonly<Record<string, unknown>>
  }
  readonly links?: { readonly self: string }
}

export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** What came is not signed with the secret of the endpoint, or too long ago. Answer 400, and use nothing of it. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError'
}

const TOLERANCE_SECONDS = 300

const refuse = (message: string): never => {
  throw new WebhookVerificationError(message)
}

function header(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([known]) => known.toLowerCase() === name)?.[1]
  return typeof value === 'string' && value !== '' ? value : refuse(`the header ${name} is missing`)
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return refuse('what should be base64 is not')
  }
}

function contentOf(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return content
}

interface Checker {
  readonly version: 'v1' | 'v1a'
  check(signature: Uint8Array<ArrayBuffer>, content: Uint8Array<ArrayBuffer>): Promise<boolean>
}

/** `whsec_…` or `whpk_…`: what it is says which signatures count. */
async function checkerOf(secretOrPublicKey: string): Promise<Checker> {
  const [, kind, text = ''] = /^(whsec|whpk)_(.+)$/.exec(secretOrPublicKey) ?? refuse('neither whsec_ nor whpk_')
  const isSecret = kind === 'whsec'
  const algorithm = isSecret ? { name: 'HMAC', hash: 'SHA-256' } : { name: 'Ed25519' }
  const key = await crypto.subtle.importKey('raw', fromBase64(text), algorithm, false, ['verify'])
  return {
    version: isSecret ? 'v1' : 'v1a',
    check: (signature, content) => crypto.subtle.verify(algorithm.name, key, signature, content),
  }
}

function ensureRecent(timestamp: string, now: Date): void {
  if (!/^[0-9]{1,12}$/.test(timestamp)) refuse('the timestamp is none')
  if (Math.abs(Math.floor(now.getTime() / 1000) - Number(timestamp)) > TOLERANCE_SECONDS)
    refuse('the timestamp is too far from now')
}

/**
 * The event, if it was signed with the secret (`whsec_…`) or for the public key (`whpk_…`) of the endpoint and sent within the last five
 * minutes. Throws `WebhookVerificationError` otherwise.
 */
export async function verifyWebhook(
  body: Uint8Array,
  headers: WebhookHeaders,
  secretOrPublicKey: string,
  { now = new Date() }: { readonly now?: Date } = {},
): Promise<WebhookEvent> {
  const [id, timestamp] = [header(headers, 'webhook-id'), header(headers, 'webhook-timestamp')]
  ensureRecent(timestamp, now)
  const { version, check } = await checkerOf(secretOrPublicKey)
  const content = contentOf(id, timestamp, body)
  // Several while a secret is being replaced: one that fits is enough.
  const signatures = header(headers, 'webhook-signature')
    .split(' ')
    .filter((signature) => signature.startsWith(`${version},`))
    .map((signature) => fromBase64(signature.slice(version.length + 1)))
  for (const signature of signatures) if (await check(signature, content)) return parse(body, id)
  return refuse('no signature fits')
}

function parse(body: Uint8Array, id: string): WebhookEvent {
  const event = JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
  return event.id === id ? event : refuse('the event has another id than its delivery')
}
