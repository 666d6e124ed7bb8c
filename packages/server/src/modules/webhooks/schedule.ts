// When an event is tried again. The same for everybody, give or take a fifth: whoever comes back is not met by all at once.

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]

/** Between one attempt and the next: ten attempts in a little over three days. */
export const DELAYS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
const JITTER = 0.2
const LONGEST_MS = 24 * HOUR

/** How long to wait after the attempt at this place of the schedule; undefined after the last. `random` is in [0, 1). */
export function delayAfter(step: number, random: number): number | undefined {
  const delay = DELAYS_MS[step]
  return delay === undefined ? undefined : Math.round(delay * (1 - JITTER + 2 * JITTER * random))
}

/** What a receiver asks for, in seconds or as a date; at most a day. */
export function retryAfterMs(header: unknown, now: Date): number | undefined {
  if (typeof header !== 'string') return undefined
  const ms = /^[0-9]{1,9}$/.test(header) ? Number(header) * SECOND : Date.parse(header) - now.getTime()
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, LONGEST_MS) : undefined
}
