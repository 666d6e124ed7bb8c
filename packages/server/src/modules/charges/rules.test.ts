import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { monthAfter, refundOf } from '../../licenses/proration.ts'
import { closesAt, dayOf, dueLines, endOf, monthOf, nextLineAt, type PaidPeriod, settlementOf } from './rules.ts'

// Catches: a day without a line or with two, lines that are not the price, a settlement that leaves a rest, a month that ends with the
// clock of the machine. Seen red: days counted from the local midnight; the last day left out; the refund added instead of taken away; a
// period charged before it begins.

const DAY_MS = 86_400_000
const start = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2033, 0, 1) }).map((ms) => new Date(ms))
/** Around the ends of months and of February in a leap year more often than by chance. */
const odd = fc
  .constantFrom('2028-02-29', '2027-02-28', '2026-12-31', '2026-01-31', '2026-11-01')
  .map((day) => new Date(`${day}T23:59:59.999Z`))
const price = fc.bigInt({ min: 1n, max: 10n ** 12n })
const periodOf = (startsAt: Date, amount: bigint, isOnce: boolean): PaidPeriod => ({
  ...{ startsAt, amount, endsAt: isOnce ? null : monthAfter(startsAt), endedAt: null, refund: 0n, chargedDays: 0 },
})
const sum = (lines: readonly { readonly amount: bigint }[]): bigint =>
  lines.reduce((all, line) => all + line.amount, 0n)

/** All lines of a period that is looked at at these moments, in their order. */
function chargedAt(period: PaidPeriod, moments: readonly Date[]) {
  let charged = 0
  const lines = moments.flatMap((now) => {
    const next = nextLineAt(period, charged)
    const due = dueLines({ ...period, chargedDays: charged }, now)
    // It is due exactly when the clock says that it is.
    expect(due.length > 0).toBe(next !== null && next <= now)
    charged += due.length
    return due
  })
  return { lines, charged }
}

it('gives each day one line when it begins, however often it is looked at', () => {
  const looks = fc.array(fc.integer({ min: -2 * DAY_MS, max: 40 * DAY_MS }), { maxLength: 12 })
  fc.assert(
    fc.property(fc.oneof(start, odd), price, looks, (from, amount, offsets) => {
      const period = periodOf(from, amount, false)
      const end = period.endsAt ?? from
      const moments = offsets.sort((a, b) => a - b).map((ms) => new Date(from.getTime() + ms))
      const { lines, charged } = chargedAt(period, [...moments, new Date(end.getTime() + 50 * DAY_MS)])
      expect(lines.map(({ day }) => day)).toEqual(lines.map((_, i) => i + 1))
      expect(sum(lines)).toBe(amount)
      expect(nextLineAt(period, charged)).toBeNull()
      expect([lines[0]?.date, lines.at(-1)?.date]).toEqual([dayOf(from), dayOf(new Date(end.getTime() - 1))])
      expect(new Set(lines.map(({ date }) => date)).size).toBe(lines.length)
    }),
    { numRuns: 400 },
  )
})

it('adds up to what was paid and not given back, whenever it ends and whatever the provider gives back', () => {
  const ended = fc.integer({ min: -5 * DAY_MS, max: 31 * DAY_MS })
  const seen = fc.integer({ min: 0, max: 40 * DAY_MS })
  fc.assert(
    fc.property(
      fc.oneof(start, odd),
      price,
      ended,
      seen,
      fc.nat({ max: 100 }),
      fc.boolean(),
      (from, amount, ms, looked, percent, own) => {
        const period = periodOf(from, amount, percent === 7)
        const until = new Date(from.getTime() + ms)
        const refund = own ? refundOf(amount, from, period.endsAt, until) : (amount * BigInt(percent)) / 100n
        const before = chargedAt(period, [new Date(from.getTime() + looked)])
        const settled = { ...period, endedAt: until, refund, chargedDays: before.charged }
        const after = dueLines(settled, new Date(until.getTime() + DAY_MS))
        const charged = before.charged + after.length
        const rest = settlementOf(settled, charged)
        expect(sum(before.lines) + sum(after) + rest).toBe(amount - refund)
        expect(nextLineAt(settled, charged)).toBeNull()
        // Nobody looked too far: our own refund is exactly the days that are left.
        if (own && period.endsAt !== null && looked <= Math.max(ms, 0) && ms >= 0) expect(rest).toBe(0n)
      },
    ),
    { numRuns: 2000 },
  )
})

/** Lines of a month that begins late on a day, and the ends of its months, as a machine in that zone computes them. */
const PROGRAM = `
  const { dueLines, endOf, dayOf } = await import(process.argv[1])
  const startsAt = new Date('2026-10-24T23:30:00Z')
  const endsAt = new Date('2026-11-24T23:30:00Z')
  const period = { startsAt, endsAt, amount: 1000n, endedAt: null, refund: 0n, chargedDays: 0 }
  const lines = dueLines(period, new Date('2026-11-01T00:00:00Z')).map(({ date, amount }) => date + ' ' + amount)
  console.log([...lines, endOf('2026-10').toISOString(), dayOf(startsAt)].join())`

it('counts days and months in UTC, wherever the machine stands', () => {
  const rules = new URL('./rules.ts', import.meta.url).href
  const said = ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'].map((TZ) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM, rules], { env: { TZ } }).toString().trim(),
  )
  expect(new Set(said)).toEqual(new Set([said[0]]))
  expect(said[0]).toMatch(/^2026-10-24 31,2026-10-25 31,.*,2026-11-01 31,2026-11-01T00:00:00\.000Z,2026-10-24$/)
})

it.each([
  ['2026-11', '2026-12-01T00:00:00.000Z', '2026-12-03T00:00:00.000Z'],
  ['2028-02', '2028-03-01T00:00:00.000Z', '2028-03-03T00:00:00.000Z'],
  ['2026-12', '2027-01-01T00:00:00.000Z', '2027-01-03T00:00:00.000Z'],
])('%s ends at %s and closes at %s', (month, end, closed) => {
  expect([endOf(month).toISOString(), closesAt(month).toISOString()]).toEqual([end, closed])
  expect(monthOf(dayOf(new Date(endOf(month).getTime() - 1)))).toBe(month)
})
