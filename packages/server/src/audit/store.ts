import { type ExpressionBuilder, type Insertable, sql } from 'kysely'
import type { Database, Db } from '../db/database.ts'
import type { AuditSealTable, Tables } from '../db/schema.ts'
import type { ChainedEvent } from './chain.ts'

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

export const unsealedEvents = (db: Db, orgId: string, limit: number): Promise<ChainedEvent[]> =>
  db
    .selectFrom('audit_unsealed')
    .innerJoin('audit_event', (join) =>
      join
        .onRef('audit_event.org_id', '=', 'audit_unsealed.org_id')
        .onRef('audit_event.event_id', '=', 'audit_unsealed.event_id'),
    )
    .select(chainedColumns)
    .where('audit_unsealed.org_id', '=', orgId)
    .orderBy('audit_unsealed.seq')
    .limit(limit)
    .execute()

/** A whole batch in one statement, column by column: as single values it would cost more to write down than to store. */
export async function appendSeals(
  db: Db,
  orgId: string,
  seals: readonly Insertable<AuditSealTable>[],
  head: Head,
): Promise<void> {
  const ids = seals.map(({ event_id }) => event_id)
  await sql`
    with sealed as (
      insert into audit_seal (org_id, position, event_id, prev_hash, hash, sealed_at)
      select ${orgId}, * from unnest(
        ${seals.map(({ position }) => position)}::bigint[], ${ids}::text[], ${seals.map((seal) => seal.prev_hash)}::bytea[],
        ${seals.map(({ hash }) => hash)}::bytea[], ${seals.map(({ sealed_at }) => sealed_at)}::timestamptz[]
      )
    ), unqueued as (
      delete from audit_unsealed where org_id = ${orgId} and event_id = any(${ids}::text[])
    )
    update audit_head set position = ${head.position}, hash = ${head.hash} where org_id = ${orgId}`.execute(db)
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
