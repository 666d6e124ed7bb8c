import { CliError } from './cli-error.ts'
import { EXIT } from './codes.ts'
import { type Details, plainDetails } from './details.ts'
import { type OldCache, oldCacheHint, oldCacheIn, oldCacheWords } from './old-cache.ts'
import { hintFor } from './own-hints.ts'
import { SDK_CODES } from './sdk-codes.ts'

// Whatever was thrown → what a person or a program is shown, and the exit code. The SDK's errors are told by name, so that a
// command that fails before it needed the SDK does not load it.

export interface ShownError {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly docs?: string
  readonly requestId?: string
  readonly evidence?: string
  readonly details?: Details
  readonly exitCode: number
}

const EXIT_OF: Readonly<Record<string, number>> = {
  ConfigError: EXIT.signIn,
  AuthenticationError: EXIT.signIn,
  PermissionDeniedError: EXIT.denied,
  NoWrappedKeyError: EXIT.denied,
  NotFoundError: EXIT.notFound,
  AmbiguousReferenceError: EXIT.notFound,
  ValidationError: EXIT.invalid,
  ConflictError: EXIT.invalid,
  SelfLockoutError: EXIT.invalid,
  ConnectionError: EXIT.unavailable,
  TransportError: EXIT.unavailable,
  TimeoutError: EXIT.unavailable,
  ServerError: EXIT.unavailable,
  NotCachedError: EXIT.unavailable,
  OutcomeUnknownError: EXIT.unavailable,
  VerificationError: EXIT.unverified,
  SignatureInvalidError: EXIT.unverified,
  SignerUntrustedError: EXIT.unverified,
  ProofInvalidError: EXIT.unverified,
  RollbackError: EXIT.unverified,
  IntegrityError: EXIT.unverified,
  DecryptionError: EXIT.unverified,
  ProtocolError: EXIT.unverified,
  RateLimitError: EXIT.rateLimited,
  AbortError: EXIT.interrupted,
}

const SDK_ERROR = Symbol.for('@strongroom/sdk/error')

interface Known {
  readonly name: string
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly docs?: string
  readonly requestId?: string
  readonly evidence?: string
  readonly status?: number
  readonly missing?: readonly string[]
  readonly cause?: unknown
  readonly details?: unknown
  readonly idempotencyKey?: string
}

const isKnown = (error: unknown): error is Known =>
  typeof error === 'object' && error !== null && (SDK_ERROR in error || (error as Known).name === 'ProtocolError')

/** A refusal of the server that is of no kind of its own, such as those of the platform API. */
const EXIT_OF_STATUS: Readonly<Record<number, number>> = {
  400: EXIT.invalid,
  401: EXIT.signIn,
  402: EXIT.money,
  403: EXIT.denied,
  404: EXIT.notFound,
  409: EXIT.invalid,
  410: EXIT.notFound,
  413: EXIT.invalid,
  422: EXIT.invalid,
  429: EXIT.rateLimited,
}

export const exitOfStatus = (status: number): number =>
  EXIT_OF_STATUS[status] ?? (status >= 500 ? EXIT.unavailable : EXIT.unexpected)

function exitOf({ name, code, status }: Known): number {
  if (status === 402) return EXIT.money
  return SDK_CODES[code]?.exitCode ?? EXIT_OF[name] ?? (status === undefined ? EXIT.unexpected : exitOfStatus(status))
}

const absolute = (docs: string | undefined, server: string | undefined): string | undefined =>
  docs?.startsWith('/') ? (server === undefined ? undefined : `${server}${docs}`) : docs

interface Problem {
  readonly path: string
  readonly problem: string
}

/** What the server says is wrong with a request, member by member; of what was in them it says nothing. */
function problemsIn({ code, details }: Known): readonly Problem[] {
  const { problems } = (details ?? {}) as { problems?: unknown }
  if (code !== 'validation_failed' || !Array.isArray(problems)) return []
  return problems.flatMap(({ path, problem }: Partial<Problem>) =>
    typeof path === 'string' && typeof problem === 'string' ? [{ path, problem }] : [],
  )
}

/** `/fields/0/label` is `fields.0.label` for people. */
const membersOf = (problems: readonly Problem[]): readonly string[] => [
  ...new Set(problems.map(({ path }) => path.slice(1).replaceAll('/', '.')).filter((member) => member !== '')),
]

/** Of a request that is not well formed, which members; of another refusal of the server, what its hint speaks of. */
function detailsOf(error: Known, problems: readonly Problem[]): Details | undefined {
  const { code, status, details, idempotencyKey } = error
  if (code === 'outcome_unknown') return { idempotencyKey }
  if (problems.length > 0) return { problems }
  return code === 'validation_failed' || !status ? undefined : plainDetails(details)
}

/** Where the server was not reached, that is what happened; that the cache cannot stand in for it only follows. */
function causeFirst(error: Known): Known {
  const old = oldCacheIn(error)
  if (old) return outage(error, old)
  const { cause } = error
  if (error.name !== 'NotCachedError' || !isKnown(cause)) return error
  const { name, code, message, hint } = cause
  return { name, code, message: `${message}; ${error.message}`, ...(hint !== undefined && { hint }) }
}

/** With the server away that comes first; where it was not to be asked, the copy is all that can be said something of. */
function outage({ code, cause }: Known, old: OldCache): Known {
  const why = (cause as Error | undefined)?.cause
  const [words, hint] = [oldCacheWords(old), oldCacheHint(old)]
  if (!isKnown(why)) return { name: 'NotCachedError', code, message: words, hint }
  return { name: why.name, code: why.code, message: `${why.message}; ${words}`, hint }
}

const REPORT = 'report it with: strongroom feedback'

/** `server` makes the address of the documentation whole. */
export function shownError(error: unknown, server?: string): ShownError {
  if (error instanceof CliError) {
    const { code, message, fix, exitCode, details } = error
    const docs = absolute(`/docs/errors#${code}`, server)
    return {
      code,
      message,
      ...(fix !== undefined && { hint: fix }),
      ...(docs && { docs }),
      ...(details && { details }),
      exitCode,
    }
  }
  if (!isKnown(error)) {
    // The message of an unknown error may hold anything; only its kind is said.
    const kind = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.name) : typeof error
    return { code: 'unexpected', message: `this program failed: ${kind}`, hint: REPORT, exitCode: EXIT.unexpected }
  }
  const known = causeFirst(error)
  const { code, message, requestId, evidence } = known
  const hint = hintFor(known)
  const problems = problemsIn(known)
  const members = membersOf(problems)
  const details = detailsOf(known, problems)
  const docs = absolute(known.docs ?? `/docs/errors#${code}`, server)
  return {
    code,
    message: members.length === 0 ? message : `${message.replace(/\.$/, '')}: ${members.join(', ')}`,
    ...(hint !== undefined && { hint }),
    ...(docs && { docs }),
    ...(details && { details }),
    ...(requestId && { requestId }),
    ...(evidence && { evidence }),
    exitCode: exitOf(known),
  }
}
