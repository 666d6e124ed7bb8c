import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { type Rule, windowAt } from '../../../test/money/window-model.ts'
import { inOrg } from '../../context.ts'

// When windows begin and end, against a model that knows nothing but what a clock on the wall shows. Catches: days of 24 hours where
// clocks change, months of 30 days, an anchor beyond the end of a month, weeks that begin on another day.

let h: Harness
let orgId: string
beforeAll(async () => {
  h = await startHarness()
  orgId = (await h.org('windows')).orgId
})
afterAll(() => h.close())

interface Asked extends Rule {
  readonly at: number
}

/** Many in one statement: rows that are rules, each asked for the window of its moment. */
async function windowsIn(asked: readonly Asked[]): Promise<readonly (readonly [number, number])[]> {
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

const ZONES = [
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

const asked: fc.Arbitrary<Asked> = fc.record({
  kind: fc.constantFrom('daily' as const, 'weekly' as const, 'monthly' as const),
  timezone: fc.constantFrom(...ZONES),
  weekStart: fc.integer({ min: 1, max: 7 }),
  anchorDay: fc.oneof(fc.integer({ min: 1, max: 31 }), fc.constantFrom(28, 29, 30, 31)),
  // Of the past: what clocks will do is known to one database of zones and not yet to another.
  at: fc.integer({ min: Date.UTC(2012, 0, 1), max: Date.UTC(2025, 0, 1) }),
})

it('begin and end where a clock on the wall says so, in every zone, through clock changes and short months', async () => {
  const seed = Date.now() % 1_000_000
  const batch = fc.sample(asked, { numRuns: 2000, seed })
  const windows = await windowsIn(batch)
  const wrong = batch.flatMap((one, i) => {
    const [start, end] = windowAt(one.at, one)
    const [from, to] = windows[i] ?? []
    return from === start && to === end ? [] : [{ seed, ...one, start, end, from, to }]
  })
  expect(wrong.slice(0, 3)).toEqual([])
})

const day = (text: string): number => Date.parse(text)

it.each([
  [
    'a day of 23 hours',
    { kind: 'daily', timezone: 'Europe/Berlin' },
    '2026-03-29T12:00Z',
    '2026-03-28T23:00Z',
    '2026-03-29T22:00Z',
  ],
  [
    'a day of 25 hours',
    { kind: 'daily', timezone: 'Europe/Berlin' },
    '2026-10-25T12:00Z',
    '2026-10-24T22:00Z',
    '2026-10-25T23:00Z',
  ],
  [
    '29 February',
    { kind: 'monthly', timezone: 'UTC', anchorDay: 29 },
    '2024-02-29T00:00Z',
    '2024-02-29T00:00Z',
    '2024-03-29T00:00Z',
  ],
  [
    'the 31st in February',
    { kind: 'monthly', timezone: 'UTC', anchorDay: 31 },
    '2025-03-15T00:00Z',
    '2025-02-28T00:00Z',
    '2025-03-31T00:00Z',
  ],
  [
    'the first instant',
    { kind: 'monthly', timezone: 'UTC', anchorDay: 1 },
    '2026-01-01T00:00Z',
    '2026-01-01T00:00Z',
    '2026-02-01T00:00Z',
  ],
  [
    'the last instant',
    { kind: 'weekly', timezone: 'UTC', weekStart: 1 },
    '2026-11-15T23:59:59.999Z',
    '2026-11-09T00:00Z',
    '2026-11-16T00:00Z',
  ],
] as const)('%s', async (_, rule, at, start, end) => {
  const whole = { weekStart: 1, anchorDay: 1, ...rule, at: day(at) }
  expect(await windowsIn([whole])).toEqual([[day(start), day(end)]])
})
