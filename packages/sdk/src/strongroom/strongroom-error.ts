const BRAND = Symbol.for('@strongroom/sdk/error')

export interface ErrorMembers {
  readonly code: string
  readonly hint?: string | undefined
  /** Where a code is explained; the address of the server's own page if absent. */
  readonly docs?: string | undefined
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** Everything the SDK refuses with. `code` is stable; messages never hold a value, a key, a credential or a header. */
export class StrongroomError extends Error {
  override name = 'StrongroomError'
  readonly code: string
  /** What to do next. */
  readonly hint: string | undefined
  readonly docs: string
  /** Whether the same call may succeed later, unchanged. */
  readonly retryable: boolean
  constructor(message: string, { code, hint, docs, retryable = false, cause }: ErrorMembers) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.hint = hint
    this.docs = docs ?? `/docs/errors#${code}`
    this.retryable = retryable
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** Also for errors of another copy of this package, or of another realm. */
  static is(candidate: unknown): candidate is StrongroomError {
    return typeof candidate === 'object' && candidate !== null && BRAND in candidate
  }

  toJSON(): { name: string; code: string; message: string; hint?: string; docs: string; requestId?: string } {
    const { name, code, message, hint, docs } = this
    const { requestId } = this as { requestId?: string }
    return { name, code, message, ...(hint !== undefined && { hint }), docs, ...(requestId && { requestId }) }
  }
}
