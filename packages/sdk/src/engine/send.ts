import type { CallOptions } from '../client.ts'
import { ApiError, TransportError } from '../errors.ts'
import type { Actor } from './actor.ts'
import { UncertainWriteError } from './engine-errors.ts'
import { pause } from './queue.ts'

// Sending a change: once as far as the log is concerned, however often it takes. A time-out is not a failure: the same request
// with the same idempotency key is answered with what became of the first.

export interface Sending {
  readonly vaultIds: readonly string[]
  readonly idempotencyKey: string
  readonly call: CallOptions
  send(options: CallOptions): Promise<unknown>
}

/** The server was not reached, or did not say what it did: it may have made the change. */
const isAmbiguous = (error: unknown): boolean =>
  error instanceof TransportError || (error instanceof ApiError && error.code === 'internal_error')

const TRY_AGAIN = new Set([
  'idempotency_in_progress',
  'overloaded',
  'not_ready',
  'rate_limited',
  'audit_unavailable',
  'request_timeout',
])

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000

function pauseAfter(error: unknown, tries: number): number {
  const asked = error instanceof ApiError && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0
  const window = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS)
  return asked + Math.random() * window
}

export async function sendUntilAnswered(actor: Actor, sending: Sending): Promise<unknown> {
  const { vaultIds, idempotencyKey, call, send } = sending
  const { maxResends, timeoutMs } = actor.policy
  let wasAmbiguous = false
  for (let tries = 0; ; tries += 1) {
    const limit = AbortSignal.timeout(timeoutMs)
    const signal = call.signal ? AbortSignal.any([call.signal, limit]) : limit
    try {
      return await send({ ...call, signal, idempotencyKey })
    } catch (error) {
      const isUnsettled = isAmbiguous(error) || (error instanceof ApiError && TRY_AGAIN.has(error.code))
      if (!isUnsettled || call.signal?.aborted) throw error
      wasAmbiguous ||= isAmbiguous(error)
      if (tries >= maxResends && !wasAmbiguous) throw error
      if (tries >= maxResends) throw new UncertainWriteError(vaultIds, idempotencyKey, { cause: error })
      await pause(pauseAfter(error, tries), call.signal)
    }
  }
}
