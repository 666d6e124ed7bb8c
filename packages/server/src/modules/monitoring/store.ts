import type { ChainedEvent } from '@strongroom/contract'
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { chainedColumns } from '../../audit/store.ts'
import type { Db } from '../../db/database.ts'
import type { Tables } from '../../db/schema.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'
import type { TenantScope } from './scope.ts'

// Reads only: what is counted and listed here is written by others.

export interface RouteHistogram {
  readonly route: string
  readonly requests: number
  readonly errors: number
  readonly buckets: number[]
}

/** `from` and `to` are minutes; `to` is not included. */
export const histograms = (db: Db, orgId: string, principal: string, from: Date, to: Date): Promise<RouteHistogram[]> =>
  db
    .selectFrom('metric_minute')
    .select([
      'route',
      sql<number>`sum(requests)::bigint`.as('requests'),
      sql<number>`sum(errors)::bigint`.as('errors'),
      sql<number[]>`sum_buckets(buckets)`.as('buckets'),
    ])
    .where('org_id', '=', orgId)
    .where('principal', '=', principal)
    .where('minute', '>=', from)
    .where('minute', '<', to)
    .groupBy('route')
    .orderBy('route')
    .execute()

type Counted = 'agent' | 'org_user' | 'security_group' | 'tenant'

/** How many rows of one kind lie in the scope. */
export async function count(db: Db, table: Counted, orgId: string, scope: TenantScope): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)}
    where org_id = ${orgId} and (${scope}::text[] is null or tenant_id = any(${scope}::text[]))
      ${table === 'org_user' ? sql`and status <> 'removed'` : sql``}`.execute(db)
  return rows[0]?.count ?? 0
}

/** The vaults whose access list names the principal, and the items in them: what the lists of both would show. */
export async function countVaults(
  db: Db,
  orgId: string,
  principal: string,
): Promise<{ readonly vaults: number; readonly items: number }> {
  const { rows } = await sql<{ vaults: number; items: number }>`
    with mine as (
      select vault_id from vault_access where org_id = ${orgId} and principal = ${principal} and role is not null
    )
    select (select count(*) from mine) as vaults,
      (select count(*) from vault_item i join mine using (vault_id) where i.org_id = ${orgId}) as items`.execute(db)
  return rows[0] ?? { vaults: 0, items: 0 }
}

export interface RequestEventRow {
  readonly id: string
  readonly occurredAt: Date
  readonly requestId: string
  readonly traceId: string | null
  readonly method: string
  readonly routeTemplate: string
  readonly status: number
  readonly errorCode: string | null
  readonly durationMs: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly principal: string
  readonly accessKey: string | null
  readonly tenantId: string | null
  readonly ipTruncated: string
  readonly userAgent: string
}

export const requestEvents = (
  db: Db,
  orgId: string,
  principal: string,
  page: PageQuery,
): Promise<Listed<RequestEventRow>> =>
  listRows<RequestEventRow>(
    db,
    db
      .selectFrom('request_event')
      .select([
        'event_id as id',
        'occurred_at as occurredAt',
        'request_id as requestId',
        'trace_id as traceId',
        'method',
        'route as routeTemplate',
        'status',
        'error_code as errorCode',
        'duration_ms as durationMs',
        'bytes_in as bytesIn',
        'bytes_out as bytesOut',
        'principal',
        'access_key as accessKey',
        'tenant_id as tenantId',
        'ip as ipTruncated',
        'user_agent as userAgent',
      ])
      .where('org_id', '=', orgId)
      .where('principal', '=', principal),
    { time: 'occurredAt', id: 'id' },
    page,
  )

/** Whose events are shown: everybody's, or those of the actor and of the principals of some tenants. */
export interface AuditScope {
  readonly orgId: string
  readonly actorId: string
  readonly tenants: TenantScope
}

type AuditExpressions = ExpressionBuilder<Tables, 'audit_event'>

function inScope(eb: AuditExpressions, { orgId, actorId, tenants }: AuditScope): Expression<SqlBool> {
  const own = eb('audit_event.org_id', '=', orgId)
  if (tenants === null) return own
  const byActor = eb('audit_event.actor_id', '=', actorId)
  if (tenants.length === 0) return own.and(byActor)
  const agents = eb
    .selectFrom('agent')
    .select(sql<string>`'agent:' || agent_id`.as('actor'))
    .where('org_id', '=', orgId)
    .where('tenant_id', 'in', tenants)
  const users = eb
    .selectFrom('org_user')
    .select(sql<string>`'user:' || user_id`.as('actor'))
    .where('org_id', '=', orgId)
    .where('tenant_id', 'in', tenants)
  return own.and(eb.or([byActor, eb('audit_event.actor_id', 'in', agents), eb('audit_event.actor_id', 'in', users)]))
}

export interface AuditEventRow extends Omit<ChainedEvent, 'targets' | 'metadata' | 'outcome'> {
  readonly targets: { type: string; id: string }[]
  readonly metadata: Record<string, unknown>
  readonly outcome: 'success' | 'refused'
  /** For the order alone: the text of `occurredAt` has no index. */
  readonly time: Date
  readonly position: number | null
  readonly prevHash: string | null
  readonly hash: string | null
}

export const auditEvents = (db: Db, scope: AuditScope, page: PageQuery): Promise<Listed<AuditEventRow>> =>
  listRows<AuditEventRow>(
    db,
    db
      .selectFrom('audit_event')
      .leftJoin('audit_seal', (join) =>
        join
          .onRef('audit_seal.org_id', '=', 'audit_event.org_id')
          .onRef('audit_seal.event_id', '=', 'audit_event.event_id'),
      )
      .select(chainedColumns)
      .select([
        'audit_event.occurred_at as time',
        'audit_seal.position',
        sql<string | null>`encode(audit_seal.prev_hash, 'hex')`.as('prevHash'),
        sql<string | null>`encode(audit_seal.hash, 'hex')`.as('hash'),
      ])
      .where((eb) => inScope(eb, scope))
      .$castTo<AuditEventRow>(),
    { time: 'time', id: 'id' },
    page,
  )

export interface SessionCounts {
  readonly active: number
  readonly users: number
  readonly under5Minutes: number
  readonly under1Hour: number
  readonly under4Hours: number
  readonly older: number
  readonly revokedLastDay: number
}

export async function sessionCounts(db: Db, at: Date): Promise<SessionCounts> {
  const { rows } = await sql<{ stats: SessionCounts }>`select session_stats(${at}) as stats`.execute(db)
  const [{ stats } = { stats: undefined }] = rows
  if (!stats) throw new Error('session_stats answers one row')
  return stats
}
