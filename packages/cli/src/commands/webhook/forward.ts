import { createHmac, randomBytes } from 'node:crypto'
import type { WebhookMessage } from '@strongroom/sdk'
import { CliError } from '../../errors/cli-error.ts'

// The request that a webhook makes, to an address of this machine: the same bytes and headers, signed as Standard Webhooks say it.

const TIMEOUT_MS = 15_000
const SECRET_BYTES = 32

export interface Signing {
  /** `whsec_…` */
  readonly secret: string
  readonly key: Buffer
  /** Made here, so that somebody has to be told. */
  readonly isNew: boolean
}

const PREFIX = 'whsec_'

export function signingFor(given: string | undefined): Signing {
  if (given === undefined || given === '') {
    const key = randomBytes(SECRET_BYTES)
    return { secret: `${PREFIX}${key.toString('base64')}`, key, isNew: true }
  }
  const key = Buffer.from(given.slice(PREFIX.length), 'base64')
  if (!given.startsWith(PREFIX) || key.length < 16)
    throw new CliError('usage', 'STRONGROOM_WEBHOOK_SECRET is no secret of a webhook', {
      fix: 'give whsec_ and at least 16 bytes in base64, or unset it',
    })
  return { secret: given, key, isNew: false }
}

/** `localhost:3000/hooks` is enough. */
export function forwardAddress(text: string): URL {
  const whole = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(whole) ? new URL(whole) : undefined
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url && isWeb && url.username === '' && url.password === '') return url
  throw new CliError('usage', '--forward-to is no address', { fix: 'write it like http://localhost:3000/hooks' })
}

export interface Forwarded {
  readonly status: number | null
  /** Why it was not taken; null if it was. */
  readonly error: 'http_status' | 'timeout' | 'connection_failed' | null
  readonly durationMs: number
}

function headersOf({ event, body }: WebhookMessage, { key }: Signing): Readonly<Record<string, string>> {
  const timestamp = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'user-agent': 'Strongroom-Webhooks/1',
    'webhook-id': event.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}

export async function forward(
  url: URL,
  signing: Signing,
  message: WebhookMessage,
  signal: AbortSignal,
): Promise<Forwarded> {
  const started = performance.now()
  const end = (status: number | null, error: Forwarded['error']): Forwarded => ({
    status,
    error,
    durationMs: Math.round(performance.now() - started),
  })
  const limit = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: headersOf(message, signing),
      body: message.body,
      // Somewhere else is not where it was to go, here as for the server.
      redirect: 'manual',
      signal: AbortSignal.any([limit, signal]),
    })
    await response.body?.cancel()
    return end(response.status, response.ok ? null : 'http_status')
  } catch {
    return end(null, limit.aborted ? 'timeout' : 'connection_failed')
  }
}
