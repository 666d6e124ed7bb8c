import { type Budget, type Money, money } from '@strongroom/contract'
import { formatAmount } from '../../ui/amount.tsx'
import { decimalOf } from '../../ui/decimal.ts'

// Money of budgets, added up exactly; numbers are only what a bar is drawn by.

export type Window = Budget['activeWindows'][number]

export const say = (amount: Money): string => formatAmount(decimalOf(amount), amount.currency)

export const drawn = (amount: Money): number => Number(decimalOf(amount))

const total = (amounts: readonly Money[]): Money => money(amounts.reduce((sum, { amount }) => sum + BigInt(amount), 0n))

export interface Spend {
  readonly spent: Money
  readonly limit: Money
}

/** What is spent of what may be: by the organisation's own budgets where it has some, else by all the others together. */
export function spendOf(budgets: readonly Budget[]): Spend | undefined {
  const ofOrg = budgets.filter(({ subjectType }) => subjectType === 'org')
  const windows = (ofOrg.length > 0 ? ofOrg : budgets).flatMap(({ activeWindows: [first] }) => (first ? [first] : []))
  if (windows.length === 0) return undefined
  return { spent: total(windows.map(({ spent }) => spent)), limit: total(windows.map(({ limit }) => limit)) }
}

const DAY_MS = 86_400_000

function timeLeft({ endsAt }: Window): string {
  if (endsAt === null) return 'no end'
  const ms = new Date(endsAt).getTime() - Date.now()
  const [count, unit] =
    ms > 2 * DAY_MS ? [Math.floor(ms / DAY_MS), 'days'] : [Math.max(0, Math.floor(ms / 3_600_000)), 'hours']
  return `${count} ${unit} to go`
}

/** Text first: what the bar repeats. */
export const sentenceOf = (window: Window): string =>
  `${say(window.spent)} spent, ${say(window.reserved)} reserved, ${say(window.remaining)} left, ${timeLeft(window)}`

/** How much of the limit an even pace would have spent by now. */
export function evenPace({ startsAt, endsAt, limit }: Window): number | undefined {
  if (endsAt === null) return undefined
  const [start, end] = [new Date(startsAt).getTime(), new Date(endsAt).getTime()]
  return drawn(limit) * Math.max(0, Math.min(1, (Date.now() - start) / (end - start)))
}
