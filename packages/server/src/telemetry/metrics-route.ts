import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Deps } from '../context.ts'
import { ApiError } from '../errors.ts'
import { ageMs } from './backlog.ts'
import { isLoopback } from './caller.ts'
import { type Reading, renderReading } from './metrics.ts'

const LOOPBACK_HOST = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

/** Behind a proxy on this machine every address is a loopback one, so what was forwarded counts as coming from outside. */
const isLocal = (request: FastifyRequest): boolean =>
  isLoopback(request.ip) &&
  LOOPBACK_HOST.test(request.headers.host ?? '') &&
  FORWARDED.every((name) => request.headers[name] === undefined)

function bearsToken(request: FastifyRequest, token: string | undefined): boolean {
  const { authorization } = request.headers
  if (token === undefined || token === '' || authorization === undefined) return false
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(authorization), digest(`Bearer ${token}`))
}

/** For the scraper of this machine, or one that knows the token; for everybody else there is no such route. */
export function mountMetrics(app: FastifyInstance, deps: Deps): void {
  app.get('/metrics', async (request, reply) => {
    if (!isLocal(request) && !bearsToken(request, deps.config.metricsToken)) throw new ApiError('route_not_found')
    const lines = [...deps.telemetry.metrics.render(), ...readings(deps).flatMap(renderReading)]
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(`${lines.join('\n')}\n`)
  })
}

const one = (name: string, type: Reading['type'], help: string, value: number): Reading => ({
  name,
  type,
  help,
  values: [['', value]],
})

/** What waits behind the answers. */
function backlogReadings({ telemetry, config, now }: Deps): Reading[] {
  const seen = telemetry.backlog.read()
  const age = (since: Date | null): number => ageMs(since, now()) / 1000
  // Never is longer ago than anything.
  const chainAge = seen.chainReadAt === null ? Number.POSITIVE_INFINITY : age(seen.chainReadAt)
  return [
    one('strongroom_events_waiting', 'gauge', 'Events that wait to be told.', seen.eventsWaiting),
    one('strongroom_events_waiting_age_seconds', 'gauge', 'Age of the oldest event to tell.', age(seen.oldestEvent)),
    one('strongroom_deliveries_due', 'gauge', 'Webhook deliveries that are due.', seen.deliveriesDue),
    one('strongroom_deliveries_due_age_seconds', 'gauge', 'How long the oldest is due.', age(seen.oldestDelivery)),
    one('strongroom_in_review', 'gauge', 'Purchases, renewals and terminations for a human.', seen.inReview),
    one('strongroom_books_differing', 'gauge', 'Organisations whose books do not add up.', seen.booksDiffering),
    ...(seen.chainBehindBlocks === null
      ? []
      : [one('strongroom_chain_behind_blocks', 'gauge', 'Blocks that were not read yet.', seen.chainBehindBlocks)]),
    ...(seen.chainReadAt === null && !config.chain
      ? []
      : [one('strongroom_chain_read_age_seconds', 'gauge', 'Since the chain was read.', chainAge)]),
  ]
}

function readings(deps: Deps): Reading[] {
  const {
    database: { pool },
    telemetry,
  } = deps
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const lag = telemetry.vitals.loopLag()
  return [
    {
      name: 'strongroom_pool_connections',
      type: 'gauge',
      help: 'Database connections of the API.',
      values: [
        ['state="in_use"', pool.totalCount - pool.idleCount],
        ['state="idle"', pool.idleCount],
      ],
    },
    one('strongroom_pool_waiting', 'gauge', 'Requests that wait for a database connection.', pool.waitingCount),
    one('strongroom_telemetry_waiting', 'gauge', 'Telemetry rows that wait to be written.', telemetry.requests.waiting),
    one(
      'strongroom_telemetry_dropped_total',
      'counter',
      'Telemetry rows that were not written.',
      telemetry.requests.dropped,
    ),
    one('strongroom_spans_dropped_total', 'counter', 'Spans that were not exported.', telemetry.spans?.dropped ?? 0),
    one('strongroom_audit_unsealed', 'gauge', 'Audit events that wait to be sealed.', telemetry.audit.read().unsealed),
    one(
      'strongroom_audit_unsealed_age_seconds',
      'gauge',
      'Age of the oldest audit event that is not sealed.',
      telemetry.audit.read().oldestUnsealedMs / 1000,
    ),
    ...backlogReadings(deps),
    {
      name: 'strongroom_event_loop_lag_seconds',
      type: 'gauge',
      help: 'How late the event loop runs.',
      values: [
        ['quantile="0.5"', lag.p50Ms / 1000],
        ['quantile="0.99"', lag.p99Ms / 1000],
        ['quantile="1"', lag.maxMs / 1000],
      ],
    },
    {
      name: 'strongroom_process_memory_bytes',
      type: 'gauge',
      help: 'Memory of the process.',
      values: [
        ['kind="rss"', rss],
        ['kind="heap_used"', heapUsed],
        ['kind="heap_total"', heapTotal],
        ['kind="external"', external],
      ],
    },
    one('strongroom_process_uptime_seconds', 'gauge', 'Since the process started.', process.uptime()),
  ]
}
