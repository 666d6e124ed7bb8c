// What a part of a period costs, in whole micro-units and without a rest: the days of a period always add up to its price, and what was
// used and what is given back always add up to what was paid.

const DAY_MS = 86_400_000

const startOfDay = (at: Date): number => Math.floor(at.getTime() / DAY_MS)

/** Days of a period, each UTC day that it touches; its end is not in it. */
export const daysOf = (start: Date, end: Date): number =>
  Math.max(1, Math.ceil(end.getTime() / DAY_MS) - startOfDay(start))

/** Days that were used until then: a day that has begun was used, also the first. */
export function daysUsed(start: Date, end: Date, until: Date): number {
  const used = startOfDay(until) - startOfDay(start) + 1
  return Math.min(Math.max(used, 1), daysOf(start, end))
}

/** What the first `days` of `total` cost. Cumulative, so that rounding is never added up. */
export const costOf = (price: bigint, days: number, total: number): bigint => (price * BigInt(days)) / BigInt(total)

/** What the nth day costs, counted from 1: two days differ by one micro-unit at most. */
export const costOfDay = (price: bigint, day: number, total: number): bigint =>
  costOf(price, day, total) - costOf(price, day - 1, total)

/** What is given back when a period ends early. A licence without a period is used when it is delivered. */
export function refundOf(price: bigint, start: Date, end: Date | null, until: Date): bigint {
  if (end === null || until >= end) return 0n
  // It has not begun: none of it was used.
  if (until < start) return price
  return price - costOf(price, daysUsed(start, end, until), daysOf(start, end))
}

/** The same moment a month later, or the end of a shorter month. */
export const monthAfter = (start: Date): Date => monthsAfter(start, 1)

/** Counted from where it all began: whoever begins on the 31st comes back to it after February. */
export function monthsAfter(start: Date, months: number): Date {
  const next = new Date(start)
  const day = start.getUTCDate()
  next.setUTCDate(1)
  next.setUTCMonth(next.getUTCMonth() + months)
  const last = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate()
  next.setUTCDate(Math.min(day, last))
  return next
}
