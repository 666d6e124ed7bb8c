import { shortDuration } from '../output/time.ts'

// A copy that is older than allowed, and nobody there to give a newer one: an outage. Nothing was offered that could be wrong, so it is
// no failed verification, whatever it is called where old answers of a server are refused too.

export interface OldCache {
  readonly ageMs: number
  readonly maxAgeMs: number
}

/** Only what was read from the cache says how old it is. */
export function oldCacheIn({ code, details }: { readonly code: string; readonly details?: unknown }) {
  const { ageMs, maxAgeMs } = (details ?? {}) as Partial<OldCache>
  if (code !== 'stale_view' || typeof ageMs !== 'number' || typeof maxAgeMs !== 'number') return undefined
  return { ageMs, maxAgeMs }
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const

/** A --max-age that takes it for some minutes to come, in the largest unit of which it has two. */
function acceptedAge(ageMs: number): string {
  const neededMs = ageMs + 600_000
  const [unit, size] = UNITS.find(([, size]) => neededMs >= 2 * size) ?? UNITS[2]
  return `${Math.ceil(neededMs / size)}${unit}`
}

export const oldCacheWords = ({ ageMs, maxAgeMs }: OldCache): string =>
  `what is kept here was read ${shortDuration(ageMs)} ago, and may be ${shortDuration(maxAgeMs)} old`

export const oldCacheHint = ({ ageMs }: OldCache): string => {
  const accepted = acceptedAge(ageMs)
  return `--max-age ${accepted}, or STRONGROOM_MAX_AGE=${accepted}, takes it all the same; it is verified, and may have changed since`
}
