import { ApiError } from '../errors.ts'
import { ConnectionError } from './public-errors.ts'
import type { StrongroomError } from './strongroom-error.ts'

export interface RetryPolicy {
  readonly maxRetries: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly jitter: 'full' | 'none'
  /** Whether to try again after this error. */
  retryOn(error: StrongroomError, attempt: number): boolean
  /** Shared by everything a client does, so that many calls that fail at once do not all come back. */
  readonly budget: { readonly capacity: number; readonly refillPerSecond: number }
}

/** What is retryable, and as the server says where it says so; 500 only where an idempotency key makes it safe. */
function retryOn(error: StrongroomError): boolean {
  if (error instanceof ConnectionError) return error.retryable
  if (!(error instanceof ApiError)) return false
  const said = error.headers.get('x-should-retry')
  if (said === 'true' || said === 'false') return said === 'true'
  return error.retryable && (error.status !== 500 || error.idempotencyKey !== undefined)
}

export const DEFAULT_RETRY: RetryPolicy = {
  maxRetries: 2,
  baseDelayMs: 500,
  maxDelayMs: 8_000,
  jitter: 'full',
  retryOn,
  budget: { capacity: 20, refillPerSecond: 1 },
}

/** A longer wait is the caller's to decide. */
const LONGEST_HINT_MS = 60_000

/** What the server asks for, in milliseconds. */
export function hintedDelay(headers: Headers, now: number = Date.now()): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return exact
  const said = headers.get('retry-after')
  if (said === null) return undefined
  const seconds = Number(said)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(said) - now
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined
}

/** How long to wait before another attempt; undefined if the server asks for more than this client waits by itself. */
export function delayBefore(policy: RetryPolicy, attempt: number, error: StrongroomError): number | undefined {
  const { baseDelayMs, maxDelayMs, jitter } = policy
  const window = Math.min(baseDelayMs * 2 ** (attempt - 1), maxDelayMs)
  const own = jitter === 'full' ? Math.random() * window : window
  const hint = error instanceof ApiError ? hintedDelay(error.headers) : undefined
  if (hint === undefined) return own
  return hint <= LONGEST_HINT_MS ? hint + (jitter === 'full' ? Math.random() * baseDelayMs : 0) : undefined
}

/** A token bucket; each retry takes one. */
export function makeBudget(
  { capacity, refillPerSecond }: RetryPolicy['budget'],
  now: () => number = Date.now,
): { take(): boolean } {
  let tokens = capacity
  let at = now()
  return {
    take: () => {
      const current = now()
      tokens = Math.min(capacity, tokens + (Math.max(current - at, 0) / 1000) * refillPerSecond)
      at = current
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
  }
}
