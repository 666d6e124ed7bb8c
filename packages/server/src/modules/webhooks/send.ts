import type { Deps } from '../../context.ts'
import { EgressRefused, sendOut } from '../../outside/egress.ts'
import type { RootKey } from '../../secrets/root-key.ts'
import { retryAfterMs } from './schedule.ts'
import { type Signer, signedHeaders } from './signing.ts'

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
  readonly retryAfterMs: number | undefined
}

export interface Message {
  readonly orgId: string
  readonly url: string
  readonly eventId: string
  readonly body: string
  readonly signer: Signer
}

type Sending = Pick<Deps, 'config' | 'now'>

export async function attempt(
  { config, now }: Sending,
  sealer: RootKey,
  { orgId, url, eventId, body, signer }: Message,
  { signal, timeoutMs = TIMEOUT_MS }: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<Attempted> {
  const startedAt = performance.now()
  const end = (status: number | null, error: AttemptError | null, after?: number): Attempted => ({
    status,
    error,
    durationMs: Math.round(performance.now() - startedAt),
    retryAfterMs: after,
  })
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Strongroom-Webhooks/1',
    ...signedHeaders(sealer, orgId, signer, { id: eventId, body, at: now() }),
  }
  const outgoing = { url, method: 'POST', headers, body, timeoutMs, maxBytes: MAX_ANSWER_BYTES } as const
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
