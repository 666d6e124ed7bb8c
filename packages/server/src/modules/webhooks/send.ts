import type { Deps } from '../../context.ts'
import { EgressRefused, framed, type Step, sendOut } from '../../outside/egress.ts'
import type { RootKey } from '../../secrets/root-key.ts'
import { retryAfterMs } from './schedule.ts'
import { type Signed, type Signer, signedHeaders, signMessage } from './signing.ts'

// One attempt. Of the answer only its status is kept: what stands behind an address is nobody's to read through us.

export const TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 65_536

export type AttemptError =
  | 'http_status'
  | 'timeout'
  | 'connection_failed'
  | 'tls_failed'
  | 'name_not_found'
  | 'address_forbidden'
  | 'unknown'

export interface Attempted {
  readonly status: number | null
  readonly error: AttemptError | null
  readonly durationMs: number
  readonly timing: Timing
  readonly signed: Signed
  readonly retryAfterMs: number | undefined
}

type Timing = { readonly [step in Step as `${step}Ms`]: number | null }
const NO_TIMING: Timing = { lookupMs: null, connectMs: null, tlsMs: null, waitMs: null }

export interface Message {
  readonly orgId: string
  readonly url: string
  readonly eventId: string
  readonly body: string
  readonly signer: Signer
}

const headersOf = (eventId: string, signed: Signed) => ({
  'content-type': 'application/json',
  'user-agent': 'Strongroom-Webhooks/1',
  ...signedHeaders(eventId, signed),
})

/** The headers of an attempt as its receiver has seen them, if it got that far. */
export const sentHeaders = (url: string, eventId: string, signed: Signed, body: string) => ({
  host: URL.parse(url)?.host ?? '',
  ...framed(headersOf(eventId, signed), body),
})

type Sending = Pick<Deps, 'config' | 'now'>

export async function attempt(
  { config, now }: Sending,
  sealer: RootKey,
  { orgId, url, eventId, body, signer }: Message,
  { signal, timeoutMs = TIMEOUT_MS }: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<Attempted> {
  const startedAt = performance.now()
  const signed = signMessage(sealer, orgId, signer, { eventId, body, at: now() })
  let timing = NO_TIMING
  // Rounded down: together they are never more than the whole.
  const onStep = (step: Step, ms: number): void => {
    timing = { ...timing, [`${step}Ms`]: Math.floor(ms) }
  }
  const end = (status: number | null, error: AttemptError | null, after?: number): Attempted => ({
    status,
    error,
    durationMs: Math.round(performance.now() - startedAt),
    timing,
    signed,
    retryAfterMs: after,
  })
  const headers = headersOf(eventId, signed)
  const outgoing = { url, method: 'POST', headers, body, timeoutMs, maxBytes: MAX_ANSWER_BYTES, onStep } as const
  try {
    const answer = await sendOut({ ...outgoing, ...(signal && { signal }) }, config.egress)
    const isTaken = answer.status >= 200 && answer.status < 300
    return end(answer.status, isTaken ? null : 'http_status', retryAfterMs(answer.headers['retry-after'], now()))
  } catch (error) {
    return end(null, kindOf(error))
  }
}

function kindOf(error: unknown): AttemptError {
  if (error instanceof EgressRefused) return error.reason === 'name' ? 'name_not_found' : 'address_forbidden'
  const { name, code = '' } = error as { name?: string; code?: string }
  if (name === 'TimeoutError') return 'timeout'
  // Ended by us: nobody knows what became of it.
  if (name === 'AbortError') return 'unknown'
  return /CERT|TLS|SSL|EPROTO|ALTNAME/.test(code) ? 'tls_failed' : 'connection_failed'
}
