import type { Budget, License } from '@strongroom/contract'
import type { BudgetWindow } from '../agents/plan.ts'
import { moneyText } from './money.tsx'

// What a budget allows and what has become of it, in words and in numbers a bar is drawn from.

export type ActiveWindow = Budget['activeWindows'][number]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export const KIND_WORDS: Record<Exclude<ActiveWindow['kind'], 'rolling'>, string> = {
  daily: 'a day',
  weekly: 'a week',
  monthly: 'a month',
  total: 'in all',
}

/** A window that goes along with time is as long as it began before the server answered: whole hours, so a little later is no matter. */
export function windowWords({ kind, startsAt }: Pick<ActiveWindow, 'kind' | 'startsAt'>, now: Date): string {
  if (kind !== 'rolling') return KIND_WORDS[kind]
  const hours = Math.max(1, Math.round((now.getTime() - Date.parse(startsAt)) / HOUR_MS))
  if (hours % 24 === 0 && hours > 24) return `in any ${hours / 24} days`
  return hours === 1 ? 'in any hour' : `in any ${hours} hours`
}

export function timeLeft(until: string, now: Date): string {
  const ms = Math.max(0, Date.parse(until) - now.getTime())
  const days = Math.floor(ms / DAY_MS)
  if (days >= 1) return days === 1 ? '1 day to go' : `${days} days to go`
  const hours = Math.floor(ms / HOUR_MS)
  return hours >= 1 ? `${hours} h to go` : `${Math.ceil(ms / 60_000)} min to go`
}

/** `9.00 USD spent, 0.00 USD reserved, 16.00 USD left, 16 days to go`. */
export function windowSentence({ spent, reserved, remaining, resetsAt, endsAt }: ActiveWindow, now: Date): string {
  const until = resetsAt ?? endsAt
  const parts = [`${moneyText(spent)} spent`, `${moneyText(reserved)} reserved`, `${moneyText(remaining)} left`]
  return [...parts, ...(until === null ? [] : [timeLeft(until, now)])].join(', ')
}

/** `9.00 of 25.00 USD`. */
export const spendWords = ({ spent, limit }: ActiveWindow): string =>
  `${moneyText(spent).replace(` ${spent.currency}`, '')} of ${moneyText(limit)}`

/** How much of the window's time is over, from 0 to 1; undefined where it has no end. */
export function elapsedOf({ startsAt, endsAt, resetsAt }: ActiveWindow, now: Date): number | undefined {
  const until = endsAt ?? resetsAt
  if (until === null) return undefined
  const [from, to] = [Date.parse(startsAt), Date.parse(until)]
  return to > from ? Math.min(1, Math.max(0, (now.getTime() - from) / (to - from))) : undefined
}

/** Too early in a window a pace says nothing. */
const TELLING = 0.1

/** Said where it would be used up before the window ends, at the pace it has had. */
export function paceSentence(window: ActiveWindow, now: Date): string | undefined {
  const elapsed = elapsedOf(window, now)
  const until = window.endsAt ?? window.resetsAt
  const [spent, limit] = [Number(window.spent.amount), Number(window.limit.amount)]
  if (elapsed === undefined || until === null || elapsed < TELLING || spent === 0 || spent >= limit) return undefined
  if (spent / elapsed <= limit) return undefined
  const over = now.getTime() - Date.parse(window.startsAt)
  const days = Math.max(1, Math.round((over * (limit / spent) - over) / DAY_MS))
  return `At this pace it is used up in ${days === 1 ? 'a day' : `${days} days`}, before the window ends.`
}

interface Bought {
  readonly at: Date
  readonly amount: bigint
}

/** What was bought in the last 30 days by whom a budget would bind. */
export function purchasesOf(
  licenses: readonly License[],
  { subjectType, subjectId }: Pick<Budget, 'subjectType' | 'subjectId'>,
  now: Date,
): readonly Bought[] {
  const binds = ({ buyer, domainTenantId }: License): boolean =>
    subjectType === 'org' ||
    (subjectType === 'tenant' ? domainTenantId === subjectId : buyer === `${subjectType}:${subjectId}`)
  return licenses
    .filter((license) => binds(license) && now.getTime() - Date.parse(license.createdAt) <= 30 * DAY_MS)
    .map(({ createdAt, price }) => ({ at: new Date(createdAt), amount: BigInt(price.amount) }))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
}

function stretchOf(at: Date, kind: BudgetWindow): string {
  const day = at.toISOString().slice(0, 10)
  if (kind === 'daily') return day
  if (kind === 'monthly') return day.slice(0, 7)
  // 1 January 1970 was a Thursday: weeks begin on Monday.
  return kind === 'weekly' ? String(Math.floor((at.getTime() / DAY_MS + 3) / 7)) : ''
}

/** How many of these purchases such a limit would have refused. What was refused is not spent. */
export function refusedBy(
  purchases: readonly Bought[],
  {
    kind,
    limit,
    atOnce,
  }: { readonly kind: BudgetWindow; readonly limit: bigint; readonly atOnce?: bigint | undefined },
): number {
  const spent = new Map<string, bigint>()
  let refused = 0
  for (const { at, amount } of purchases) {
    const stretch = stretchOf(at, kind)
    const after = (spent.get(stretch) ?? 0n) + amount
    if (after > limit || (atOnce !== undefined && amount > atOnce)) refused += 1
    else spent.set(stretch, after)
  }
  return refused
}
