import type { Output, monitoring as routes } from '@strongroom/contract'
import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import type { VaultEvent } from './events.ts'
import { durationMs } from './options.ts'
import { type ListParams, numberedPages, type PagePromise, pagePromise } from './pages.ts'

export type RequestEvent = Output<typeof routes.requestEvents>['data'][number]
export type AuditEvent = Output<typeof routes.auditEvents>['data'][number]
export type ActivityEvent = Output<typeof routes.vaultActivityEvents>['data'][number]
export type MetricStats = Output<typeof routes.metricStats>

export interface Monitoring {
  /** Requests of the caller, newest first. */
  requests(params?: ListParams, options?: RequestOptions): PagePromise<RequestEvent>
  /** Newest first. */
  audit(params?: ListParams, options?: RequestOptions): PagePromise<AuditEvent>
  /** Changes of the vaults the caller can see, oldest first; from after `after` on. */
  activity(
    params?: { readonly after?: number; readonly vault?: string; readonly limit?: number },
    options?: RequestOptions,
  ): PagePromise<ActivityEvent>
  /** Changes as they happen, as the server tells of them. Where it has no stream, it is asked again and again. */
  tail(options?: {
    readonly signal?: AbortSignal
    readonly after?: number
    readonly interval?: number
  }): AsyncIterable<VaultEvent>
  /** Of the last `window`, such as `'24h'`. */
  metrics(params?: { readonly window?: string }, options?: RequestOptions): ApiPromise<MetricStats>
  counts(options?: RequestOptions): ApiPromise<Readonly<Record<string, number>>>
}

const LARGEST = 100

export function monitoringOf(core: Core): Monitoring {
  const activity: Monitoring['activity'] = ({ after = 0, vault, limit = LARGEST } = {}, options) =>
    pagePromise<ActivityEvent, number>(
      (place, more) =>
        core.run(more, async ({ client, options: call }) => {
          const { data } = await client.monitoring.vaultActivityEvents({ query: { after: place, limit } }, call)
          const rows = data.filter(({ vaultId }) => vault === undefined || vaultId === vault)
          return { data: rows, next: data.length < limit ? undefined : data.at(-1)?.seq }
        }),
      after,
      options,
    )
  return {
    requests: (params = {}, options) =>
      numberedPages(core, (query, client, call) => client.monitoring.requestEvents({ query }, call), params, options),
    audit: (params = {}, options) =>
      numberedPages(core, (query, client, call) => client.monitoring.auditEvents({ query }, call), params, options),
    activity,
    tail: async function* (options) {
      const { tail } = await import('./tail.ts')
      yield* tail(core, activity, options)
    },
    metrics: ({ window = '24h' } = {}, options) =>
      core.call(options, async ({ client, options: call }) => {
        const from = new Date(Date.now() - durationMs(window, 'window')).toISOString()
        return client.monitoring.metricStats({ query: { from } }, call)
      }),
    counts: (options) =>
      core.call(options, async ({ client, options: call }) => {
        const { data } = await client.monitoring.entityCounts({}, call)
        return Object.fromEntries(data.map(({ type, count }) => [type, count]))
      }),
  }
}
