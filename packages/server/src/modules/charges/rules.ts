import { costOf, costOfDay, daysOf, daysUsed } from '../../licenses/proration.ts'

// What a period that was paid for becomes: a line for each of its days when that day begins, and one more that settles it when it ends
// early. Days and months are those of UTC. Whatever was paid and not given back is the sum of the lines, to the last micro-unit.

const DAY_MS = 86_400_000

/** Late lines still find their month for so long after its end. */
const OPEN_AFTER_END_MS = 2 * DAY_MS

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10)
export const monthOf = (day: string): string => day.slice(0, 7)

const startOf = (month: string): Date => new Date(`${month}-01T00:00:00.000Z`)

/** The first moment that is not in it. */
export function endOf(month: string): Date {
  const end = startOf(month)
  end.setUTCMonth(end.getUTCMonth() + 1)
  return end
}

export const closesAt = (month: string): Date => new Date(endOf(month).getTime() + OPEN_AFTER_END_MS)

export interface PaidPeriod {
  readonly startsAt: Date
  /** Null: bought once. */
  readonly endsAt: Date | null
  readonly amount: bigint
  /** When it ended early, and what was given back for that. */
  readonly endedAt: Date | null
  readonly refund: bigint
  /** Days that have their line. */
  readonly chargedDays: number
}

export interface DayLine {
  /** Counted from 1. */
  readonly day: number
  readonly date: string
  readonly amount: bigint
}

const totalOf = ({ startsAt, endsAt }: PaidPeriod): number => (endsAt === null ? 1 : daysOf(startsAt, endsAt))

/** How many days have begun until then; none of a period that was ended before it began. */
function begun({ startsAt, endsAt, endedAt }: PaidPeriod, now: Date): number {
  const until = endedAt !== null && endedAt < now ? endedAt : now
  if (until < startsAt) return 0
  return endsAt === null ? 1 : daysUsed(startsAt, endsAt, until)
}

const dateOf = ({ startsAt }: PaidPeriod, day: number): string =>
  dayOf(new Date(startsAt.getTime() + (day - 1) * DAY_MS))

/** Those that have begun and have no line yet. */
export function dueLines(period: PaidPeriod, now: Date): readonly DayLine[] {
  const { amount, chargedDays } = period
  const days = Math.max(begun(period, now) - chargedDays, 0)
  return Array.from({ length: days }, (_, i) => chargedDays + i + 1).map((day) => ({
    day,
    date: dateOf(period, day),
    amount: costOfDay(amount, day, totalOf(period)),
  }))
}

/** What is missing of what was really paid, or too much, when all days of a period that has ended early have their lines. */
export function settlementOf(period: PaidPeriod, chargedDays: number): bigint {
  if (period.endedAt === null) return 0n
  return period.amount - period.refund - costOf(period.amount, chargedDays, totalOf(period))
}

/** When the next line is due; null where none is left. */
export function nextLineAt(period: PaidPeriod, chargedDays: number): Date | null {
  if (period.endedAt !== null || chargedDays >= totalOf(period)) return null
  if (chargedDays === 0) return period.startsAt
  return new Date(`${dateOf(period, chargedDays + 1)}T00:00:00.000Z`)
}
