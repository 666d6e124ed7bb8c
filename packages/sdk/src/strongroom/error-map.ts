import { PROTOCOL_ERRORS, ProtocolError, type ProtocolErrorCode } from '@strongroom/protocol'
import { NotCachedError as EngineNotCached, UncertainWriteError } from '../engine/engine-errors.ts'
import { refusedAnswer } from '../engine/verified.ts'
import { ApiError, type RefusalContext, TransportError } from '../errors.ts'
import {
  AbortedError,
  AuthenticationError,
  BudgetExceededError,
  ConflictError,
  ConnectionError,
  IntegrityError,
  NotCachedError,
  NotFoundError,
  NoWrappedKeyError,
  OutcomeUnknownError,
  PermissionDeniedError,
  ProofInvalidError,
  RateLimitError,
  RollbackError,
  SelfLockoutError,
  ServerError,
  SignatureInvalidError,
  SignerUntrustedError,
  ValidationError,
  type VerificationError,
  type VerificationStage,
} from './public-errors.ts'
import { StrongroomError } from './strongroom-error.ts'

// Whatever fails inside becomes one error of the public tree. What it was before stays as its cause.

export interface Circumstances extends RefusalContext {
  readonly signal?: AbortSignal | undefined
  /** Kept for the answer that was refused in this call, if one was. */
  readonly evidence?: string | undefined
}

type ApiErrorClass = new (...given: ConstructorParameters<typeof ApiError>) => ApiError

const BY_STATUS: Readonly<Record<number, ApiErrorClass>> = {
  400: ValidationError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  413: ValidationError,
  422: ValidationError,
  429: RateLimitError,
}

function classOf(status: number, code: string): ApiErrorClass {
  if (code === 'self_lockout') return SelfLockoutError
  if (status === 402 && code.startsWith('budget_')) return BudgetExceededError
  return BY_STATUS[status] ?? (status >= 500 ? ServerError : ApiError)
}

const RETRYABLE_STATUS = new Set([408, 429, 500, 502, 503, 504])
export const isRetryableStatus = (status: number): boolean => RETRYABLE_STATUS.has(status)

/** A refusal of the API in the class of its kind. */
export function promote(error: ApiError, { headers, idempotencyKey }: RefusalContext = {}): ApiError {
  if (error.constructor !== ApiError) return error
  const { code, message, requestId, hint, docs, details, status, retryAfter } = error
  const body = {
    code,
    message,
    docs,
    ...(requestId !== undefined && { requestId }),
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
  }
  const retryable = isRetryableStatus(status) || code === 'idempotency_in_progress'
  const context = { headers: headers ?? error.headers, idempotencyKey, retryable }
  return new (classOf(status, code))(body, status, retryAfter, context)
}

/** Codes that a caller's own input can lead to, before anything is sent. */
const OWN_INPUT: ReadonlySet<string> = new Set(['malformed', 'limit_exceeded', 'duplicate_label'])
const WRITING: ReadonlySet<string> = new Set(['head_conflict', 'rebase_conflict', 'incomplete_batch', 'rotation_due'])
const SIGNATURES: ReadonlySet<string> = new Set(['bad_signature', 'missing_signature', 'wrong_type'])
const BACKWARDS: ReadonlySet<string> = new Set([
  'log_fork',
  'log_rollback',
  'missing_consistency',
  'vault_rollback',
  'vault_fork',
  'project_rollback',
])

type VerificationClass = new (...given: ConstructorParameters<typeof VerificationError>) => VerificationError

function verificationOf(code: ProtocolErrorCode): readonly [VerificationClass, VerificationStage] {
  if (SIGNATURES.has(code)) return [SignatureInvalidError, 'signer']
  if (BACKWARDS.has(code)) return [RollbackError, 'log']
  const [group] = PROTOCOL_ERRORS[code]
  switch (group) {
    case 'identity':
    case 'author':
      return [SignerUntrustedError, 'signer']
    case 'history':
      return [ProofInvalidError, 'log']
    case 'freshness':
      return [ProofInvalidError, 'checkpoint']
    case 'keys':
      return [IntegrityError, 'wrapped-key']
    case 'downgrade':
      return [IntegrityError, 'signer']
    default:
      return [IntegrityError, code.startsWith('asset') ? 'attachment' : 'content']
  }
}

function refusedHere(error: ProtocolError, { evidence }: Circumstances): StrongroomError {
  const { code, message, details } = error
  const [, meaning, hint] = PROTOCOL_ERRORS[code]
  const answer = refusedAnswer(error)
  const isOwn = OWN_INPUT.has(code) && !answer
  // The hint of the protocol is about who sent something; here it is the caller.
  const advice = isOwn && code === 'malformed' ? 'Correct what it names.' : hint
  const body = { code: 'validation_failed' as const, message: `${message} (${code})`, hint: advice, details }
  if (isOwn) return new ValidationError(body, 400, undefined, { cause: error })
  if (WRITING.has(code) && !(code === 'incomplete_batch' && answer))
    return new ConflictError(
      { ...body, code: code === 'rotation_due' ? 'rotation_due' : 'vault_head_conflict' },
      409,
      undefined,
      { cause: error, retryable: code === 'head_conflict' },
    )
  const exactly = `${message[0]?.toUpperCase() ?? ''}${message.slice(1)}.`
  const said = exactly === meaning ? meaning : `${meaning} ${exactly}`
  if (code === 'unwrapped_key_missing') return new NoWrappedKeyError(said, { code, hint, cause: error })
  const [Class, stage] = verificationOf(code)
  const retryable = code === 'witness_quorum'
  return new Class(said, {
    code,
    hint,
    stage,
    retryable,
    evidence: evidence ?? '',
    details: { ...answer, ...details },
    cause: error,
  })
}

/** The public form of anything that was thrown. */
export function toPublic(error: unknown, circumstances: Circumstances = {}): StrongroomError {
  const { signal, idempotencyKey } = circumstances
  const cause = inner(error)
  if (signal?.aborted) return error instanceof AbortedError ? error : new AbortedError(signal.reason)
  if (error instanceof ApiError) return withHint(promote(error, circumstances))
  if (error instanceof ProtocolError) return refusedHere(error, circumstances)
  if (error instanceof UncertainWriteError)
    // The transport has judged it: nothing went out.
    return cause instanceof ConnectionError
      ? cause
      : new OutcomeUnknownError(idempotencyKey ?? error.idempotencyKey, cause)
  // An answer came that is not of this API.
  if (idempotencyKey !== undefined && (error as Error).constructor === TransportError)
    return new OutcomeUnknownError(idempotencyKey, error)
  if (error instanceof EngineNotCached) return new NotCachedError(cause)
  if (StrongroomError.is(error)) return error
  return new StrongroomError('something failed in the client', { code: 'client_error', cause: error })
}

const inner = (error: unknown): unknown => (error as { cause?: unknown } | undefined)?.cause

/** The server's code for it, in the class that says so. */
const withHint = (error: ApiError): StrongroomError =>
  error.code === 'wrapped_key_missing'
    ? new NoWrappedKeyError(error.message, { code: error.code, hint: error.hint, cause: error })
    : error
