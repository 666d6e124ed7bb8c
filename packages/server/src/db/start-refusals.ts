import { isUnreachable } from '../context.ts'
import { StartError } from '../errors.ts'

// What the database of an operator says while a server or an order of the operator begins, in words that say what to do.

/** How long a connection may take to be made: one that is behind a broken network is never refused. */
export const CONNECT_MS = 10_000

const messageOf = (error: unknown): string => (error as Error).message

export const unreachable = (cause: unknown): StartError =>
  new StartError(
    'database_unreachable',
    `the database cannot be reached: ${messageOf(cause)}`,
    'check DATABASE_URL, that PostgreSQL runs, and that it accepts connections from here',
  )

const REFUSALS: Readonly<Record<string, (error: unknown) => StartError>> = {
  '25006': () =>
    new StartError(
      'database_read_only',
      'the database takes no writes: it is a standby, or default_transaction_read_only is on',
      'give the address of the primary, or wait for the end of its maintenance',
    ),
  '55P03': () =>
    new StartError(
      'database_busy',
      'another process has been migrating the database for a minute',
      'wait for its end, and start again; select * from pg_stat_activity shows what it does',
    ),
  '53100': (error) =>
    new StartError('database_full', `the database has no room: ${messageOf(error)}`, 'make room on its disk'),
}

/** The refusal for what a database says about itself; any other error as it is. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof StartError) return error
  const known = REFUSALS[(error as { code?: string }).code ?? '']
  if (known) return known(error)
  return isUnreachable(error) ? unreachable(error) : error
}
