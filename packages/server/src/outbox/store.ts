import { sql } from 'kysely'
import type { Database, Db } from '../db/database.ts'
import type { EventScope, Owner } from './listeners.ts'

/** At most so many events at once: a long queue must not run into the time-out of a statement. */
const MOST_PLACED = 2000

export interface Placed {
  /** Organisations in which somebody may listen: events wait, or changes of vaults. */
  readonly heard: readonly string[]
  readonly isMore: boolean
}

/** Places what nobody listens for, in every organisation; what is left has to be fanned out. */
export async function placeUnheard({ pool }: Pick<Database, 'pool'>, at: Date): Promise<Placed> {
  const { rows } = await pool.query<Placed>({
    name: 'place_unheard',
    text: 'select heard, is_more as "isMore" from place_unheard($1, $2)',
    values: [at, MOST_PLACED],
  })
  return rows[0] ?? { heard: [], isMore: false }
}

/** Who holds it is the only one to fan out for the organisation. Undefined if that is somebody else now. */
export async function takeHead(db: Db, orgId: string): Promise<number | undefined> {
  await sql`insert into outbox_head (org_id, feed_seq) values (${orgId}, 0) on conflict do nothing`.execute(db)
  const { rows } = await sql<{ feed_seq: number }>`
    select feed_seq from outbox_head where org_id = ${orgId} for update skip locked`.execute(db)
  return rows[0]?.feed_seq
}

/** Undefined if nobody listens, or somebody begins to at this moment. */
export async function takeFeed(db: Db, orgId: string): Promise<number | undefined> {
  const { rows } = await sql<{ seq: number }>`
    select seq from webhook_feed where org_id = ${orgId} for update skip locked`.execute(db)
  return rows[0]?.seq
}

export async function moveFeed(db: Db, orgId: string, seq: number): Promise<void> {
  await sql`update webhook_feed set seq = ${seq} where org_id = ${orgId}`.execute(db)
}

export async function endFeed(db: Db, orgId: string): Promise<void> {
  await sql`delete from webhook_feed where org_id = ${orgId}`.execute(db)
}

export interface ActiveEndpoint extends Owner {
  readonly endpointId: string
  readonly eventTypes: readonly string[]
}

export const activeEndpoints = (db: Db, orgId: string): Promise<ActiveEndpoint[]> =>
  db
    .selectFrom('webhook_endpoint')
    .select(['endpoint_id as endpointId', 'principal', 'key_id as keyId', 'event_types as eventTypes'])
    .where('org_id', '=', orgId)
    .where('status', '=', 'active')
    .orderBy('endpoint_id')
    .execute()

export interface WaitingEvent extends EventScope {
  readonly eventId: string
}

export const waitingEvents = (db: Db, orgId: string, limit: number): Promise<WaitingEvent[]> =>
  db
    .selectFrom('outbox_event')
    .select(['event_id as eventId', 'type', 'tenant_id as tenantId', 'vault_id as vaultId', 'principal'])
    .where('org_id', '=', orgId)
    .where('fanned_out_at', 'is', null)
    .orderBy('seq')
    .limit(limit)
    .execute()

export interface NewDelivery {
  readonly deliveryId: string
  readonly endpointId: string
  readonly eventId: string
  readonly type: string
}

export async function insertDeliveries(
  db: Db,
  orgId: string,
  deliveries: readonly NewDelivery[],
  at: Date,
): Promise<void> {
  if (deliveries.length === 0) return
  const column = (name: keyof NewDelivery) => deliveries.map((delivery) => delivery[name])
  await sql`
    insert into webhook_delivery (org_id, delivery_id, endpoint_id, event_id, type, due_at, created_at)
    select ${orgId}, d.delivery_id, d.endpoint_id, d.event_id, d.type, ${at}, ${at}
    from unnest(${column('deliveryId')}::text[], ${column('endpointId')}::text[], ${column('eventId')}::text[],
      ${column('type')}::text[]) as d (delivery_id, endpoint_id, event_id, type)
    join webhook_endpoint e on e.org_id = ${orgId} and e.endpoint_id = d.endpoint_id
    on conflict do nothing`.execute(db)
}

/** Gives the events their places in the stream, in this order. */
export async function placeEvents(
  db: Db,
  orgId: string,
  head: number,
  eventIds: readonly string[],
  at: Date,
): Promise<void> {
  await sql`
    update outbox_event o set fanned_out_at = ${at}, feed_seq = ${head}::bigint + p.place
    from unnest(${[...eventIds]}::text[]) with ordinality as p (event_id, place)
    where o.org_id = ${orgId} and o.event_id = p.event_id`.execute(db)
  await sql`update outbox_head set feed_seq = ${head + eventIds.length} where org_id = ${orgId}`.execute(db)
}

/** The newest place in the stream of an organisation. */
export async function latestPlace(db: Db, orgId: string): Promise<number> {
  const { rows } = await sql<{ feed_seq: number }>`
    select feed_seq from outbox_head where org_id = ${orgId}`.execute(db)
  return rows[0]?.feed_seq ?? 0
}

export interface StreamedEvent extends EventScope {
  readonly place: number
  readonly body: string
}

/** Behind a place, in order. Vault changes are not among them: the stream has the feed itself. */
export const eventsAfter = (db: Db, orgId: string, after: number, limit: number): Promise<StreamedEvent[]> =>
  db
    .selectFrom('outbox_event')
    .select([
      sql<number>`feed_seq`.as('place'),
      'type',
      'body',
      'tenant_id as tenantId',
      'vault_id as vaultId',
      'principal',
    ])
    .where('org_id', '=', orgId)
    .where('feed_seq', '>', after)
    .orderBy('feed_seq')
    .limit(limit)
    .execute()
