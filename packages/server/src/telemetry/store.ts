import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import type { Minute } from './minutes.ts'
import type { RequestRow } from './telemetry.ts'

/** One parameter for all rows: a statement of fixed length is parsed faster than one with a thousand placeholders. */
export async function insertRequests(db: Db, rows: readonly RequestRow[]): Promise<void> {
  await sql`
    insert into request_event (org_id, event_id, occurred_at, request_id, trace_id, method, route, status, error_code, duration_ms, bytes_in, bytes_out, principal, access_key, tenant_id, ip, user_agent)
    select "orgId", "eventId", "occurredAt", "requestId", "traceId", method, route, status, "errorCode", "durationMs", "bytesIn", "bytesOut", principal, "accessKey", "tenantId", ip, "userAgent"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(
      "orgId" text, "eventId" text, "occurredAt" timestamptz, "requestId" text, "traceId" text, method text, route text, status integer, "errorCode" text,
      "durationMs" double precision, "bytesIn" integer, "bytesOut" integer, principal text, "accessKey" text, "tenantId" text, ip text, "userAgent" text)
    on conflict do nothing`.execute(db)
}

export async function addToMinutes(db: Db, minutes: readonly Minute[]): Promise<void> {
  await sql`
    insert into metric_minute as m (org_id, principal, route, minute, requests, errors, buckets)
    select org_id, principal, route, minute, requests, errors, array(select value::bigint from jsonb_array_elements_text(buckets) with ordinality as b(value, i) order by i)
    from jsonb_to_recordset(${JSON.stringify(minutes)}::jsonb) as r(org_id text, principal text, route text, minute timestamptz, requests bigint, errors bigint, buckets jsonb)
    on conflict (org_id, principal, route, minute) do update
    set requests = m.requests + excluded.requests, errors = m.errors + excluded.errors, buckets = add_buckets(m.buckets, excluded.buckets)`.execute(
    db,
  )
}

const DAY_MS = 86_400_000
/** How long raw rows, histograms and the answers to requests that named a key are kept. */
export const RETENTION_DAYS = { requests: 30, minutes: 400, idempotency: 30 } as const

const ROWS_PER_REMOVAL = 5000

/** Removes a batch of what is too old, so that no statement runs into its time-out; how many rows are gone. */
export async function removeOld(db: Db, now: Date): Promise<number> {
  const before = (days: number): Date => new Date(now.getTime() - days * DAY_MS)
  const requests = await sql`
    delete from request_event where ctid = any(array(
      select ctid from request_event where occurred_at < ${before(RETENTION_DAYS.requests)} limit ${ROWS_PER_REMOVAL}))`.execute(
    db,
  )
  const minutes = await sql`
    delete from metric_minute where ctid = any(array(
      select ctid from metric_minute where minute < ${before(RETENTION_DAYS.minutes)} limit ${ROWS_PER_REMOVAL}))`.execute(
    db,
  )
  const answers = await sql`
    delete from idempotency i using (
      select org_id, principal, key_hash from idempotency where created_at < ${before(RETENTION_DAYS.idempotency)} limit ${ROWS_PER_REMOVAL}) old
    where (i.org_id, i.principal, i.key_hash) = (old.org_id, old.principal, old.key_hash)`.execute(db)
  return [requests, minutes, answers].reduce((sum, { numAffectedRows }) => sum + Number(numAffectedRows ?? 0), 0)
}
