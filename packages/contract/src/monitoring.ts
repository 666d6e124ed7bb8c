import { Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, NoPage, Nullable, OneOf, Page, Time } from './shapes.ts'

const reading = { kind: 'permission', permission: 'machine.monitoring.read' } as const satisfies Access
const operating = { kind: 'global-admin', permission: 'machine.monitoring.read' } as const satisfies Access

const Count = Type.Integer({ minimum: 0 })
const Ms = Type.Number({ minimum: 0 })
const Bytes = Count
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, hexadecimal' })
const Typed = closed({ type: Type.String(), id: Type.String() })

const RouteStats = closed({
  method: Type.String(),
  route: Type.String({ description: 'The template of the path' }),
  requests: Count,
  errors: Type.Integer({ minimum: 0, description: 'Answers with a status from 400 on' }),
  errorRate: Type.Number({ minimum: 0, maximum: 1 }),
  p50Ms: Ms,
  p95Ms: Ms,
  p99Ms: Ms,
})

const RequestEvent = closed({
  id: Id,
  occurredAt: Time,
  requestId: Id,
  traceId: Nullable(Type.String()),
  method: Type.String(),
  routeTemplate: Type.String(),
  status: Type.Integer(),
  errorCode: Nullable(Type.String()),
  durationMs: Ms,
  bytesIn: Bytes,
  bytesOut: Bytes,
  principal: closed({ type: Type.String(), id: Type.String(), accessKeyPrefix: Nullable(Type.String()) }),
  tenantId: Nullable(Id),
  ipTruncated: Type.String({ description: '/24 of IPv4, /48 of IPv6' }),
  userAgent: Type.String({ description: 'The products it names, without comments' }),
})

const AuditEvent = closed({
  id: Id,
  version: Type.Integer({ description: 'Of the form that is hashed' }),
  action: Type.String(),
  occurredAt: Time,
  actor: Typed,
  targets: Type.Array(Typed),
  context: closed({ requestId: Type.String(), ip: Type.String(), userAgent: Type.String() }),
  outcome: OneOf(['success', 'refused']),
  errorCode: Nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  position: Nullable(
    Type.Integer({ minimum: 1, description: 'In the chain of the organisation; null until it is sealed' }),
  ),
  prevHash: Nullable(Hash),
  hash: Nullable(Hash),
})

const ActivityEvent = closed({
  seq: Type.Integer({ minimum: 1 }),
  id: Id,
  vaultId: Id,
  action: Type.String(),
  actor: Type.String(),
  subject: Type.String(),
  occurredAt: Time,
  requestId: Type.String(),
})

const SystemStats = closed({
  process: closed({
    uptimeSeconds: Type.Number(),
    node: Type.String(),
    rssBytes: Bytes,
    heapUsedBytes: Bytes,
    heapTotalBytes: Bytes,
  }),
  host: closed({ cpus: Count, loadAverage1m: Type.Number(), memoryBytes: Bytes, freeMemoryBytes: Bytes }),
  eventLoop: closed({ lagP50Ms: Ms, lagP99Ms: Ms, lagMaxMs: Ms }),
  pool: closed({ inUse: Count, idle: Count, waiting: Count, max: Count }),
  telemetry: closed({ waiting: Count, dropped: Count }),
  audit: closed({ unsealed: Count, oldestUnsealedMs: Ms }),
  work: closed({
    events: closed({ waiting: Count, oldestMs: Ms }),
    deliveries: closed({ due: Count, oldestMs: Ms }),
    inReview: Type.Integer({ minimum: 0, description: 'Purchases, renewals and terminations that wait for a human' }),
    booksDiffering: Type.Integer({
      minimum: 0,
      description: 'Organisations whose balances or budgets are not the sum of what moved them. Never, on a good day',
    }),
    chain: Nullable(
      // Both null while no node of it has answered.
      closed({ behindBlocks: Nullable(Count), readAgoMs: Nullable(Ms) }),
    ),
  }),
})

export const monitoring = {
  metricStats: {
    api: 'machine',
    method: 'GET',
    path: '/monitoring/metric-stats',
    summary:
      'Requests of the calling principal by route: how many, how many failed, and how long they took. By default of the last 24 hours; whole minutes',
    access: reading,
    query: closed({ from: Type.Optional(Time), to: Type.Optional(Time), ...NoPage }),
    response: closed({ from: Time, to: Time, data: Type.Array(RouteStats) }),
  },
  entityCounts: {
    api: 'machine',
    method: 'GET',
    path: '/monitoring/entity-counts',
    summary: 'How many of each kind the caller can see; kinds it cannot see are not there',
    access: reading,
    query: closed(NoPage),
    response: closed({
      data: Type.Array(
        closed({ type: OneOf(['agents', 'users', 'groups', 'tenants', 'vaults', 'items']), count: Count }),
      ),
    }),
  },
  requestEvents: {
    api: 'machine',
    method: 'GET',
    path: '/monitoring/request-events',
    summary:
      'Requests of the calling principal, newest first, without values, bodies or query strings; kept for 30 days',
    access: reading,
    query: closed(Page),
    response: listOf('data', RequestEvent),
  },
  auditEvents: {
    api: 'machine',
    method: 'GET',
    path: '/monitoring/audit-events',
    summary:
      'Audit events, newest first: of the organisation for its owners and admins, of their tenants for tenant administrators, and of the caller for everybody else',
    access: reading,
    query: closed(Page),
    response: listOf('data', AuditEvent),
  },
  vaultActivityEvents: {
    api: 'machine',
    method: 'GET',
    path: '/monitoring/vault-activity-events',
    summary:
      'Changes of the vaults the caller can see, in their order. Ask again with the last seq as `after`, for up to `limit` of them: nothing is skipped',
    access: reading,
    query: closed({ after: Type.Optional(Type.Integer({ minimum: 0 })), ...Page }),
    response: listOf('data', ActivityEvent),
  },
  systemStats: {
    api: 'machine',
    method: 'GET',
    path: '/monitoring/system-stats',
    summary: 'Health of the process that answers, and of its host',
    access: operating,
    response: SystemStats,
    errors: ['global_admin_required'],
  },
  sessionStats: {
    api: 'machine',
    method: 'GET',
    path: '/monitoring/session-stats',
    summary: 'How many sessions run, by age, in the whole session store',
    access: operating,
    response: closed({
      active: Count,
      users: Count,
      byAge: closed({ under5Minutes: Count, under1Hour: Count, under4Hours: Count, older: Count }),
      revokedLastDay: Count,
    }),
    errors: ['global_admin_required'],
  },
} as const satisfies Routes
