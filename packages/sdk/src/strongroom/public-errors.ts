import { ApiError, type RefusalBody, type RefusalContext, TransportError } from '../errors.ts'
import { type ErrorMembers, StrongroomError } from './strongroom-error.ts'

// One tree of errors. What the server refused comes under ApiError, what never reached it under ConnectionError, and what was
// refused here under CryptoError.

/** The client was not given what it needs. */
export class ConfigError extends StrongroomError {
  override name = 'ConfigError'
  /** Names of variables or options. */
  readonly missing: readonly string[]
  constructor(message: string, { missing = [], code = 'config_missing', ...rest }: ConfigMembers = {}) {
    super(message, { code, ...rest })
    this.missing = missing
  }
}
export type ConfigMembers = Partial<ErrorMembers> & { readonly missing?: readonly string[] }

/** How many requests there may still be, and until when that counts. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: Date
}

/** One thing that is wrong with a request. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** 400, 413 and 422, or refused here before it was sent. */
export class ValidationError extends ApiError {
  override name = 'ValidationError'
  get issues(): readonly Issue[] {
    const { problems } = (this.details ?? {}) as { problems?: readonly { path?: string; problem?: string }[] }
    return (problems ?? []).map(({ path = '', problem = '' }) => ({ path, message: problem }))
  }
}
/** 401: the credential is missing, wrong or over. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError'
}
/** 403: the credential is known, and may not do this. `required` names what it lacks. */
export class PermissionDeniedError extends ApiError {
  override name = 'PermissionDeniedError'
  /** The machine permissions the route needs. */
  get required(): readonly string[] {
    const { permission } = (this.details ?? {}) as { permission?: string }
    return permission === undefined ? [] : [permission]
  }
}
/** 404: there is no such thing, or not for this caller. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError'
  /** Names that look like the one that was asked for. */
  readonly suggestions: readonly string[]
  constructor(
    body: RefusalBody,
    status: number,
    retryAfter?: number,
    context: RefusalContext = {},
    suggestions: readonly string[] = [],
  ) {
    super(body, status, retryAfter, context)
    this.suggestions = suggestions
  }
}
/** 409 and 412: another state or version than the call expected. */
export class ConflictError extends ApiError {
  override name = 'ConflictError'
  get currentVersion(): number | undefined {
    const { currentVersion } = (this.details ?? {}) as { currentVersion?: number }
    return currentVersion
  }
}
/** The change would take the caller's own ADMIN entry away. */
export class SelfLockoutError extends ConflictError {
  override name = 'SelfLockoutError'
}
/** 402: no room in a budget, or not for so much at once. */
export class BudgetExceededError extends ApiError {
  override name = 'BudgetExceededError'
  get budget(): { readonly budgetId?: string; readonly remaining?: string; readonly resetsAt?: string | null } {
    return (this.details ?? {}) as object
  }
}
/** 429, after the retries of this client: `retryAfterMs` says when to ask again. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError'
  get retryAfterMs(): number {
    return (this.retryAfter ?? 1) * 1000
  }
  get rateLimit(): RateLimit | undefined {
    return rateLimitOf(this.headers)
  }
}
/** 5xx, after the retries of this client. With a bug of the server, quote the `requestId`. */
export class ServerError extends ApiError {
  override name = 'ServerError'
}

