import { ERRORS, type ErrorCode } from '@strongroom/contract'

/** The server says no: a code of the contract, and what helps the caller to go on. Everything else that is thrown is a bug. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly status: number
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  constructor(
    code: ErrorCode,
    options: { message?: string; details?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(options.message ?? ERRORS[code].message)
    this.code = code
    this.status = ERRORS[code].status
    this.details = options.details
    this.headers = options.headers
  }
}

/** The row, or the refusal that says it does not exist for this caller. */
export function found<T>(row: T | undefined, code: ErrorCode): T {
  if (row === undefined) throw new ApiError(code)
  return row
}

/** The server cannot start: what is wrong, and what the operator does about it. */
export class StartError extends Error {
  override name = 'StartError'
  readonly code: string
  readonly nextStep: string
  constructor(code: string, message: string, nextStep: string) {
    super(message)
    this.code = code
    this.nextStep = nextStep
  }
}
