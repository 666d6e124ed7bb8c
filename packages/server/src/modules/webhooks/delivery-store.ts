import { sql } from 'kysely'
import type { Database, Db } from '../../db/database.ts'
import type { EventScope, Owner } from '../../outbox/listeners.ts'
import type { Attempted } from './send.ts'
import type { Signer } from './signing.ts'

export interface WaitingEndpoint {
  readonly orgId: string
  readonly endpointId: string
  readonly failing: boolean
}

/** Active endpoints with something that is due. */
export async function endpointsWaiting(
  { kysely }: Pick<Database, 'kysely'>,
  at: Date,
): Promise<readonly WaitingEndpoint[]> {
  const { rows } = await sql<WaitingEndpoint>`
    select org_id as "orgId", endpoint_id as "endpointId", failing from webhook_endpoints_waiting(${at})`.execute(
    kysely,
  )
  return rows
}

/** A delivery that is this caller's until its lease ends, with everything that decides on it and is sent. */
export interface Claimed extends Owner, Omit<EventScope, 'principal'>, Signer {
  readonly orgId: string
  readonly deliveryId: string
  readonly eventId: string
  /** The number of this attempt; who says how it ended brings it. */
  readonly claim: number
  readonly step: number
  readonly synthetic: boolean
  readonly body: string | null
  readonly url: string
  readonly eventTypes: readonly string[]
  /** Whom the event itself is kept for; `principal` is the owner of the endpoint. */
  readonly audience: string | null
}

const COLUMNS = sql`
  d.org_id as "orgId", d.delivery_id as "deliveryId", d.event_id as "eventId", d.claims as claim, d.step, d.synthetic, d.type,
  coalesce(d.body, o.body) as body, o.tenant_id as "tenantId", o.vault_id as "vaultId", o.principal as audience,
  e.endpoint_id as "endpointId", e.principal, e.key_id as "keyId", e.url, e.event_types as "eventTypes",
  e.secret, e.old_secret || e.older_secrets as "oldSecrets", e.old_secret_until || e.older_secrets_until as "oldSecretsUntil",
  case when e.signing = 'ed25519' then k.sealed end as "orgKey"`
const JOINED = sql`
  join webhook_endpoint e on e.org_id = d.org_id and e.endpoint_id = d.endpoint_id
  left join outbox_event o on o.org_id = d.org_id and o.event_id = d.event_id
  left join webhook_signing_key k on k.org_id = d.org_id`

export interface ClaimLimits {
  /** Under way at once at an endpoint that answers, and at one that fails. */
  readonly healthy: number
  readonly failing: number
  /** In all. */
  readonly free: number
}

export async function claim(
  db: Db,
  orgId: string,
  endpointIds: readonly string[],
  { at, until }: { readonly at: Date; readonly until: Date },
  { healthy, failing, free }: ClaimLimits,
): Promise<readonly Claimed[]> {
  const { rows } = await sql<Claimed>`
    select ${COLUMNS}
    from webhook_claim(${orgId}, ${[...endpointIds]}::text[], ${at}, ${until}, ${healthy}, ${failing}, ${free}) d ${JOINED}`.execute(
    db,
  )
  return rows
}

/** Something synthetic, taken by whoever makes it. */
export async function startSynthetic(
  db: Db,
  made: {
    readonly orgId: string
    readonly endpointId: string
    readonly deliveryId: string
    readonly eventId: string
    readonly type: string
    readonly body: string
    readonly at: Date
    readonly until: Date
  },
): Promise<Claimed> {
  const { orgId, endpointId, deliveryId, eventId, type, body, at, until } = made
  await sql`
    insert into webhook_delivery (org_id, delivery_id, endpoint_id, event_id, type, body, synthetic, state, due_at, claims, created_at)
    values (${orgId}, ${deliveryId}, ${endpointId}, ${eventId}, ${type}, ${body}, true, 'delivering', ${until}, 1, ${at})`.execute(
    db,
  )
  const { rows } = await sql<Claimed>`
    select ${COLUMNS} from webhook_delivery d ${JOINED}
    where d.org_id = ${orgId} and d.delivery_id = ${deliveryId}`.execute(db)
  const [claimed] = rows
  if (!claimed) throw new Error('a delivery that was just made is gone')
  return claimed
}

/** Until the transaction ends nobody else counts those of the same endpoint. */
export async function countSynthetic(db: Db, orgId: string, endpointId: string, since: Date): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhook test ${orgId} ${endpointId}`}, 0))`.execute(db)
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from webhook_delivery
    where org_id = ${orgId} and endpoint_id = ${endpointId} and synthetic and created_at > ${since}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Written before anything is sent: what a crash leaves is an attempt without an end. */
