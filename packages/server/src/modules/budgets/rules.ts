import type { BudgetRule } from '@strongroom/contract'
import { ApiError } from '../../errors.ts'

// A window as it is asked for → the row of its rule. What does not fit its kind is refused, not ignored: whoever sets an anchor on a
// weekly budget means something else than what they would get.

export interface RuleRow {
  readonly kind: BudgetRule['kind']
  readonly amount: string
  readonly timeZone: string
  readonly weekStart: number | null
  readonly anchorDay: number | null
  /** Seconds. */
  readonly duration: number | null
  readonly startsAt: Date | null
  readonly endsAt: Date | null
}

const HOUR = 3600
const SHORTEST = HOUR
const LONGEST = 90 * 24 * HOUR
const DURATION = /^P(?:(\d{1,3})D)?(?:T(\d{1,4})H)?$/

const ONLY_FOR: Readonly<Partial<Record<keyof BudgetRule, readonly BudgetRule['kind'][]>>> = {
  weekStart: ['weekly'],
  anchorDay: ['monthly'],
  duration: ['rolling'],
  timezone: ['daily', 'weekly', 'monthly'],
  startsAt: ['total'],
  endsAt: ['total'],
}

const refused = (window: number, member: string, why: string): ApiError =>
  new ApiError('budget_window_invalid', { details: { window, member, why } })

/** A place: abbreviations and offsets mean one thing here and another, or nothing, in PostgreSQL. */
const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return name === 'UTC' || /^[A-Za-z]+\//.test(name)
  } catch {
    return false
  }
}

export const zoneRefused = (window: number): ApiError =>
  refused(window, 'timezone', 'is not the name of a time zone: use one such as Europe/Berlin, or UTC')

function durationOf(text: string | undefined, window: number): number {
  const [whole, days = '0', hours = '0'] = DURATION.exec(text ?? '') ?? []
  const seconds = (Number(days) * 24 + Number(hours)) * HOUR
  if (whole === undefined || seconds < SHORTEST || seconds > LONGEST)
    throw refused(window, 'duration', 'is PT1H to P90D, in whole days and hours')
  return seconds
}

/** `kept` are time zones that the budget has already: they stay what they were. */
function readRule(rule: BudgetRule, window: number, kept: ReadonlySet<string>): RuleRow {
  const { kind, limit, timezone = 'UTC', weekStart, anchorDay, duration, startsAt, endsAt } = rule
  for (const [member, kinds] of Object.entries(ONLY_FOR))
    if (rule[member as keyof BudgetRule] !== undefined && !kinds.includes(kind))
      throw refused(window, member, `is for ${kinds.join(', ')}`)
  if (!kept.has(timezone) && !isTimeZone(timezone)) throw zoneRefused(window)
  if (startsAt !== undefined && endsAt !== undefined && Date.parse(startsAt) >= Date.parse(endsAt))
    throw refused(window, 'endsAt', 'is not after startsAt')
  return {
    kind,
    amount: limit.amount,
    timeZone: timezone,
    weekStart: kind === 'weekly' ? (weekStart ?? 1) : null,
    anchorDay: kind === 'monthly' ? (anchorDay ?? 1) : null,
    duration: kind === 'rolling' ? durationOf(duration, window) : null,
    startsAt: startsAt === undefined ? null : new Date(startsAt),
    endsAt: endsAt === undefined ? null : new Date(endsAt),
  }
}

/** What makes two rules the same one: everything but the limit. */
export const ruleKey = ({ amount: _, startsAt, endsAt, ...rule }: RuleRow): string =>
  JSON.stringify([
    rule.kind,
    rule.timeZone,
    rule.weekStart,
    rule.anchorDay,
    rule.duration,
    startsAt?.getTime() ?? null,
    endsAt?.getTime() ?? null,
  ])

/**
 * Two rules that differ in nothing but the limit would be one of them too many; one that is over would limit nothing. What the budget has
 * already, `kept`, stays what it was.
 */
export function readRules(rules: readonly BudgetRule[], now: Date, kept: readonly RuleRow[] = []): RuleRow[] {
  const zones = new Set(kept.map(({ timeZone }) => timeZone))
  const read = rules.map((rule, window) => readRule(rule, window, zones))
  const keys = read.map(ruleKey)
  const twice = keys.findIndex((key, i) => keys.indexOf(key) !== i)
  if (twice >= 0) throw refused(twice, 'kind', 'the same window is there twice')
  const known = new Set(kept.map(ruleKey))
  const over = read.findIndex((rule) => rule.endsAt !== null && rule.endsAt <= now && !known.has(ruleKey(rule)))
  if (over >= 0) throw refused(over, 'endsAt', 'is over: it would limit nothing')
  return read
}
