import type { sessions } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { type Ctx, type Deps, type RequestFacts, transact } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { makeAccessToken } from '../../secrets/credentials.ts'
import * as store from './store.ts'

const ABSOLUTE_LIFE_MS = 12 * 3_600_000

export interface StartedSession {
  readonly sessionId: string
  /** To be shown once and never kept. */
  readonly accessToken: string
  readonly expiresAt: string
}

/** A session for somebody who has just proven who they are. With a device installation id it works from that device only. */
export async function startSession(
  deps: Pick<Deps, 'now' | 'newId'> & { readonly request: RequestFacts },
  db: Db,
  { orgId, userId, deviceInstallationId }: { orgId: string; userId: string; deviceInstallationId: string | undefined },
): Promise<StartedSession> {
  const { token, hash } = makeAccessToken()
  const sessionId = deps.newId('ses')
  const at = deps.now()
  const expiresAt = new Date(at.getTime() + ABSOLUTE_LIFE_MS)
  await store.insertSession(db, {
    orgId,
    sessionId,
    tokenHash: hash,
    userId,
    deviceInstallationId: deviceInstallationId ?? null,
    userAgent: deps.request.userAgent,
    at,
    expiresAt,
  })
  return { sessionId, accessToken: token, expiresAt: expiresAt.toISOString() }
}

/** Ends every session of these people: their passphrase changed, they lost a role, or they are gone. */
export const endSessionsOf = (
  deps: Pick<Deps, 'now'>,
  db: Db,
  orgId: string,
  userIds: readonly string[],
): Promise<void> => store.endSessions(db, orgId, userIds, deps.now())

/** The contract lets only people with an access token here. */
export function personOf({ principal }: Pick<Ctx, 'principal'>): {
  readonly orgId: string
  readonly userId: string
  readonly sessionId: string
} {
  const { orgId, userId, sessionId } = principal
  if (userId === null || sessionId === null) throw new ApiError('key_kind_refused')
  return { orgId, userId, sessionId }
}

export const list: Handler<typeof sessions.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => {
    const person = personOf(ctx)
    const listed = await store.list(ctx.db, person, ctx.now(), query)
    return listAnswer('data', listed, ({ createdAt, lastUsedAt, expiresAt, ...session }) => ({
      ...session,
      current: session.sessionId === person.sessionId,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
    }))
  })

const endOwn = (ctx: Ctx, sessionId: string, action: string) =>
  transact(ctx, async (ctx) => {
    const endedAt = ctx.now()
    if (!(await store.endSession(ctx.db, personOf(ctx), sessionId, endedAt))) throw new ApiError('session_not_found')
    await record(ctx, { action, targets: [{ type: 'session', id: sessionId }] })
    return { sessionId, endedAt: endedAt.toISOString() }
  })

export const end: Handler<typeof sessions.end> = (ctx, { params }) => endOwn(ctx, params.id, 'session.end')
export const logout: Handler<typeof sessions.logout> = (ctx) => endOwn(ctx, personOf(ctx).sessionId, 'session.logout')
