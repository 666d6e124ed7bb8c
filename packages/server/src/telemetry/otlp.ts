import type { Config } from '../config.ts'
import type { Deps } from '../context.ts'
import { type Repeating, repeat } from './repeat.ts'
import type { Span } from './telemetry.ts'

// Spans to an OpenTelemetry collector, as OTLP over HTTP in JSON. It runs beside the requests: a slow or absent collector costs
// spans and nothing else.

const SPANS_PER_EXPORT = 512
const EXPORT_MS = 1000
const TIMEOUT_MS = 5000
const KIND_SERVER = 2
const STATUS_ERROR = 2

const attribute = (key: string, value: string | number): object => ({
  key,
  value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
})
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n)

const spanOf = ({
  traceId,
  spanId,
  parentSpanId,
  startedAtMs,
  durationMs,
  method,
  route,
  status,
  errorCode,
  requestId,
}: Span): object => ({
  traceId,
  spanId,
  ...(parentSpanId !== undefined && { parentSpanId }),
  name: `${method} ${route}`,
  kind: KIND_SERVER,
  startTimeUnixNano: nanoseconds(startedAtMs),
  endTimeUnixNano: nanoseconds(startedAtMs + durationMs),
  attributes: [
    attribute('http.request.method', method),
    attribute('http.route', route),
    attribute('http.response.status_code', status),
    attribute('strongroom.request_id', requestId),
    ...(errorCode === null ? [] : [attribute('error.type', errorCode)]),
  ],
  ...(status >= 500 && { status: { code: STATUS_ERROR } }),
})

const bodyOf = (spans: readonly Span[]): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: [attribute('service.name', 'strongroom')] },
        scopeSpans: [{ scope: { name: 'strongroom' }, spans: spans.map(spanOf) }],
      },
    ],
  })

type Exporting = Pick<Config, 'otlpEndpoint' | 'otlpHeaders'>

/** One request to the collector per batch; what it does not take is counted and gone. */
export async function exportSpans(
  { telemetry: { spans }, log }: Pick<Deps, 'telemetry' | 'log'>,
  { otlpEndpoint, otlpHeaders }: Exporting,
): Promise<void> {
  while (spans && otlpEndpoint !== undefined && spans.waiting > 0) {
    const batch = spans.take(SPANS_PER_EXPORT)
    try {
      const answer = await fetch(`${otlpEndpoint.replace(/\/+$/, '')}/v1/traces`, {
        method: 'POST',
        redirect: 'error',
        headers: { ...otlpHeaders, 'content-type': 'application/json' },
        body: bodyOf(batch),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`the collector answered ${answer.status}`)
    } catch {
      spans.lose(batch.length)
      log.warn({ event: 'spans_dropped', count: batch.length })
      return
    }
  }
}

export function startSpanExport(deps: Pick<Deps, 'telemetry' | 'log' | 'config'>): Repeating {
  const exporting = repeat(
    EXPORT_MS,
    () => exportSpans(deps, deps.config),
    () => undefined,
  )
  deps.telemetry.spans?.onCrowd(exporting.nudge)
  return exporting
}
