import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import * as store from './store.ts'

// What the server must remember between two messages of one person: single-use rows that every process can finish. The state
// of an OPAQUE login would let a reader of the database finish it, so it is sealed.

interface AttemptStates {
  readonly setup: {
    readonly orgId: string
    readonly userId: string
    readonly tenantId: string
    readonly email: string
    readonly origin: string
  }
  readonly login: {
    readonly serverLoginState: string
    /** null for an address nobody has: such an attempt is never finished. */
    readonly account: { readonly orgId: string; readonly userId: string; readonly bundleVersion: number } | null
    /** The buckets that get their token back if it ends well. */
    readonly buckets: readonly string[]
  }
  readonly invite: {
    readonly orgId: string
    readonly inviteId: string
    readonly userId: string
    readonly email: string
  }
  readonly recovery: {
    readonly orgId: string
    readonly userId: string
    readonly email: string
    readonly bundleVersion: number
  }
}
export type AttemptPurpose = keyof AttemptStates
export type AttemptState<P extends AttemptPurpose> = AttemptStates[P]

const MINUTE_MS = 60_000
/** A login is two messages of one program; behind the others somebody thinks of a passphrase. */
const LIFE_MS: Readonly<Record<AttemptPurpose, number>> = {
  login: 2 * MINUTE_MS,
  setup: 15 * MINUTE_MS,
  invite: 15 * MINUTE_MS,
  recovery: 15 * MINUTE_MS,
}

type AttemptDeps = Pick<Deps, 'rootKey' | 'now' | 'newId'>

const sealName = (purpose: AttemptPurpose, attemptId: string): string => `attempt ${purpose} ${attemptId}`

export async function startAttempt<P extends AttemptPurpose>(
  deps: AttemptDeps,
  db: Db,
  purpose: P,
  state: AttemptState<P>,
): Promise<string> {
  const attemptId = deps.newId('att')
  const at = deps.now()
  const sealed = deps.rootKey.seal(sealName(purpose, attemptId), Buffer.from(JSON.stringify(state))).toString('base64')
  await store.sweepAttempts(db, at)
  await store.insertAttempt(db, {
    attemptId,
    purpose,
    sealed,
    at,
    expiresAt: new Date(at.getTime() + LIFE_MS[purpose]),
  })
  return attemptId
}

function openState<P extends AttemptPurpose>(
  { rootKey }: AttemptDeps,
  purpose: P,
  attemptId: string,
  sealed: string | undefined,
): AttemptState<P> | undefined {
  const opened =
    sealed === undefined ? undefined : rootKey.open(sealName(purpose, attemptId), Buffer.from(sealed, 'base64'))
  // Sealed by us under this very purpose, so it has the shape it was given.
  return opened && (JSON.parse(opened.toString()) as AttemptState<P>)
}

/** Gives the state once. Whoever asks again, too late or for another purpose gets nothing. */
export const takeAttempt = async <P extends AttemptPurpose>(
  deps: AttemptDeps,
  db: Db,
  purpose: P,
  attemptId: string,
): Promise<AttemptState<P> | undefined> =>
  openState(deps, purpose, attemptId, await store.takeAttempt(db, { attemptId, purpose, at: deps.now() }))

/** Looks without taking: for learning in which organisation the attempt is to be taken. */
export const peekAttempt = async <P extends AttemptPurpose>(
  deps: AttemptDeps,
  db: Db,
  purpose: P,
  attemptId: string,
): Promise<AttemptState<P> | undefined> =>
  openState(deps, purpose, attemptId, await store.peekAttempt(db, { attemptId, purpose, at: deps.now() }))