export function rateLimitOf(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`))
  if (!limit || !remaining || !reset) return undefined
  return { limit: Number(limit), remaining: Number(remaining), resetAt: new Date(Date.now() + Number(reset) * 1000) }
}

/** The server was not reached. */
export class ConnectionError extends TransportError {
  override name = 'ConnectionError'
  readonly host: string
  constructor(message: string, { host, ...rest }: ConnectionMembers) {
    super(message, rest)
    this.host = host
  }
}
export type ConnectionMembers = ConstructorParameters<typeof TransportError>[1] & { readonly host: string }

/** One attempt took longer than `timeout`. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError'
  readonly afterMs: number
  constructor(message: string, { afterMs, ...rest }: ConnectionMembers & { readonly afterMs: number }) {
    super(message, { code: 'timeout', ...rest })
    this.afterMs = afterMs
  }
}

/** The caller's signal ended the call. */
export class AbortedError extends StrongroomError {
  override name = 'AbortError'
  constructor(cause?: unknown) {
    super('the call was aborted', { code: 'aborted', cause })
  }
}

const HINT_UNKNOWN = 'Look whether it is there. To repeat it, give the same idempotencyKey: it is then made once.'

/** It is not known whether a change was made: no answer came. Repeated with its key, a call has its effect once. */
export class OutcomeUnknownError extends StrongroomError {
  override name = 'OutcomeUnknownError'
  readonly idempotencyKey: string
  constructor(idempotencyKey: string, cause?: unknown, hint = HINT_UNKNOWN) {
    super('no answer came, so it is not known whether the change was made', {
      code: 'outcome_unknown',
      hint,
      retryable: true,
      cause,
    })
    this.idempotencyKey = idempotencyKey
  }
}

/** There is nothing in the cache to answer from, or only what is older than was seen. Its cause is why the server was not reached. */
export class NotCachedError extends StrongroomError {
  override name = 'NotCachedError'
  constructor(cause?: unknown) {
    super('this was not read before, or has changed since, so there is nothing to answer from without the server', {
      code: 'not_cached',
      hint: 'Read it once while the server can be reached.',
      cause,
    })
  }
}

/** A name that several things have. */
export class AmbiguousReferenceError extends StrongroomError {
  override name = 'AmbiguousReferenceError'
  /** What the name could mean, by id. */
  readonly candidates: readonly string[]
  constructor(message: string, candidates: readonly string[]) {
    super(message, { code: 'ambiguous_reference', hint: `Use an id: ${candidates.join(', ')}` })
    this.candidates = candidates
  }
}

/** Refused here, whatever the server said: keys and signatures decide. */
export class CryptoError extends StrongroomError {
  override name = 'CryptoError'
}
/** The key is known, and nobody has given it this vault yet. */
export class NoWrappedKeyError extends CryptoError {
  override name = 'NoWrappedKeyError'
}
/** What was verified does not open with the key of the vault. */
export class DecryptionError extends CryptoError {
  override name = 'DecryptionError'
}

/** What was being verified. */
export type VerificationStage = 'log' | 'signer' | 'checkpoint' | 'wrapped-key' | 'content' | 'attachment'

export interface VerificationMembers extends ErrorMembers {
  readonly stage: VerificationStage
  readonly evidence: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** An answer of the server is not what the organisation signed and logged. Nothing of it was used. */
export class VerificationError extends CryptoError {
  override name = 'VerificationError'
  readonly stage: VerificationStage
  /** The name of a file, or JSON, to attach to a report; empty where there is nothing to show. */
  readonly evidence: string
  /** Public names and hashes. */
  readonly details: Readonly<Record<string, unknown>>
  constructor(message: string, { stage, evidence, details = {}, ...rest }: VerificationMembers) {
    super(message, rest)
    this.stage = stage
    this.evidence = evidence
    this.details = details
  }
}
/** A signature is not that of the key it names. */
export class SignatureInvalidError extends VerificationError {
  override name = 'SignatureInvalidError'
}
/** The signer is unknown, has ended, may not sign this, or is not the one that was pinned. */
export class SignerUntrustedError extends VerificationError {
  override name = 'SignerUntrustedError'
}
/** A proof does not lead to what the log has signed. */
export class ProofInvalidError extends VerificationError {
  override name = 'ProofInvalidError'
}
/** The server shows an older or another history than before. */
export class RollbackError extends VerificationError {
  override name = 'RollbackError'
}
/** Content is not the one its signed metadata names. */
export class IntegrityError extends VerificationError {
  override name = 'IntegrityError'
}
