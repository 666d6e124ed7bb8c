import { CLI_CODES, type CliCode } from './codes.ts'

export interface CliErrorMembers {
  /** The exact command to try, or what to change. */
  readonly fix?: string | undefined
  readonly exitCode?: number
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** What this program refuses by itself. Messages never hold a value, a key or a credential. */
export class CliError extends Error {
  override name = 'CliError'
  readonly code: CliCode
  readonly fix: string | undefined
  readonly exitCode: number
  readonly details: Readonly<Record<string, unknown>> | undefined
  constructor(code: CliCode, message: string, { fix, exitCode, details, cause }: CliErrorMembers = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.fix = fix
    this.exitCode = exitCode ?? CLI_CODES[code].exitCode
    this.details = details
  }
}
