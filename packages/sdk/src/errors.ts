import type { ErrorCode } from '@strongroom/contract'
import { StrongroomError } from './strongroom/strongroom-error.ts'

/** The body of a refusal, without its wrapper. */
export interface RefusalBody {
  readonly code: ErrorCode
  readonly message: string
  readonly requestId?: string
  readonly hint?: string
  readonly docs?: string
  readonly details?: unknown
}

/** What came along with a refusal. */
export interface RefusalContext {
  readonly headers?: Headers | undefined
  readonly idempotencyKey?: string | undefined
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** The server answered, and the answer was no. */
export class ApiError extends StrongroomError {
  override name = 'ApiError'
  declare readonly code: ErrorCode
  readonly status: number
  readonly requestId: string | undefined
  readonly details: unknown
  /** Seconds, from Retry-After. */
  readonly retryAfter: number | undefined
  readonly headers: Headers
  /** Repeating the call with it has the same effect once. */
  readonly idempotencyKey: string | undefined
  constructor(body: RefusalBody, status: number, retryAfter?: number, context: RefusalContext = {}) {
    const { headers, idempotencyKey, ...rest } = context
    super(body.message, { code: body.code, hint: body.hint, docs: body.docs, ...rest })
    this.status = status
    this.requestId = body.requestId
    this.details = body.details
    this.retryAfter = retryAfter
    this.headers = headers ?? new Headers()
    this.idempotencyKey = idempotencyKey
  }
}

/** No answer came, or not one of ours. */
export class TransportError extends StrongroomError {
  override name = 'TransportError'
  constructor(message: string, { cause, code = 'connection_failed', hint, retryable = true }: TransportMembers = {}) {
    super(message, { code, hint, retryable, cause })
  }
}

export interface TransportMembers extends ErrorOptions {
  readonly code?: string
  readonly hint?: string
  readonly retryable?: boolean
}
