import type { ChainedEvent, WrittenEvent } from '@strongroom/contract'
import { type ExpressionBuilder, sql } from 'kysely'
import type { Database, Db } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

/** The columns of an event under the names that are hashed and answered. */
export const chainedColumns = (eb: ExpressionBuilder<Tables, 'audit_event'>) =>
  [
    'audit_event.event_id as id',
    'audit_event.action',
    sql<string>`to_char(${eb.ref('audit_event.occurred_at')} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as(
      'occurredAt',
    ),
    'audit_event.actor_type as actorType',
    'audit_event.actor_id as actorId',
    'audit_event.targets',
    'audit_event.outcome',
    'audit_event.error_code as errorCode',
    'audit_event.request_id as requestId',
    'audit_event.ip',
    'audit_event.user_agent as userAgent',
    'audit_event.metadata',
  ] as const

export interface Backlog {
  readonly orgId: string
  readonly unsealed: number
  readonly oldestMs: number
}

/** What waits, by organisation. The only question here that spans organisations; row-level security lets the worker ask it. */
export const backlogs = (worker: Database): Promise<Backlog[]> =>
  worker.kysely
    .selectFrom('audit_unsealed')
    .select((eb) => [
      'org_id as orgId',
      eb.fn.countAll<number>().as('unsealed'),
      sql<number>`(extract(epoch from clock_timestamp() - min(queued_at)) * 1000)::float8`.as('oldestMs'),
    ])
    .groupBy('org_id')
    .orderBy('org_id')
    .execute()

export interface Head {
  readonly position: number
  readonly hash: Buffer
}

/** The end of the chain, locked until the transaction ends; undefined while another sealer has it. */
export async function takeHead(db: Db, orgId: string, start: Buffer): Promise<Head | undefined> {
  const take = () =>
    db
      .selectFrom('audit_head')
      .select(['position', 'hash'])
      .where('org_id', '=', orgId)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
  const head = await take()
  if (head) return head
  await db
    .insertInto('audit_head')
    .values({ org_id: orgId, position: 0, hash: start })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return take()
}

export const readHead = (db: Db, orgId: string): Promise<Head | undefined> =>
  db.selectFrom('audit_head').select(['position', 'hash']).where('org_id', '=', orgId).executeTakeFirst()

/** With its place in the queue; its open parts as the database writes them. */
export type QueuedEvent = WrittenEvent & { readonly seq: number }

export const unsealedEvents = (db: Db, orgId: string, limit: number): Promise<QueuedEvent[]> =>
  db
    .selectFrom('audit_unsealed')
    .innerJoin('audit_event', (join) =>
      join
        .onRef('audit_event.org_id', '=', 'audit_unsealed.org_id')
        .onRef('audit_event.event_id', '=', 'audit_unsealed.event_id'),
    )
    .select(chainedColumns)
    // After the others, so that they are read in this form.
    .select([
      'audit_unsealed.seq',
      sql<string>`targets::text`.as('targets'),
      sql<string>`metadata::text`.as('metadata'),
    ])
    .where('audit_unsealed.org_id', '=', orgId)
    .orderBy('audit_unsealed.seq')
    .limit(limit)
    .execute()

export interface Seal {
  readonly eventId: string
  readonly seq: number
  readonly hash: Buffer
}

/** A whole batch in one statement, behind the head. All hashes are one value: as single ones they would cost more to write down than to store. */
export async function appendSeals(
  db: Db,
  orgId: string,
  head: Head,
  seals: readonly Seal[],
  sealedAt: Date,
): Promise<void> {
  const hashes = Buffer.concat([head.hash, ...seals.map(({ hash }) => hash)])
  await sql`
    with sealed as (
      insert into audit_seal (org_id, position, event_id, prev_hash, hash, sealed_at)
      select ${orgId}, ${head.position}::bigint + n, event_id, substr(hashes, (n::integer - 1) * 32 + 1, 32),
        substr(hashes, n::integer * 32 + 1, 32), ${sealedAt}
      from unnest(${seals.map(({ eventId }) => eventId)}::text[]) with ordinality as e (event_id, n), (select ${hashes}::bytea) as h (hashes)
    ), unqueued as (
      delete from audit_unsealed where org_id = ${orgId} and seq = any(${seals.map(({ seq }) => seq)}::bigint[])
    )
    update audit_head set position = position + ${seals.length}, hash = ${hashes.subarray(-32)} where org_id = ${orgId}`.execute(
    db,
  )
}

/** An event that waits in one of several organisations, with the end of its chain. */
export type TakenEvent = QueuedEvent & {
  readonly orgId: string
  readonly headPosition: number
  readonly headHash: Buffer
}

/** Locks the ends of several chains and gives what waits behind them; nothing of one that is locked or not begun. */
export async function takeUnsealed(db: Db, orgIds: readonly string[], limit: number): Promise<readonly TakenEvent[]> {
  const { rows } = await sql<TakenEvent>`
    select org_id as "orgId", head_position as "headPosition", head_hash as "headHash", seq, id, action, "occurredAt", "actorType",
      "actorId", targets, outcome, "errorCode", "requestId", ip, "userAgent", metadata
    from take_unsealed(${orgIds}::text[], ${limit}::integer)`.execute(db)
  return rows
}

export interface SealedBatch {
  readonly orgId: string
  readonly head: Head
  readonly seals: readonly Seal[]
}

/** What `appendSeals` does, for several organisations. */
export async function appendAllSeals(db: Db, batches: readonly SealedBatch[], sealedAt: Date): Promise<void> {
  const written = batches.map(({ orgId, head, seals }) => ({
    orgId,
    position: head.position,
    hashes: Buffer.concat([head.hash, ...seals.map(({ hash }) => hash)]).toString('hex'),
    eventIds: seals.map(({ eventId }) => eventId),
    seqs: seals.map(({ seq }) => seq),
  }))
  await sql`select append_seals(${JSON.stringify(written)}::jsonb, ${sealedAt})`.execute(db)
}

export interface SealedRow {
  readonly position: number
  readonly eventId: string
  readonly prevHash: Buffer
  readonly hash: Buffer
  /** Null if the event is gone. */
  readonly event: ChainedEvent | null
}

/** The chain in its order, from behind `after` on. */
export async function sealedRows(db: Db, orgId: string, after: number, limit: number): Promise<SealedRow[]> {
  const rows = await db
    .selectFrom('audit_seal')
    .leftJoin('audit_event', (join) =>
      join
        .onRef('audit_event.org_id', '=', 'audit_seal.org_id')
        .onRef('audit_event.event_id', '=', 'audit_seal.event_id'),
    )
    .select([
      'audit_seal.position',
      'audit_seal.event_id as eventId',
      'audit_seal.prev_hash as prevHash',
      'audit_seal.hash',
    ])
    .select(chainedColumns)
    .where('audit_seal.org_id', '=', orgId)
    .where('audit_seal.position', '>', after)
    .orderBy('audit_seal.position')
    .limit(limit)
    .execute()
  return rows.map(({ position, eventId, prevHash, hash, ...event }) => ({
    position,
    eventId,
    prevHash,
    hash,
    event: event.id === null ? null : (event as ChainedEvent),
  }))
}

export interface EventState {
  readonly seq: number
  readonly eventId: string
  readonly occurredAt: Date
  readonly position: number | null
}

/** Every event and whether it is sealed, in the order of recording, from behind `after` on. */
export const eventStates = (db: Db, orgId: string, after: number, limit: number): Promise<EventState[]> =>
  db
    .selectFrom('audit_event')
    .leftJoin('audit_seal', (join) =>
      join
        .onRef('audit_seal.org_id', '=', 'audit_event.org_id')
        .onRef('audit_seal.event_id', '=', 'audit_event.event_id'),
    )
    .select([
      'audit_event.seq',
      'audit_event.event_id as eventId',
      'audit_event.occurred_at as occurredAt',
      'audit_seal.position',
    ])
    .where('audit_event.org_id', '=', orgId)
    .where('audit_event.seq', '>', after)
    .orderBy('audit_event.seq')
    .limit(limit)
    .execute()
