import { canonicalText } from '@strongroom/protocol'
import { type Insertable, sql } from 'kysely'
import type { Ctx, Deps, Principal, RequestFacts, TxCtx } from '../context.ts'
import type { Db } from '../db/database.ts'
import type { AuditEventTable } from '../db/schema.ts'
import { ApiError } from '../errors.ts'

// One row for every act, in the transaction of the act: no audit, no answer.

export interface AuditEvent {
  /** noun.verb, such as `agent.create`. */
  readonly action: string
  readonly targets?: readonly { readonly type: string; readonly id: string }[]
  /** Public facts only: names and ids, never values, keys or tokens. What cannot be hashed (floats, odd keys) is a bug. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

interface Recording {
  readonly orgId: string
  readonly actor: { readonly type: string; readonly id: string }
  readonly request: RequestFacts
  readonly outcome: 'success' | 'refused'
  readonly errorCode: string | null
}

type Maker = Pick<Deps, 'now' | 'newId' | 'log'>

function rowOf({ now, newId }: Maker, recording: Recording, event: AuditEvent): Insertable<AuditEventTable> {
  const { orgId, actor, request, outcome, errorCode } = recording
  const { action, targets = [], metadata = {} } = event
  return {
    org_id: orgId,
    event_id: newId('aud'),
    action,
    occurred_at: now(),
    actor_type: actor.type,
    actor_id: actor.id,
    // In the form that is hashed: an event the chain cannot take is refused here, not left unsealed for ever.
    targets: canonicalText(targets),
    outcome,
    error_code: errorCode,
    request_id: request.requestId,
    ip: request.ip,
    user_agent: request.userAgent,
    metadata: canonicalText(metadata),
  }
}

function unavailable({ log }: Pick<Deps, 'log'>, cause: unknown): ApiError {
  log.error({ event: 'audit_unavailable', code: (cause as { code?: string }).code })
  return new ApiError('audit_unavailable', { headers: { 'retry-after': '5' } })
}

async function insert(deps: Maker, db: Db, recording: Recording, event: AuditEvent): Promise<void> {
  const row = rowOf(deps, recording, event)
  try {
    await db.insertInto('audit_event').values(row).execute()
  } catch (cause) {
    throw unavailable(deps, cause)
  }
}

const byCaller = ({ principal, request }: Ctx): Recording => ({
  orgId: principal.orgId,
  actor: { type: principal.type, id: principal.id },
  request,
  outcome: 'success',
  errorCode: null,
})

/** The row of what the caller did, for a statement that writes more than this. */
export const auditRow = (ctx: Ctx, event: AuditEvent): Insertable<AuditEventTable> => rowOf(ctx, byCaller(ctx), event)

/** Records what the caller did, in the caller's transaction. */
export const record = (ctx: TxCtx, event: AuditEvent): Promise<void> => insert(ctx, ctx.db, byCaller(ctx), event)

/** Records what somebody did who is not a principal yet: set-up, login, an invitee. */
export const recordFor = (
  deps: Maker & { request: RequestFacts },
  db: Db,
  orgId: string,
  actor: { type: string; id: string },
  event: AuditEvent,
): Promise<void> =>
  insert(deps, db, { orgId, actor, request: deps.request, outcome: 'success', errorCode: null }, event)

/** Records what happens by itself: a clock or a provider was the cause. `part` is the part of the server that did it. */
export const recordSystem = (deps: Maker, db: Db, orgId: string, part: string, event: AuditEvent): Promise<void> => {
  const { action } = event
  const request = { requestId: deps.newId('req'), ip: '', userAgent: `strongroom ${part}`, routeName: action }
  return recordFor({ ...deps, request }, db, orgId, { type: 'system', id: `system:${part}` }, event)
}

/** A refusal is recorded on its own: its transaction is gone. If even that fails, the refusal stands. */
export const recordRefusal = (
  deps: Deps,
  { orgId, type, id }: Principal,
  request: RequestFacts,
  errorCode: string,
): Promise<void> => recordRefusalFor({ ...deps, request }, orgId, { type, id }, request.routeName, errorCode)

/** The same of somebody who is not known to be who they say: the actor is whom they named. */
export async function recordRefusalFor(
  deps: Deps & { request: RequestFacts },
  orgId: string,
  actor: { type: string; id: string },
  action: string,
  errorCode: string,
): Promise<void> {
  const row = rowOf(deps, { orgId, actor, request: deps.request, outcome: 'refused', errorCode }, { action })
  // A transaction by itself, that names its organisation in the statement: whoever is refused a thousand times costs a thousand of these.
  await sql`
    insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, targets, outcome, error_code, request_id, ip,
      user_agent, metadata)
    select set_config('app.org', ${row.org_id}, true), ${row.event_id}, ${row.action}, ${row.occurred_at}::timestamptz,
      ${row.actor_type}, ${row.actor_id}, ${row.targets}::jsonb, ${row.outcome}, ${row.error_code}, ${row.request_id}, ${row.ip},
      ${row.user_agent}, ${row.metadata}::jsonb`
    .execute(deps.database.kysely)
    .catch(() => undefined)
}

const beginAudited = (ctx: TxCtx, event: AuditEvent) =>
  ctx.db.with('audited', (db) =>
    db
      .insertInto('audit_event')
      .values(rowOf(ctx, byCaller(ctx), event))
      .returning('event_id'),
  )

/** A query that carries its audit row: what is selected from it and the row are one statement. */
export type AuditedQuery = ReturnType<typeof beginAudited>

/** No privilege, no room, read-only: the causes that are the audit log's own. */
const AUDIT_CAUSES = /^(?:42501|25006|53[0-9A-Z]{3})$/

/**
 * Reads something secret-bearing. The audit row rides in the same statement, so one cannot be had without the other, and
 * `transact` commits both before the answer leaves:
 *
 *     const [field] = await readAudited(ctx, { action: 'field.read', targets }, (db) => db.selectFrom('field').select(…))
 *
 * If nothing is found and the service refuses, the row is rolled back with the transaction and the refusal is recorded.
 */
export async function readAudited<Row>(
  ctx: TxCtx,
  event: AuditEvent,
  select: (query: AuditedQuery) => { execute(): Promise<Row[]> },
): Promise<Row[]> {
  return auditing(ctx, () => select(beginAudited(ctx, event)).execute())
}

/** Runs a statement that carries an audit row. */
export async function auditing<T>(ctx: Pick<Deps, 'log'>, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    if (AUDIT_CAUSES.test((cause as { code?: string }).code ?? '')) throw unavailable(ctx, cause)
    throw cause
  }
}
