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

/** Writes what waits. A batch that cannot be written is counted and gone: telemetry never piles up in front of requests. */
export async function flushRequests(
  { telemetry, log }: Pick<Deps, 'telemetry' | 'log'>,
  worker: Database,
): Promise<void> {
  while (telemetry.requests.waiting > 0) {
    const rows = telemetry.requests.take(ROWS_PER_WRITE)
    try {
      await worker.kysely.transaction().execute(async (db) => {
        await store.insertRequests(db, rows)
        await store.addToMinutes(db, rows)
      })
    } catch (error) {
      telemetry.requests.lose(rows.length)
      log.warn({ event: 'telemetry_dropped', count: rows.length, code: (error as { code?: string }).code })
      return
    }
  }
}

const FLUSH_MS = 500

export function startRequestFlush(deps: Pick<Deps, 'telemetry' | 'log'>, worker: Database): Repeating {
  const flushing = repeat(
    FLUSH_MS,
    () => flushRequests(deps, worker),
    () => undefined,
  )
  deps.telemetry.requests.onCrowd(flushing.nudge)
  return flushing
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
