import type { ErrorCode } from '@strongroom/contract'

/** The server answered, and the answer was no. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly status: number
  readonly requestId: string | undefined
  readonly hint: string | undefined
  readonly details: unknown
  /** Seconds, from Retry-After. */
  readonly retryAfter: number | undefined
  constructor(
    body: { code: ErrorCode; message: string; requestId?: string; hint?: string; details?: unknown },
    status: number,
    retryAfter?: number,
  ) {
    super(body.message)
    this.code = body.code
    this.status = status
    this.requestId = body.requestId
    this.hint = body.hint
    this.details = body.details
    this.retryAfter = retryAfter
  }
}

/** No answer came, or not one of ours. */
export class TransportError extends Error {
  override name = 'TransportError'
}
