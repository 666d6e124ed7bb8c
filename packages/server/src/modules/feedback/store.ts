import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'

export interface FeedbackRow {
  readonly orgId: string
  readonly feedbackId: string
  readonly agentId: string
  readonly category: string
  readonly summary: string
  readonly details: string
  readonly route: string | null
  readonly requestId: string | null
  readonly digest: Buffer
  readonly at: Date
}

/** Feedback of one agent comes in one after the other: counting and inserting is then one act. */
export async function waitForTurn(db: Db, orgId: string, agentId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`feedback ${orgId} ${agentId}`}, 0))`.execute(db)
}

/** What the agent said in these words on that day (UTC). */
export async function sameToday(db: Db, { orgId, digest, at }: FeedbackRow): Promise<string | undefined> {
  const row = await db
    .selectFrom('feedback')
    .select('feedback_id')
    .where('org_id', '=', orgId)
    .where('digest', '=', digest)
    .where(
      sql<boolean>`date_trunc('day', created_at at time zone 'utc') = date_trunc('day', ${at}::timestamptz at time zone 'utc')`,
    )
    .executeTakeFirst()
  return row?.feedback_id
}

export async function sentSince(
  db: Db,
  orgId: string,
  agentId: string,
  since: Date,
): Promise<{ sent: number; oldest: Date | null }> {
  const row = await db
    .selectFrom('feedback')
    .select(({ fn }) => [fn.countAll<number>().as('sent'), fn.min('created_at').as('oldest')])
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow()
  return { sent: row.sent, oldest: row.oldest }
}

export async function insertFeedback(db: Db, row: FeedbackRow): Promise<void> {
  await db
    .insertInto('feedback')
    .values({
      org_id: row.orgId,
      feedback_id: row.feedbackId,
      agent_id: row.agentId,
      category: row.category,
      summary: row.summary,
      details: row.details,
      route: row.route,
      request_id: row.requestId,
      digest: row.digest,
      created_at: row.at,
    })
    .execute()
}
