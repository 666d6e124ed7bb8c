import {
  ApiError,
  AuthenticationError,
  OutcomeUnknownError,
  PermissionDeniedError,
  VerificationError,
} from '@strongroom/sdk'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { raiseAlarm } from './session/alarm.ts'
import { lock, onLock, onSwitch } from './session/session.ts'

// Answers that pages share. Old data stays while new is asked for; a refused verification is an alarm wherever it happens.

/** Last signed by a key that was found to be compromised. It is refused as ever, but the server says what is so, and there is a way out. */
export const isUnsound = (error: unknown): boolean =>
  error instanceof VerificationError && error.code === 'signer_compromised'

function onError(error: unknown): void {
  if (error instanceof VerificationError && !isUnsound(error)) raiseAlarm(error)
  if (error instanceof AuthenticationError) lock('ended')
}

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({
    onError,
    // Whoever was made, renamed or removed by it is called by the right name on the next page; what was decided no longer waits.
    onSuccess: () => {
      for (const key of ['principals', 'needs']) void queries.invalidateQueries({ queryKey: [key] })
    },
  }),
  defaultOptions: {
    queries: {
      // The client has tried again already where that made sense.
      retry: false,
      // What is known is shown at once, and asked for again: others change things too.
      staleTime: 0,
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
      networkMode: 'always',
    },
    // A browser that says it has no network may be beside its server; and what cannot be asked is refused now, not made whenever there is one.
    mutations: { retry: false, networkMode: 'always' },
  },
})

onLock(() => queries.clear())
onSwitch(() => void queries.cancelQueries())

/** A refusal in the four parts every surface shows: what, why, what next, where to read on. */
export interface Problem {
  readonly code: string
  readonly message: string
  readonly fix: string | undefined
  readonly requestId: string | undefined
}

/** What browsers say of a part of the console that does not come, here or inside the SDK. */
const NOT_LOADED = /dynamically imported module|module script failed/i

const isNotLoaded = (error: unknown): boolean =>
  error instanceof Error && (NOT_LOADED.test(error.message) || isNotLoaded(error.cause))

const PART_MISSING: Problem = {
  code: 'connection_failed',
  message: 'a part of the console could not be loaded',
  fix: 'The server is away for a moment, or has a newer console. Try again; if that does not help, load the page again.',
  requestId: undefined,
}

/** The SDK speaks to programs, of the key to repeat a call with; a person has none to give. */
const LOOK_FIRST = 'It may have been made. Load the page again and look before you repeat it.'

/** Of a request without an answer nobody knows whether it arrived. */
const NO_ANSWER = {
  message: 'no answer came from the server',
  fix: 'Check that it is running, and the network between you and it. If this was a change, look whether it was made before you repeat it.',
}

/** Hints for programs name a request; here there is a page for it. */
const OF_PROGRAMS = /\b(?:GET|POST|PUT|PATCH|DELETE) \//
const NOT_HERE = 'It may have been archived or removed, or is not shared with you any more.'

function fixOf(error: unknown, hint: string | undefined): string | undefined {
  if (error instanceof OutcomeUnknownError) return LOOK_FIRST
  if (hint === undefined || !OF_PROGRAMS.test(hint)) return hint
  return error instanceof ApiError && error.status === 404 ? NOT_HERE : undefined
}

export function problemOf(error: unknown): Problem {
  if (isNotLoaded(error)) return PART_MISSING
  const members = error as { code?: unknown; hint?: unknown; requestId?: unknown } | null
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
  const code = text(members?.code)
  if (code === 'connection_failed' && text(members?.hint) === undefined)
    return { code, ...NO_ANSWER, requestId: text(members?.requestId) }
  return {
    code: code ?? 'unexpected',
    message: error instanceof Error ? error.message : 'something in this page failed',
    fix: fixOf(error, text(members?.hint)),
    requestId: text(members?.requestId),
  }
}

export const isNoAccess = (error: unknown): boolean =>
  error instanceof PermissionDeniedError || (error instanceof ApiError && error.status === 403)

/** What was seen before is not there any more, or not for whoever asks. */
export const isGone = (error: unknown): boolean =>
  isNoAccess(error) || (error instanceof ApiError && error.status === 404)
