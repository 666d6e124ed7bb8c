import { type Backlog, NO_BACKLOG } from './backlog.ts'
import { type Batch, makeBatch } from './batch.ts'
import { makeRequestMetrics, type RequestMetrics } from './metrics.ts'
import { type Minutes, makeMinutes } from './minutes.ts'
import { startVitals, type Vitals } from './vitals.ts'

// What a process knows of itself, in memory: written by every request without waiting, read by background work, by /metrics and
// by the monitoring routes.

export interface RequestRow {
  readonly orgId: string
  readonly eventId: string
  readonly occurredAt: Date
  readonly requestId: string
  readonly traceId: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly errorCode: string | null
  readonly durationMs: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly principal: string
  readonly accessKey: string | null
  readonly tenantId: string | null
  readonly ip: string
  readonly userAgent: string
}

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly startedAtMs: number
  readonly durationMs: number
  readonly method: string
  readonly route: string
  readonly status: number
  readonly errorCode: string | null
  readonly requestId: string
}

export interface AuditBacklog {
  readonly unsealed: number
  readonly oldestUnsealedMs: number
}

/** What the sealer saw last. If it stops looking, the age grows with the clock instead of standing still. */
export interface AuditLag {
  saw(backlog: AuditBacklog): void
  read(): AuditBacklog
}

export interface LastBacklog {
  saw(backlog: Backlog): void
  read(): Backlog
}

export interface Telemetry {
  readonly requests: Batch<RequestRow>
  /** Of the rows that were written. */
  readonly minutes: Minutes
  /** Absent unless an exporter is configured. */
  readonly spans: Batch<Span> | undefined
  readonly metrics: RequestMetrics
  readonly audit: AuditLag
  readonly backlog: LastBacklog
  readonly vitals: Vitals
  stop(): void
}

const ROWS_PER_WRITE = 2000
const MAX_WAITING_ROWS = 10_000
const MAX_WAITING_SPANS = 4096

export function makeTelemetry({ exportsSpans }: { exportsSpans: boolean }): Telemetry {
  const vitals = startVitals()
  return {
    requests: makeBatch({ capacity: MAX_WAITING_ROWS, crowd: ROWS_PER_WRITE }),
    minutes: makeMinutes(),
    spans: exportsSpans ? makeBatch({ capacity: MAX_WAITING_SPANS, crowd: 512 }) : undefined,
    metrics: makeRequestMetrics(),
    audit: makeAuditLag(),
    backlog: makeLastBacklog(),
    vitals,
    stop: vitals.stop,
  }
}

function makeLastBacklog(): LastBacklog {
  let last = NO_BACKLOG
  return {
    saw: (backlog) => {
      last = backlog
    },
    read: () => last,
  }
}

function makeAuditLag(): AuditLag {
  let last: AuditBacklog = { unsealed: 0, oldestUnsealedMs: 0 }
  let at = performance.now()
  return {
    saw: (backlog) => {
      last = backlog
      at = performance.now()
    },
    read: () =>
      last.unsealed === 0
        ? last
        : { ...last, oldestUnsealedMs: Math.round(last.oldestUnsealedMs + performance.now() - at) },
  }
}