export async function startAttempts(db: Db, orgId: string, claimed: readonly Claimed[], at: Date): Promise<void> {
  if (claimed.length === 0) return
  await sql`
    insert into webhook_attempt (org_id, delivery_id, attempt, started_at, url)
    select ${orgId}, a.delivery_id, a.attempt, ${at}, a.url
    from unnest(${claimed.map(({ deliveryId }) => deliveryId)}::text[], ${claimed.map((one) => one.claim)}::integer[],
      ${claimed.map(({ url }) => url)}::text[]) as a (delivery_id, attempt, url)`.execute(db)
}

export async function discard(db: Db, orgId: string, deliveryIds: readonly string[], at: Date): Promise<void> {
  if (deliveryIds.length === 0) return
  await sql`
    update webhook_delivery set state = 'discarded', due_at = null, finished_at = ${at}
    where org_id = ${orgId} and delivery_id = any(${[...deliveryIds]}::text[])`.execute(db)
}

type Taken = Pick<Claimed, 'orgId' | 'deliveryId' | 'claim'>

export async function endAttempt(
  db: Db,
  { orgId, deliveryId, claim }: Taken,
  { status, error, durationMs, timing, signed }: Attempted,
): Promise<void> {
  await sql`
    update webhook_attempt set duration_ms = ${durationMs}, response_status = ${status}, error = ${error},
      lookup_ms = ${timing.lookupMs}, connect_ms = ${timing.connectMs}, tls_ms = ${timing.tlsMs}, wait_ms = ${timing.waitMs},
      signed_at = ${signed.at}, signature = ${signed.signature}
    where org_id = ${orgId} and delivery_id = ${deliveryId} and attempt = ${claim} and duration_ms is null`.execute(db)
}

/** It has arrived, whoever else has claimed it meanwhile. */
export async function setDelivered(db: Db, { orgId, deliveryId }: Taken, at: Date): Promise<void> {
  await sql`
    update webhook_delivery set state = 'delivered', due_at = null, finished_at = ${at}
    where org_id = ${orgId} and delivery_id = ${deliveryId} and due_at is not null`.execute(db)
}

/** Only the claim that is still in force says when it is tried again: at no time means never. */
export async function setFailed(
  db: Db,
  { orgId, deliveryId, claim }: Taken,
  next: { readonly at: Date | null; readonly step: number },
  now: Date,
): Promise<void> {
  await sql`
    update webhook_delivery set state = ${next.at ? 'retrying' : 'exhausted'}, due_at = ${next.at}, step = ${next.step},
      finished_at = ${next.at ? null : now}
    where org_id = ${orgId} and delivery_id = ${deliveryId} and claims = ${claim} and state = 'delivering'`.execute(db)
}

/** Events can still be fanned out to it; who else wants to change it waits. */
export async function lockEndpoint(db: Db, orgId: string, endpointId: string): Promise<void> {
  await sql`
    select 1 from webhook_endpoint where org_id = ${orgId} and endpoint_id = ${endpointId} for no key update`.execute(
    db,
  )
}

export async function endpointAnswers(db: Db, orgId: string, endpointId: string): Promise<void> {
  await sql`
    update webhook_endpoint set failing_since = null, throttled_until = null
    where org_id = ${orgId} and endpoint_id = ${endpointId} and (failing_since is not null or throttled_until is not null)`.execute(
    db,
  )
}

/** Since when it has done nothing but fail. */
export async function endpointFails(
  db: Db,
  orgId: string,
  endpointId: string,
  at: Date,
  throttledUntil: Date | null,
): Promise<Date | undefined> {
  const { rows } = await sql<{ failingSince: Date }>`
    update webhook_endpoint set failing_since = coalesce(failing_since, ${at}),
      throttled_until = coalesce(${throttledUntil}, throttled_until)
    where org_id = ${orgId} and endpoint_id = ${endpointId} returning failing_since as "failingSince"`.execute(db)
  return rows[0]?.failingSince
}

/** From the start of the schedule, at once. What is under way stays so. */
export async function startAgain(db: Db, orgId: string, deliveryId: string, at: Date): Promise<void> {
  await sql`
    update webhook_delivery set state = 'pending', due_at = ${at}, step = 0, finished_at = null
    where org_id = ${orgId} and delivery_id = ${deliveryId} and state <> 'delivering'`.execute(db)
}

const REMOVE_BATCH = 1000

/** Removes a batch of what ended before; how many rows. Events go when nothing of them is still to be told. */
export async function removeOld(db: Db, before: Date): Promise<number> {
  const deliveries = await sql`
    delete from webhook_delivery where (org_id, delivery_id) in (
      select org_id, delivery_id from webhook_delivery where finished_at < ${before} limit ${REMOVE_BATCH})`.execute(db)
  const events = await sql`
    delete from outbox_event where (org_id, event_id) in (
      select o.org_id, o.event_id from outbox_event o
      where o.fanned_out_at is not null and o.occurred_at < ${before} and not exists (
        select 1 from webhook_delivery d where d.org_id = o.org_id and d.event_id = o.event_id)
      limit ${REMOVE_BATCH})`.execute(db)
  return Number(deliveries.numAffectedRows ?? 0) + Number(events.numAffectedRows ?? 0)
}
