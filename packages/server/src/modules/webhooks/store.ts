import type { WebhookDelivery, WebhookEndpoint } from '@strongroom/contract'
import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'
import type { EventScope } from '../../outbox/listeners.ts'

/** Whose endpoints a caller has: those of its key. An agent has those of its earlier keys too, a person who is logged in all of their keys'. */
export interface Sight {
  readonly orgId: string
  readonly principal: string
  readonly keyId: string | null
}

type Signing = WebhookEndpoint['signing']

export interface EndpointRow {
  readonly webhookId: string
  readonly url: string
  readonly description: string
  readonly eventTypes: string[]
  readonly signing: Signing
  readonly publicKey: Buffer | null
  readonly status: WebhookEndpoint['status']
  readonly disabledReason: WebhookEndpoint['disabledReason']
  readonly disabledAt: Date | null
  readonly failingSince: Date | null
  readonly oldSecretUntil: Date | null
  readonly createdAt: Date
  readonly tenantId: string | null
}

const inSight = (db: Db, { orgId, principal, keyId }: Sight) =>
  db
    .selectFrom('webhook_endpoint as e')
    .leftJoin('webhook_signing_key as k', (join) =>
      join.onRef('k.org_id', '=', 'e.org_id').on('e.signing', '=', 'ed25519'),
    )
    .select([
      'e.endpoint_id as webhookId',
      'e.url',
      'e.description',
      'e.event_types as eventTypes',
      sql<Signing>`e.signing`.as('signing'),
      'k.public_key as publicKey',
      sql<WebhookEndpoint['status']>`e.status`.as('status'),
      sql<WebhookEndpoint['disabledReason']>`e.disabled_reason`.as('disabledReason'),
      'e.disabled_at as disabledAt',
      'e.failing_since as failingSince',
      'e.old_secret_until as oldSecretUntil',
      'e.created_at as createdAt',
      'e.tenant_id as tenantId',
    ])
    .where('e.org_id', '=', orgId)
    .where('e.principal', '=', principal)
    .where(sql<boolean>`(${keyId}::text is null or e.key_id = ${keyId} or starts_with(e.principal, 'agent:'))`)

export const list = (db: Db, sight: Sight, page: PageQuery): Promise<Listed<EndpointRow>> =>
  listRows(db, inSight(db, sight), { time: 'createdAt', id: 'webhookId' }, page)

export const endpoint = (db: Db, sight: Sight, id: string): Promise<EndpointRow | undefined> =>
  inSight(db, sight).where('e.endpoint_id', '=', id).executeTakeFirst()

