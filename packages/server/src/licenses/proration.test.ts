import fc from 'fast-check'
import { expect, it } from 'vitest'
import { costOf, costOfDay, daysOf, daysUsed, monthAfter, refundOf } from './proration.ts'

// Catches: rounding that adds up, a day that is free, a refund of more than is left. Seen red: each day rounded by itself; the first day
// not counted; rounding up.

const DAY_MS = 86_400_000
const price = fc.bigInt({ min: 1n, max: 10n ** 15n })
const total = fc.integer({ min: 1, max: 366 })

it('gives days that add up to the price and differ by one at most', () => {
  fc.assert(
    fc.property(price, total, (paid, days) => {
      const lines = Array.from({ length: days }, (_, i) => costOfDay(paid, i + 1, days))
      expect(lines.reduce((sum, line) => sum + line, 0n)).toBe(paid)
      const [least = 0n, most = 0n] = [lines.reduce((a, b) => (a < b ? a : b)), lines.reduce((a, b) => (a > b ? a : b))]
      expect(most - least <= 1n).toBe(true)
    }),
    { numRuns: 500 },
  )
})

it('gives back what was not used, never more, and less every day', () => {
  const start = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms))
  const later = fc.integer({ min: 0, max: 40 * DAY_MS })
  fc.assert(
    fc.property(price, start, later, (paid, from, ms) => {
      const end = monthAfter(from)
      const until = new Date(from.getTime() + ms)
      const back = refundOf(paid, from, end, until)
      const days = daysOf(from, end)
      expect(back >= 0n && back <= paid).toBe(true)
      expect(back >= refundOf(paid, from, end, new Date(until.getTime() + DAY_MS))).toBe(true)
      if (until < end) expect(back).toBe(paid - costOf(paid, daysUsed(from, end, until), days))
      else expect(back).toBe(0n)
    }),
    { numRuns: 2000 },
  )
})

it('counts a day that has begun, and gives nothing back for what has no period', () => {
  const [start, end] = [new Date('2026-11-15T23:59:00Z'), new Date('2026-12-15T23:59:00Z')]
  expect(daysOf(start, end)).toBe(31)
  expect(daysUsed(start, end, new Date('2026-11-15T23:59:30Z'))).toBe(1)
  expect(daysUsed(start, end, new Date('2026-11-16T00:00:00Z'))).toBe(2)
  expect(refundOf(31n, start, end, new Date('2026-11-16T00:00:00Z'))).toBe(29n)
  expect(refundOf(31n, start, null, start)).toBe(0n)
  expect([1, 2, 3].map((day) => costOf(10n, day, 3))).toEqual([3n, 6n, 10n])
})

it.each([
  ['2026-01-31T10:00:00.000Z', '2026-02-28T10:00:00.000Z'],
  ['2028-01-30T10:00:00.000Z', '2028-02-29T10:00:00.000Z'],
  ['2026-12-31T23:59:59.000Z', '2027-01-31T23:59:59.000Z'],
  ['2026-11-15T00:00:00.000Z', '2026-12-15T00:00:00.000Z'],
])('a month after %s is %s', (start, end) => {
  expect(monthAfter(new Date(start)).toISOString()).toBe(end)
})
