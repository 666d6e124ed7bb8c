// Counters of this process in the text format of Prometheus. Labels come from route templates, methods and status classes: a
// closed set, whatever callers send.

const EDGES_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])

export interface RequestMetrics {
  count(method: string, route: string, status: number, durationMs: number): void
  render(): string[]
}

interface Series {
  readonly labels: string
  requests: number
  seconds: number
  /** Not cumulative; added up when rendered. */
  readonly buckets: number[]
}

const quote = (text: string): string => `"${text.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))}"`

export function makeRequestMetrics(): RequestMetrics {
  const all = new Map<string, Series>()
  return {
    count: (method, route, status, durationMs) => {
      const kind = Math.floor(status / 100)
      const key = `${method} ${route} ${kind}`
      let series = all.get(key)
      if (!series) {
        const labels = `method=${quote(METHODS.has(method) ? method : 'other')},route=${quote(route)},status="${kind}xx"`
        series = { labels, requests: 0, seconds: 0, buckets: EDGES_SECONDS.map(() => 0) }
        all.set(key, series)
      }
      const seconds = durationMs / 1000
      series.requests++
      series.seconds += seconds
      const bucket = EDGES_SECONDS.findIndex((edge) => seconds <= edge)
      if (bucket >= 0) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1
    },
    render: () => [...counts([...all.values()]), ...durations([...all.values()])],
  }
}

const counts = (all: readonly Series[]): string[] => [
  '# HELP strongroom_http_requests_total Requests answered.',
  '# TYPE strongroom_http_requests_total counter',
  ...all.map(({ labels, requests }) => `strongroom_http_requests_total{${labels}} ${requests}`),
]

const durations = (all: readonly Series[]): string[] => [
  '# HELP strongroom_http_request_duration_seconds From the first byte of the request to the last byte of the answer.',
  '# TYPE strongroom_http_request_duration_seconds histogram',
  ...all.flatMap(({ labels, requests, seconds, buckets }) => {
    const name = 'strongroom_http_request_duration_seconds'
    let sum = 0
    const lines = EDGES_SECONDS.map((edge, i) => {
      sum += buckets[i] ?? 0
      return `${name}_bucket{${labels},le="${edge}"} ${sum}`
    })
    return [
      ...lines,
      `${name}_bucket{${labels},le="+Inf"} ${requests}`,
      `${name}_sum{${labels}} ${seconds.toFixed(6)}`,
      `${name}_count{${labels}} ${requests}`,
    ]
  }),
]

export interface Reading {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly values: readonly (readonly [labels: string, value: number])[]
}

const valueText = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return Number.isFinite(value) ? `${value}` : 'NaN'
}

/** Lines of one metric that is read when it is asked for. */
export const renderReading = ({ name, type, help, values }: Reading): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...values.map(([labels, value]) => `${name}${labels === '' ? '' : `{${labels}}`} ${valueText(value)}`),
]
