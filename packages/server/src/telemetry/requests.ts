import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../context.ts'
import type { Database } from '../db/database.ts'
import { clientAddress } from '../http/client-address.ts'
import { productsOf, truncateAddress } from './caller.ts'
import { type Repeating, repeat } from './repeat.ts'
import * as store from './store.ts'
import { makeSpanId, readTraceContext } from './trace-context.ts'

// One row for every request of a known principal, after its answer has left. Requests nobody can be named for are counted only.

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error body, if the answer is one. */
    errorCode: string | null
    bodyBytes: number
  }
  interface FastifyContextConfig {
    /** The path as the contract has it. */
    template?: string
    routeName?: string
  }
}

export function observeRequests(app: FastifyInstance, deps: Deps): void {
  app.decorateRequest('errorCode', null)
  app.decorateRequest('bodyBytes', 0)
  app.addHook('onResponse', (request, reply, done) => {
    // Whatever goes wrong here is not the caller's business.
    try {
      observe(deps, request, reply)
    } catch {
      deps.telemetry.requests.lose(1)
    }
    done()
  })
}

const UNMATCHED = 'unmatched'

function observe(deps: Deps, request: FastifyRequest, reply: FastifyReply): void {
  const { telemetry } = deps
  const { method, principal, errorCode } = request
  const { statusCode: status } = reply
  const route = request.routeOptions.config?.template ?? request.routeOptions.url ?? UNMATCHED
  const durationMs = Math.round(reply.elapsedTime * 1000) / 1000
  telemetry.metrics.count(method, route, status, durationMs)
  logRequest(deps, request, { route: `${method} ${route}`, status, durationMs })
  if (!principal && !telemetry.spans) return
  const trace = readTraceContext(request.headers.traceparent)
  const startedAtMs = deps.now().getTime() - durationMs
  const facts = { traceId: trace.traceId, method, route, status, errorCode, durationMs, requestId: request.id }
  if (telemetry.spans && trace.sampled)
    telemetry.spans.add({ ...facts, spanId: makeSpanId(), parentSpanId: trace.parentSpanId, startedAtMs })
  if (!principal) return
  telemetry.requests.add({
    ...facts,
    orgId: principal.orgId,
    eventId: deps.newId('evt'),
    occurredAt: new Date(startedAtMs),
    bytesIn: request.bodyBytes,
    bytesOut: Number(reply.getHeader('content-length') ?? 0),
    principal: principal.id,
    accessKey: principal.accessKey,
    tenantId: principal.tenantId,
    ip: truncateAddress(clientAddress(request)),
    userAgent: productsOf(request.headers['user-agent']),
  })
}

/** Refusals and failures are worth a line; successes only for whoever is looking for something. */
function logRequest(
  { log }: Deps,
  { id, errorCode, principal }: FastifyRequest,
  facts: { route: string; status: number; durationMs: number },
): void {
  const level = facts.status >= 400 ? 'info' : 'debug'
  if (!log.isLevelEnabled(level)) return
  log[level]({
    event: 'request',
    requestId: id,
    ...facts,
    ...(errorCode !== null && { code: errorCode }),
    ...(principal && { principal: principal.id }),
  })
}

const ROWS_PER_WRITE = 2000

type Flushing = Pick<Deps, 'telemetry' | 'log'>

function lose({ telemetry, log }: Flushing, count: number, error: unknown): void {
  telemetry.requests.lose(count)
  log.warn({ event: 'telemetry_dropped', count, code: (error as { code?: string }).code })
}

/** Writes what waits. A batch that cannot be written is counted and gone: telemetry never piles up in front of requests. */
async function flushRows(deps: Flushing, worker: Database): Promise<void> {
  const { requests, minutes } = deps.telemetry
  while (requests.waiting > 0) {
    const rows = requests.take(ROWS_PER_WRITE)
    try {
      await worker.kysely.transaction().execute((db) => store.insertRequests(db, rows))
    } catch (error) {
      return lose(deps, rows.length, error)
    }
    minutes.add(rows)
  }
}

async function flushMinutes(deps: Flushing, worker: Database): Promise<void> {
  const minutes = deps.telemetry.minutes.take()
  if (minutes.length === 0) return
  try {
    await worker.kysely.transaction().execute((db) => store.addToMinutes(db, minutes))
  } catch (error) {
    const count = minutes.reduce((sum, { requests }) => sum + requests, 0)
    lose(deps, count, error)
  }
}

export async function flushRequests(deps: Flushing, worker: Database): Promise<void> {
  await flushRows(deps, worker)
  await flushMinutes(deps, worker)
}

const FLUSH_MS = 500
const FLUSH_MINUTES_MS = 5000

export function startRequestFlush(deps: Flushing, worker: Database): Repeating {
  const rows = repeat(
    FLUSH_MS,
    () => flushRows(deps, worker),
    () => undefined,
  )
  const minutes = repeat(
    FLUSH_MINUTES_MS,
    () => flushMinutes(deps, worker),
    () => undefined,
  )
  deps.telemetry.requests.onCrowd(rows.nudge)
  return {
    nudge: rows.nudge,
    stop: async () => {
      // In this order: the last rows are counted, too.
      await rows.stop()
      await minutes.stop()
    },
  }
}

const HOUR_MS = 3_600_000

/** Once an hour, what is older than the retention goes. */
export function startRetention({ now, log }: Pick<Deps, 'now' | 'log'>, worker: Database): Repeating {
  const removeBatch = (): Promise<number> => worker.kysely.transaction().execute((db) => store.removeOld(db, now()))
  const removeAll = async (): Promise<void> => {
    while ((await removeBatch()) > 0);
  }
  return repeat(HOUR_MS, removeAll, (error) =>
    log.warn({ event: 'retention_failed', code: (error as { code?: string }).code }),
  )
}
