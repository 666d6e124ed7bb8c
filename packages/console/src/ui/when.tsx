const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
/** With its zone. */
export const exact: Intl.DateTimeFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })

export function ago(at: Date, now = new Date()): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000)
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const)
  return Math.abs(seconds) < 5 ? 'now' : relative.format(Math.trunc(seconds / size), unit)
}

/** How long ago; the exact time with its zone on hover and to whoever listens. */
export function When({ at }: { readonly at: Date | string | null | undefined }) {
  if (at === null || at === undefined) return <span className="text-ink-3">never</span>
  const date = new Date(at)
  return (
    <time dateTime={date.toISOString()} title={exact.format(date)}>
      {ago(date)}
    </time>
  )
}
