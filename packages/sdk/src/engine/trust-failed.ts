import { ProtocolError } from '@strongroom/protocol'
import { StrongroomError } from '../strongroom/strongroom-error.ts'

// A trust store that cannot be read or written is no fault of the call and none of the server: it says which one, and what helps.

const WRITABLE = 'Free space on the disk, or let this user write there.'
const READABLE = 'Check the path, and that this user may read it.'
const RESTORE =
  'Restore it from a backup. Or remove it deliberately, and pin the organisation again by its trust anchor: what was seen before is then forgotten.'
const WAIT = 'Try again when the other process is done with it.'

interface Members {
  readonly hint: string
  readonly path?: string | undefined
  readonly isMade?: boolean
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** What was verified could not be looked up or remembered. */
export class TrustStoreError extends StrongroomError {
  override name = 'TrustStoreError'
  /** Of the file, where it is one. */
  readonly path: string | undefined
  /** The change that was asked for is in: only what was seen of it is not remembered. */
  readonly isMade: boolean
  constructor(message: string, { path, isMade = false, ...rest }: Members) {
    super(message, { code: 'trust_store_failed', ...rest })
    this.path = path
    this.isMade = isMade
  }
}

/** A code of the system, such as ENOSPC; of whatever else was thrown, only its kind. */
function reasonOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return String(code ?? name ?? typeof error)
}

const named = (path: string | undefined): string => (path === undefined ? 'the trust store' : `the trust store ${path}`)

export const unreadable = (cause: unknown, path?: string): TrustStoreError =>
  cause instanceof ProtocolError
    ? new TrustStoreError(`${named(path)} is damaged: ${cause.message}`, { path, hint: RESTORE, cause })
    : new TrustStoreError(`${named(path)} could not be read (${reasonOf(cause)})`, { path, hint: READABLE, cause })

export const unwritable = (cause: unknown, path?: string): TrustStoreError =>
  new TrustStoreError(`${named(path)} could not be written (${reasonOf(cause)})`, { path, hint: WRITABLE, cause })

export const locked = (path: string): TrustStoreError =>
  new TrustStoreError(`${named(path)} is locked by another process`, { path, hint: WAIT, retryable: true })

/** The same of a change that the log has: to repeat it would be to make it twice. */
export function madeAnyway(error: unknown): unknown {
  if (error instanceof ProtocolError) return error
  const failed = StrongroomError.is(error) ? error : unwritable(error)
  if (!(failed instanceof TrustStoreError)) return error
  const { message, path, hint = WRITABLE } = failed
  return new TrustStoreError(`the change was made, but ${message}`, { path, hint, isMade: true, cause: error })
}
