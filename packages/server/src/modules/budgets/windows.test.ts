import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { asked, windowsIn, wrongWindows } from '../../../test/money/asked-windows.ts'

// When windows begin and end, against a model that knows nothing but what a clock on the wall shows. Catches: days of 24 hours where
// clocks change, months of 30 days, an anchor beyond the end of a month, weeks that begin on another day.

let h: Harness
let orgId: string
beforeAll(async () => {
  h = await startHarness()
  orgId = (await h.org('windows')).orgId
})
afterAll(() => h.close())

it('begin and end where a clock on the wall says so, in every zone, through clock changes and short months', async () => {
  const seed = Date.now() % 1_000_000
  const wrong = await wrongWindows(h, orgId, fc.sample(asked, { numRuns: 2000, seed }))
  expect({ seed, wrong: wrong.slice(0, 3) }).toEqual({ seed, wrong: [] })
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
  expect(await windowsIn(h, orgId, [whole])).toEqual([[day(start), day(end)]])
})
