import fc from 'fast-check'
import { sql } from 'kysely'
import { inOrg } from '../../src/context.ts'
import type { Harness } from '../harness.ts'
import { type Rule, windowAt } from './window-model.ts'

// Windows that are asked of PostgreSQL and of the model: any rule, in zones whose clocks do what clocks can do.

export interface Asked extends Rule {
  readonly at: number
}

/** Many in one statement: rows that are rules, each asked for the window of its moment. */
export async function windowsIn(
  h: Harness,
  orgId: string,
  asked: readonly Asked[],
): Promise<readonly (readonly [number, number])[]> {
  const { rows } = await inOrg(h.deps, orgId, (db) =>
    sql<{ s: string; e: string }>`
      select extract(epoch from w.starts_at)::bigint::text as s, extract(epoch from w.ends_at)::bigint::text as e
      from jsonb_array_elements(${JSON.stringify(asked)}::jsonb) with ordinality a (v, n)
      cross join lateral budget_window_at(
        jsonb_populate_record(null::budget_rule, jsonb_build_object(
          'kind', v ->> 'kind', 'time_zone', v ->> 'timezone', 'week_start', v -> 'weekStart', 'anchor_day', v -> 'anchorDay')),
        to_timestamp((v ->> 'at')::float8 / 1000)) w
      order by n`.execute(db),
  )
  return rows.map(({ s, e }) => [Number(s) * 1000, Number(e) * 1000])
}

export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Africa/Casablanca',
  'America/Santiago',
]

/** Of the past: what clocks will do is known to one database of zones and not yet to another. */
export const SPAN = { min: Date.UTC(2012, 0, 1), max: Date.UTC(2025, 0, 1) } as const

export const asked: fc.Arbitrary<Asked> = fc.record({
  kind: fc.constantFrom('daily' as const, 'weekly' as const, 'monthly' as const),
  timezone: fc.constantFrom(...ZONES),
  weekStart: fc.integer({ min: 1, max: 7 }),
  anchorDay: fc.oneof(fc.integer({ min: 1, max: 31 }), fc.constantFrom(28, 29, 30, 31)),
  at: fc.integer(SPAN),
})

/** Where PostgreSQL and the model differ. */
export async function wrongWindows(h: Harness, orgId: string, batch: readonly Asked[]): Promise<readonly object[]> {
  const windows = await windowsIn(h, orgId, batch)
  return batch.flatMap((one, i) => {
    const [start, end] = windowAt(one.at, one)
    const [from, to] = windows[i] ?? []
    return from === start && to === end ? [] : [{ ...one, start, end, from, to }]
  })
}
