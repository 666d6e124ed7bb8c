import { type License, type Money, money } from '@strongroom/contract'

// What ending a licence now gives back: the rule of the server, so that it can be said before. Days are those of UTC, and one that has
// begun was used.

const DAY_MS = 86_400_000
const dayOf = (at: number): number => Math.floor(at / DAY_MS)

export interface Refund {
  readonly amount: Money
  readonly daysLeft: number
  readonly days: number
}

/** Undefined where nothing is given back: it has no period, or the period is over. */
export function refundAt({ price, periodStart, periodEnd }: License, now: Date): Refund | undefined {
  const [start, end, at] = [Date.parse(periodStart), periodEnd === null ? Number.NaN : Date.parse(periodEnd), +now]
  if (Number.isNaN(end) || at >= end) return undefined
  const days = Math.max(1, Math.ceil(end / DAY_MS) - dayOf(start))
  const used = at < start ? 0 : Math.min(Math.max(dayOf(at) - dayOf(start) + 1, 1), days)
  const paid = BigInt(price.amount)
  return { amount: money(paid - (paid * BigInt(used)) / BigInt(days)), daysLeft: days - used, days }
}
