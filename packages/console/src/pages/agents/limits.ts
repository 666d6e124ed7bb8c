import { MAX_NETWORKS, networkProblem } from '@strongroom/contract'

// What holds an agent back whichever key it has, as a form holds it.

export interface Limits {
  /** Empty for none, `30d` and `90d` from now, or a day: it begins at midnight, UTC. */
  readonly expires: string
  readonly networks: readonly string[]
}

export const SPANS = ['30d', '90d'] as const
const DAY_MS = 86_400_000
const DAY = /^\d{4}-\d{2}-\d{2}$/

export const isSpan = (expires: string): boolean => SPANS.some((span) => span === expires)

/** Undefined for none, and for what is no time. */
export function momentOf(expires: string, now = new Date()): Date | undefined {
  if (isSpan(expires)) return new Date(now.getTime() + Number.parseInt(expires, 10) * DAY_MS)
  const day = DAY.test(expires) ? new Date(expires) : undefined
  return day && !Number.isNaN(day.getTime()) ? day : undefined
}

export function expiryProblem(expires: string, now = new Date()): string | undefined {
  if (expires === '') return undefined
  const moment = momentOf(expires, now)
  return moment && moment > now ? undefined : 'Choose a day that is still to come.'
}

/** One in a line. */
export const networksIn = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(/[\s,]+/)
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
]

export function networksProblem(networks: readonly string[]): string | undefined {
  if (networks.length > MAX_NETWORKS) return `At most ${MAX_NETWORKS} of them.`
  const [wrong] = networks.filter((text) => networkProblem(text) !== undefined)
  return wrong === undefined ? undefined : `${wrong} ${networkProblem(wrong)}.`
}

export const limitsProblem = ({ expires, networks }: Limits): string | undefined =>
  expiryProblem(expires) ?? networksProblem(networks)

const dayWords = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

const MOST_SHOWN = 3

/** A sentence about both. */
export function limitWords({ expires, networks }: Limits): string {
  const more = networks.length - MOST_SHOWN
  const shown = networks.slice(0, MOST_SHOWN).join(', ')
  const from = networks.length === 0 ? 'From every network' : `Only from ${shown}${more > 0 ? ` and ${more} more` : ''}`
  const moment = momentOf(expires)
  if (!moment) return `${from}, until you end it.`
  return isSpan(expires)
    ? `${from}, for ${Number.parseInt(expires, 10)} days.`
    : `${from}, until ${dayWords.format(moment)}.`
}

/** The same on the command line. */
export const limitFlags = ({ expires, networks }: Limits): readonly string[] => [
  ...(momentOf(expires) ? ['--expires', expires] : []),
  ...networks.flatMap((network) => ['--network', network]),
]

export const isExpired = ({ expiresAt }: { readonly expiresAt: Date | null }, now = new Date()): boolean =>
  expiresAt !== null && expiresAt <= now
