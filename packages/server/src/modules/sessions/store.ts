import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'
import type { Limit } from '../../http/rate-limit.ts'

export interface NewSession {
  readonly orgId: string
  readonly sessionId: string
  readonly tokenHash: Buffer
  readonly userId: string
  readonly deviceInstallationId: string | null
  readonly userAgent: string
  readonly at: Date
  readonly expiresAt: Date
}

export async function insertSession(db: Db, session: NewSession): Promise<void> {
  const { orgId, sessionId, tokenHash, userId, deviceInstallationId, userAgent, at, expiresAt } = session
  await db
    .insertInto('session')
    .values({
      org_id: orgId,
      session_id: sessionId,
      token_hash: tokenHash,
      user_id: userId,
      device_installation_id: deviceInstallationId,
      user_agent: userAgent,
      created_at: at,
      last_used_at: at,
      expires_at: expiresAt,
      revoked_at: null,
    })
    .execute()
}

export interface SessionRow {
  readonly sessionId: string
  readonly deviceInstallationId: string | null
  readonly userAgent: string
  readonly createdAt: Date
  readonly lastUsedAt: Date
  readonly expiresAt: Date
}

interface Owner {
  readonly orgId: string
  readonly userId: string
}

/** The same rule of being alive as `authenticate_session` in the database. */
const live = (db: Db, { orgId, userId }: Owner, at: Date) =>
  db
    .selectFrom('session')
    .select([
      'session_id as sessionId',
      'device_installation_id as deviceInstallationId',
      'user_agent as userAgent',
      'created_at as createdAt',
      'last_used_at as lastUsedAt',
      'expires_at as expiresAt',
    ])
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', at)
    .where('last_used_at', '>', sql<Date>`${at}::timestamptz - interval '30 minutes'`)

export const list = (db: Db, owner: Owner, at: Date, page: PageQuery): Promise<Listed<SessionRow>> =>
  listRows<SessionRow>(db, live(db, owner, at), { time: 'createdAt', id: 'sessionId' }, page)

/** false if the owner has no such session that still runs. */
export async function endSession(db: Db, { orgId, userId }: Owner, sessionId: string, at: Date): Promise<boolean> {
  const ended = await db
    .updateTable('session')
    .set({ revoked_at: at })
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return ended.numUpdatedRows === 1n
}

export async function endSessions(db: Db, orgId: string, userIds: readonly string[], at: Date): Promise<void> {
  if (userIds.length === 0) return
  await db
    .updateTable('session')
    .set({ revoked_at: at })
    .where('org_id', '=', orgId)
    .where('user_id', 'in', userIds)
    .where('revoked_at', 'is', null)
    .execute()
}

export interface LoginRow {
  readonly orgId: string
  readonly userId: string
  readonly record: string
  readonly kid: string
  readonly kdf: string
  readonly bundleVersion: number
  readonly knowsDevice: boolean
}

/** Also points the transaction at the organisation of whoever was found. */
export async function findLogin(
  db: Db,
  email: string,
  deviceInstallationId: string | null,
): Promise<LoginRow | undefined> {
  const { rows } = await sql<{
    row: LoginRow | null
  }>`select find_login(${email}, ${deviceInstallationId}) as row`.execute(db)
  return rows[0]?.row ?? undefined
}

export interface AttemptName {
  readonly attemptId: string
  readonly purpose: string
}

export async function insertAttempt(
  db: Db,
  attempt: AttemptName & { readonly sealed: string; readonly at: Date; readonly expiresAt: Date },
): Promise<void> {
  const { attemptId, purpose, sealed, at, expiresAt } = attempt
  await db
    .insertInto('login_attempt')
    .values({
      attempt_id: attemptId,
      purpose,
      state: JSON.stringify({ sealed }),
      created_at: at,
      expires_at: expiresAt,
    })
    .execute()
}

const SEALED = sql<string>`state->>'sealed'`.as('sealed')

/** Found and gone in one statement: of two that ask at once, one gets it. */
export async function takeAttempt(
  db: Db,
  { attemptId, purpose, at }: AttemptName & { readonly at: Date },
): Promise<string | undefined> {
  const row = await db
    .deleteFrom('login_attempt')
    .where('attempt_id', '=', attemptId)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', at)
    .returning(SEALED)
    .executeTakeFirst()
  return row?.sealed
}

export async function peekAttempt(
  db: Db,
  { attemptId, purpose, at }: AttemptName & { readonly at: Date },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('login_attempt')
    .select(SEALED)
    .where('attempt_id', '=', attemptId)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', at)
    .executeTakeFirst()
  return row?.sealed
}

/** A few of the expired ones, whatever nobody else is at: each start takes more away than it adds. */
export async function sweepAttempts(db: Db, at: Date): Promise<void> {
  await sql`delete from login_attempt where attempt_id in (
    select attempt_id from login_attempt where expires_at < ${at} limit 20 for update skip locked)`.execute(db)
}

/** One token less, or the seconds until there is one. The first statement checks and takes at once. */
export async function takeToken(db: Db, subject: Buffer, { burst, perMinute }: Limit, at: Date): Promise<number> {
  const perSecond = perMinute / 60
  const now = sql`least(${burst}::float8, b.tokens + greatest(0, extract(epoch from ${at}::timestamptz - b.at)) * ${perSecond}::float8)`
  const { rows } = await sql`
    insert into login_throttle as b (subject, tokens, at) values (${subject}, ${burst - 1}, ${at})
    on conflict (subject) do update set tokens = ${now} - 1, at = greatest(b.at, excluded.at) where ${now} >= 1
    returning 1`.execute(db)
  if (rows.length > 0) return 0
  const refused = await sql<{
    wait: number
  }>`select ceil((1 - ${now}) / ${perSecond}::float8)::int as wait from login_throttle b where subject = ${subject}`.execute(
    db,
  )
  return Math.max(1, refused.rows[0]?.wait ?? 1)
}

export async function returnTokens(db: Db, subjects: readonly Buffer[]): Promise<void> {
  // More than a bucket holds is cut off when it is next taken from.
  await sql`update login_throttle set tokens = tokens + 1 where subject in (
    select subject from login_throttle where subject = any(${[...subjects]}::bytea[]) order by subject for update)`.execute(
    db,
  )
}

export async function sweepThrottle(db: Db, before: Date): Promise<void> {
  await sql`delete from login_throttle where subject in (
    select subject from login_throttle where at < ${before} limit 20 for update skip locked)`.execute(db)
}
