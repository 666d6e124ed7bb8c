import type { PROTOCOL_ERRORS } from './error-codes.ts'

export type ProtocolErrorCode = keyof typeof PROTOCOL_ERRORS

/** The only error this package throws. `code` is stable; `message` is for people and never holds a secret. */
export class ProtocolError extends Error {
  override name = 'ProtocolError'
  readonly code: ProtocolErrorCode
  /** Public names and hashes that help to find the object; never key material, values or ciphertext. */
  readonly details: Readonly<Record<string, unknown>>
  constructor(code: ProtocolErrorCode, message: string, details: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.details = details
  }
}

/**
 * One verification step: goes on if `condition` holds, refuses with `code` otherwise.
 * Every step of the protocol is a call of this function, so that a mutation run can switch each off and see who notices.
 */
export function ensure(
  condition: unknown,
  code: ProtocolErrorCode,
  message: string,
  details?: Record<string, unknown>,
): asserts condition {
  if (!condition) throw new ProtocolError(code, message, details)
}
