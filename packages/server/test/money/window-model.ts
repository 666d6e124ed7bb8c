// When a window begins and ends, worked out from nothing but what the clock on the wall shows in its time zone: by going through the
// hours one by one. Slow and plain, to be compared with what PostgreSQL says.

export interface Rule {
  readonly kind: 'daily' | 'weekly' | 'monthly'
  readonly timezone: string
  readonly weekStart: number
  readonly anchorDay: number
}

interface Wall {
  readonly year: number
  readonly month: number
  readonly day: number
  /** 1 is Monday. */
  readonly weekday: number
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const formats = new Map<string, Intl.DateTimeFormat>()

function wallAt(time: number, timeZone: string): Wall {
  const options = { timeZone, weekday: 'short', year: 'numeric', month: 'numeric', day: 'numeric' } as const
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-US', options)
  formats.set(timeZone, format)
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]))
  const { year, month, day, weekday = '' } = parts
  return { year: Number(year), month: Number(month), day: Number(day), weekday: WEEKDAYS.indexOf(weekday) + 1 }
}

const lengthOfMonth = ({ year, month }: Wall): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** The name of the window a day belongs to: two moments are in one window exactly if it is the same. */
function windowOf(time: number, { kind, timezone, weekStart, anchorDay }: Rule): string {
  const wall = wallAt(time, timezone)
  const { year, month, day, weekday } = wall
  if (kind === 'daily') return `${year}-${month}-${day}`
  if (kind === 'weekly') {
    const back = (weekday - weekStart + 7) % 7
    return new Date(Date.UTC(year, month - 1, day - back)).toISOString()
  }
  const isBegun = day >= Math.min(anchorDay, lengthOfMonth(wall))
  return isBegun ? `${year}-${month}` : month === 1 ? `${year - 1}-12` : `${year}-${month - 1}`
}

/** Zones change by whole quarters of an hour. */
const QUARTER = 900_000

/** [start, end) of the window that a moment is in. */
export function windowAt(time: number, rule: Rule): readonly [start: number, end: number] {
  const name = windowOf(time, rule)
  const here = Math.floor(time / QUARTER) * QUARTER
  const edge = (step: number): number => {
    let far = step
    while (windowOf(here + far, rule) === name) far *= 2
    // Between the last that was inside and the first that was outside, by halves.
    let [inside, outside] = [far === step ? 0 : far / 2, far]
    while (Math.abs(outside - inside) > QUARTER) {
      const middle = Math.trunc((inside + outside) / 2 / QUARTER) * QUARTER
      if (windowOf(here + middle, rule) === name) inside = middle
      else outside = middle
    }
    return here + (step > 0 ? outside : inside)
  }
  return [edge(-QUARTER), edge(QUARTER)]
}
