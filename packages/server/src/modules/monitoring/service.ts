import { AUDIT_VERSION, holds, type monitoring, type Output } from '@strongroom/contract'
import { visibleVaultIds } from '../../access/vaults.ts'
import { type ActivityRow, activityAfter, listActivity } from '../../audit/activity.ts'
import { transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { quantileMs } from '../../telemetry/histogram.ts'
import { administered, agentScope, type TenantScope } from './scope.ts'
import * as store from './store.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const ACCESS_KEY_PREFIX = 8

const FIRST_MS = 0
const LAST_MS = Date.parse('9999-12-31T23:59:00Z')

/** Histograms are kept by the minute, so a window is widened to whole ones, as far as there are such. */
function windowOf(now: Date, { from, to }: { from?: string; to?: string }): { from: Date; to: Date } {
  const end = to === undefined ? now.getTime() : Date.parse(to)
  const start = from === undefined ? end - DAY_MS : Date.parse(from)
  if (!(start < end))
    throw new ApiError('validation_failed', {
      details: { in: 'query', problems: [{ path: '/from', problem: 'must be before to' }] },
    })
  return {
    from: new Date(Math.max(FIRST_MS, Math.floor(start / MINUTE_MS) * MINUTE_MS)),
    to: new Date(Math.min(LAST_MS, Math.ceil(end / MINUTE_MS) * MINUTE_MS)),
  }
}

const statsOf = ({ route, requests, errors, buckets }: store.RouteHistogram) => {
  const [method = '', path = ''] = route.split(' ')
  return {
    method,
    route: path,
    requests,
    errors,
    errorRate: errors / requests,
    p50Ms: quantileMs(buckets, 0.5),
    p95Ms: quantileMs(buckets, 0.95),
    p99Ms: quantileMs(buckets, 0.99),
  }
}

export const metricStats: Handler<typeof monitoring.metricStats> = (ctx, { query }) =>
  transact(ctx, async ({ db, principal }) => {
    const { from, to } = windowOf(ctx.now(), query)
    const rows = await store.histograms(db, principal.orgId, principal.id, from, to)
    return { from: from.toISOString(), to: to.toISOString(), data: rows.map(statsOf) }
  })

const sees = (scope: TenantScope): boolean => scope === null || scope.length > 0

/** What each kind is counted under. Later nouns add themselves here with the scope of their own list. */
const COUNTED = [
  { type: 'agents', table: 'agent', scopeOf: agentScope },
  { type: 'users', table: 'org_user', scopeOf: administered },
  { type: 'groups', table: 'security_group', scopeOf: administered },
  { type: 'tenants', table: 'tenant', scopeOf: administered },
] as const

export const entityCounts: Handler<typeof monitoring.entityCounts> = (ctx) =>
  transact(ctx, async ({ db, principal }) => {
    const visible = COUNTED.filter(({ scopeOf }) => sees(scopeOf(principal)))
    const data: Output<typeof monitoring.entityCounts>['data'] = []
    for (const { type, table, scopeOf } of visible)
      data.push({ type, count: await store.count(db, table, principal.orgId, scopeOf(principal)) })
    if (!holds(principal.permissions, 'machine.vault.read')) return { data }
    const { vaults, items } = await store.countVaults(db, principal.orgId, principal.id)
    return { data: [...data, { type: 'vaults', count: vaults }, { type: 'items', count: items }] }
  })

const requestEventOf = ({ principal, accessKey, occurredAt, ...event }: store.RequestEventRow) => ({
  ...event,
  occurredAt: occurredAt.toISOString(),
  principal: {
    type: principal.split(':')[0] ?? '',
    id: principal,
    accessKeyPrefix: accessKey?.slice(0, ACCESS_KEY_PREFIX) ?? null,
  },
})

export const requestEvents: Handler<typeof monitoring.requestEvents> = (ctx, { query }) =>
  transact(ctx, async ({ db, principal }) =>
    listAnswer('data', await store.requestEvents(db, principal.orgId, principal.id, query), requestEventOf),
  )

const auditEventOf = ({ actorType, actorId, requestId, ip, userAgent, time: _, ...event }: store.AuditEventRow) => ({
  ...event,
  version: AUDIT_VERSION,
  actor: { type: actorType, id: actorId },
  context: { requestId, ip, userAgent },
})

export const auditEvents: Handler<typeof monitoring.auditEvents> = (ctx, { query }) =>
  transact(ctx, async ({ db, principal }) => {
    const scope = { orgId: principal.orgId, actorId: principal.id, tenants: administered(principal) }
    return listAnswer('data', await store.auditEvents(db, scope, query), auditEventOf)
  })

const DEFAULT_LIMIT = 100

const showActivity = (row: ActivityRow) => ({ ...row, occurredAt: row.occurredAt.toISOString() })

export const vaultActivityEvents: Handler<typeof monitoring.vaultActivityEvents> = (ctx, { query }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const { after, page, limit = DEFAULT_LIMIT } = query
    const vaultIds = await visibleVaultIds(ctx)
    // Whoever says behind which one they are reads on from there, piece by piece.
    if (after !== undefined && page === undefined)
      return { data: (await activityAfter(ctx.db, orgId, vaultIds, after, limit)).map(showActivity) }
    return listAnswer('data', await listActivity(ctx.db, orgId, vaultIds, after ?? 0, query), showActivity)
  })
