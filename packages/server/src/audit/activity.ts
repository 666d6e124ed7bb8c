import { type Expression, sql } from 'kysely'
import type { TxCtx } from '../context.ts'
import type { Db } from '../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../http/pagination.ts'

// The feed of vault changes that callers poll with `?after=<seq>`.

export interface VaultActivity {
  readonly vaultId: string
  /** noun.verb, such as `item.create`. */
  readonly action: string
  /** The id of what changed; names stay out, since who sees the feed is decided later. */
  readonly subject?: string
}

export const FEED_LOCK = 8_420_013

/**
 * Adds to the feed, in the transaction of the change. Numbers are drawn under a lock of the organisation that is held until the
 * commit: so they become visible in their order, and whoever polls behind a number never misses a smaller one that commits later.
 */
export async function recordActivity(ctx: TxCtx, activity: VaultActivity): Promise<void> {
  const { db, principal } = ctx
  await sql`select pg_advisory_xact_lock(${FEED_LOCK}::int, hashtext(${principal.orgId}))`.execute(db)
  await db.insertInto('vault_activity_event').values(activityRow(ctx, activity)).execute()
}

/** For a statement that writes more than this, after it has taken FEED_LOCK. */
export const activityRow = (ctx: TxCtx, { vaultId, action, subject = '' }: VaultActivity) => ({
  org_id: ctx.principal.orgId,
  event_id: ctx.newId('act'),
  vault_id: vaultId,
  action,
  actor: ctx.principal.id,
  subject,
  occurred_at: ctx.now(),
  request_id: ctx.request.requestId,
})

export interface ActivityRow {
  readonly seq: number
  readonly id: string
  readonly vaultId: string
  readonly action: string
  readonly actor: string
  readonly subject: string
  readonly occurredAt: Date
  readonly requestId: string
}

/** The newest event of an organisation, or 0. */
export async function latestActivity(db: Db, orgId: string): Promise<number> {
  const row = await db
    .selectFrom('vault_activity_event')
    .select('seq')
    .where('org_id', '=', orgId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}

/** What happened in these vaults, from behind `after` on. */
const activityIn = (db: Db, orgId: string, vaultIds: readonly string[], after: number) =>
  db
    .selectFrom('vault_activity_event')
    .select([
      'seq',
      'event_id as id',
      'vault_id as vaultId',
      'action',
      'actor',
      'subject',
      'occurred_at as occurredAt',
      'request_id as requestId',
    ])
    .where('org_id', '=', orgId)
    .where(sql<boolean>`vault_id = any(${[...vaultIds]}::text[])`)
    .where('seq', '>', after)

/** The next of them, oldest first. */
export const activityAfter = async (
  db: Db,
  orgId: string,
  vaultIds: readonly string[],
  after: number,
  limit: number,
): Promise<ActivityRow[]> =>
  vaultIds.length === 0 ? [] : activityIn(db, orgId, vaultIds, after).orderBy('seq').limit(limit).execute()

/** All of them or a page, in the same order. */
export function listActivity(
  db: Db,
  orgId: string,
  vaultIds: readonly string[],
  after: number,
  page: PageQuery,
): Promise<Listed<ActivityRow>> {
  const select: Expression<ActivityRow> = activityIn(db, orgId, vaultIds, after)
  return listRows(db, select, { time: 'seq', id: 'id', isFeed: true }, page)
}