/** Until the transaction ends nobody else makes an endpoint for the same principal. */
export async function countOfKey(db: Db, { orgId, principal, keyId }: Sight): Promise<number> {
  await sql`select pg_advisory_xact_lock(${ENDPOINT_LOCK}::int, hashtext(${orgId} || ' ' || ${principal}))`.execute(db)
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from webhook_endpoint
    where org_id = ${orgId} and principal = ${principal} and (key_id is not distinct from ${keyId} or starts_with(principal, 'agent:'))`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}
const ENDPOINT_LOCK = 8_420_044

export interface NewEndpoint extends Sight {
  readonly webhookId: string
  readonly tenantId: string | null
  readonly url: string
  readonly description: string
  readonly eventTypes: readonly string[]
  readonly signing: Signing
  readonly secret: Buffer | null
  readonly at: Date
}

export async function insertEndpoint(db: Db, made: NewEndpoint): Promise<void> {
  await db
    .insertInto('webhook_endpoint')
    .values({
      org_id: made.orgId,
      endpoint_id: made.webhookId,
      principal: made.principal,
      key_id: made.keyId,
      tenant_id: made.tenantId,
      url: made.url,
      description: made.description,
      event_types: [...made.eventTypes],
      signing: made.signing,
      secret: made.secret,
      old_secret: null,
      old_secret_until: null,
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      throttled_until: null,
      created_at: made.at,
    })
    .execute()
}

/** From now on vault changes are told; those before are not. */
export async function beginFeed(db: Db, orgId: string): Promise<void> {
  await sql`
    insert into webhook_feed (org_id, seq)
    select ${orgId}, coalesce(max(seq), 0) from vault_activity_event where org_id = ${orgId}
    on conflict (org_id) do update set seq = webhook_feed.seq`.execute(db)
}

export interface EndpointChange {
  readonly url?: string
  readonly description?: string
  readonly eventTypes?: readonly string[]
}

/** What is left out is not written: somebody else may be changing it. */
export async function changeEndpoint(
  db: Db,
  orgId: string,
  id: string,
  { url, description, eventTypes }: EndpointChange,
): Promise<void> {
  const change = {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(eventTypes !== undefined && { event_types: [...eventTypes] }),
  }
  if (Object.keys(change).length === 0) return
  await db
    .updateTable('webhook_endpoint')
    .set(change)
    .where('org_id', '=', orgId)
    .where('endpoint_id', '=', id)
    .execute()
}

/** For the key that enables it: what it may hear from now on is what that key may. False if it was active already. */
export async function enableEndpoint(db: Db, { orgId, keyId }: Sight, id: string): Promise<boolean> {
  const { rows } = await sql`
    update webhook_endpoint set status = 'active', disabled_reason = null, disabled_at = null, failing_since = null,
      throttled_until = null, key_id = ${keyId}
    where org_id = ${orgId} and endpoint_id = ${id} and status = 'disabled' returning 1`.execute(db)
  return rows.length > 0
}

/** What waited for it is discarded. False if it was disabled already. */
export async function disableEndpoint(
  db: Db,
  orgId: string,
  id: string,
  reason: NonNullable<WebhookEndpoint['disabledReason']>,
  at: Date,
): Promise<{ readonly tenantId: string | null } | undefined> {
  const { rows } = await sql<{ tenantId: string | null }>`
    update webhook_endpoint set status = 'disabled', disabled_reason = ${reason}, disabled_at = ${at}
    where org_id = ${orgId} and endpoint_id = ${id} and status = 'active' returning tenant_id as "tenantId"`.execute(db)
  if (!rows[0]) return undefined
  await sql`
    update webhook_delivery set state = 'discarded', due_at = null, finished_at = ${at}
    where org_id = ${orgId} and endpoint_id = ${id} and due_at is not null and not synthetic`.execute(db)
  return rows[0]
}

export async function deleteEndpoint(db: Db, orgId: string, id: string): Promise<void> {
  await db.deleteFrom('webhook_endpoint').where('org_id', '=', orgId).where('endpoint_id', '=', id).execute()
}

export interface NewSecret {
  readonly secret: Buffer
  readonly at: Date
  /** The one before stays good until then, and those before it as long as they were to be. */
  readonly oldUntil: Date
  /** With more of them than this it is refused. */
  readonly mostOld: number
}

/** False where too many are good still. */
export async function putSecret(
  db: Db,
  orgId: string,
  id: string,
  { secret, at, oldUntil, mostOld }: NewSecret,
): Promise<boolean> {
  const old = sql`(
    select old_secret, old_secret_until union all select * from unnest(older_secrets, older_secrets_until)) as o (secret, until)
    where o.until > ${at}`
  const { numAffectedRows } = await sql`
    update webhook_endpoint set
      (older_secrets, older_secrets_until) = (
        select coalesce(array_agg(o.secret order by o.until desc), '{}'), coalesce(array_agg(o.until order by o.until desc), '{}') from ${old}),
      old_secret = secret, old_secret_until = ${oldUntil}, secret = ${secret}
    where org_id = ${orgId} and endpoint_id = ${id} and (select count(*) from ${old}) < ${mostOld}`.execute(db)
  return numAffectedRows === 1n
}

export const signingKey = (db: Db, orgId: string): Promise<{ publicKey: Buffer } | undefined> =>
  db.selectFrom('webhook_signing_key').select('public_key as publicKey').where('org_id', '=', orgId).executeTakeFirst()

export async function insertSigningKey(
  db: Db,
  orgId: string,
  { publicKey, sealed }: { readonly publicKey: Buffer; readonly sealed: Buffer },
  at: Date,
): Promise<void> {
  await db
    .insertInto('webhook_signing_key')
    .values({ org_id: orgId, public_key: publicKey, sealed, created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

type Attempt = WebhookDelivery['attempts'][number]

export interface AttemptRow {
  readonly attempt: number
  readonly startedAt: string
  readonly durationMs: number | null
  readonly timing: Attempt['timing']
  readonly url: string
  readonly responseStatus: number | null
  readonly error: Attempt['error']
  /** Both or neither: nobody knows of an attempt without an end. */
  readonly signedAt: string | null
  readonly signature: string | null
}

export interface DeliveryRow {
  readonly deliveryId: string
  readonly eventId: string
  readonly eventType: string
  readonly state: WebhookDelivery['state']
  readonly synthetic: boolean
  readonly createdAt: Date
  readonly nextAttemptAt: Date | null
  readonly finishedAt: Date | null
  readonly attempts: AttemptRow[]
}

const deliveriesOf = (db: Db, orgId: string, endpointId: string) =>
  db
    .selectFrom('webhook_delivery as d')
    .select([
      'd.delivery_id as deliveryId',
      'd.event_id as eventId',
      'd.type as eventType',
      sql<WebhookDelivery['state']>`d.state`.as('state'),
      'd.synthetic',
      'd.created_at as createdAt',
      sql<Date | null>`case when d.state in ('pending', 'retrying') then d.due_at end`.as('nextAttemptAt'),
      'd.finished_at as finishedAt',
      sql<AttemptRow[]>`coalesce((
        select json_agg(json_build_object('attempt', a.attempt, 'startedAt', a.started_at, 'durationMs', a.duration_ms,
          'timing', json_build_object('lookupMs', a.lookup_ms, 'connectMs', a.connect_ms, 'tlsMs', a.tls_ms, 'waitMs', a.wait_ms),
          'url', a.url, 'responseStatus', a.response_status, 'error', a.error,
          'signedAt', a.signed_at, 'signature', a.signature) order by a.attempt)
        from webhook_attempt a where a.org_id = d.org_id and a.delivery_id = d.delivery_id), '[]')`.as('attempts'),
    ])
    .where('d.org_id', '=', orgId)
    .where('d.endpoint_id', '=', endpointId)

export const deliveries = (
  db: Db,
  orgId: string,
  endpointId: string,
  { state, ...page }: PageQuery & { readonly state?: WebhookDelivery['state'] },
): Promise<Listed<DeliveryRow>> => {
  const all = deliveriesOf(db, orgId, endpointId)
  const select = state === undefined ? all : all.where('d.state', '=', state)
  return listRows(db, select, { time: 'createdAt', id: 'deliveryId' }, page)
}

export const delivery = (
  db: Db,
  orgId: string,
  endpointId: string,
  deliveryId: string,
): Promise<DeliveryRow | undefined> =>
  deliveriesOf(db, orgId, endpointId).where('d.delivery_id', '=', deliveryId).executeTakeFirst()

export interface MessageRow extends EventScope {
  readonly synthetic: boolean
  readonly body: string | null
}

/** What a delivery carries, with what decides on who may read it. */
export const message = (db: Db, orgId: string, deliveryId: string): Promise<MessageRow | undefined> =>
  db
    .selectFrom('webhook_delivery as d')
    .leftJoin('outbox_event as o', (join) =>
      join.onRef('o.org_id', '=', 'd.org_id').onRef('o.event_id', '=', 'd.event_id'),
    )
    .select([
      'd.type',
      'd.synthetic',
      sql<string | null>`coalesce(d.body, o.body)`.as('body'),
      'o.tenant_id as tenantId',
      'o.vault_id as vaultId',
      'o.principal',
    ])
    .where('d.org_id', '=', orgId)
    .where('d.delivery_id', '=', deliveryId)
    .executeTakeFirst()
