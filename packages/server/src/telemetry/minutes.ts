import { bucketOf } from './histogram.ts'
import type { RequestRow } from './telemetry.ts'

// Requests by caller, route and minute, added up in memory until they are written: whoever asks ten times in between costs one row.

export interface Minute {
  readonly org_id: string
  readonly principal: string
  readonly route: string
  readonly minute: string
  requests: number
  errors: number
  readonly buckets: number[]
}

export interface Minutes {
  add(rows: readonly RequestRow[]): void
  /** All there is, and nothing is left. */
  take(): Minute[]
}

const MINUTE_MS = 60_000

function newMinute({ orgId, principal, method, route }: RequestRow, minute: number): Minute {
  const text = new Date(minute * MINUTE_MS).toISOString()
  return { org_id: orgId, principal, route: `${method} ${route}`, minute: text, requests: 0, errors: 0, buckets: [] }
}

function count(entry: Minute, { status, durationMs }: RequestRow): void {
  entry.requests++
  if (status >= 400) entry.errors++
  const bucket = bucketOf(durationMs)
  // No longer than it must be: most requests are quick, and there is a row for every minute.
  while (entry.buckets.length <= bucket) entry.buckets.push(0)
  entry.buckets[bucket] = (entry.buckets[bucket] ?? 0) + 1
}

export function makeMinutes(): Minutes {
  let minutes = new Map<string, Minute>()
  return {
    add: (rows) => {
      for (const row of rows) {
        const minute = Math.floor(row.occurredAt.getTime() / MINUTE_MS)
        const key = `${row.orgId} ${row.principal} ${row.method} ${row.route} ${minute}`
        let entry = minutes.get(key)
        if (!entry) {
          entry = newMinute(row, minute)
          minutes.set(key, entry)
        }
        count(entry, row)
      }
    },
    take: () => {
      const taken = [...minutes]
      minutes = new Map()
      // Two processes that merge the same minutes take their locks in the same order.
      return taken.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry)
    },
  }
}
