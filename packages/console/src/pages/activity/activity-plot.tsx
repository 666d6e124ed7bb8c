import { bucketsOf } from '../../plot/buckets.ts'
import { StepArea } from '../../plot/step-area.tsx'
import { type ActivityRow, type Lens, RESULT_SERIES, RESULTS } from './rows.ts'

const NAMES: Record<Lens, string> = {
  feed: 'Changes of vaults over time',
  requests: 'Your requests over time',
  audit: 'Audit events over time',
}
const NOUNS: Record<Lens, string> = { feed: 'changes', requests: 'requests', audit: 'events' }

interface PlotMembers {
  readonly lens: Lens
  readonly rows: readonly ActivityRow[]
  readonly isAll: boolean
  readonly from: Date | undefined
  readonly to: Date | undefined
  readonly height?: number
  onRange?: (from: Date, to: Date) => void
}

const LEAST_MS = 600_000

/** What is plotted: the range of the address, or from the first row to now. */
export function spanOf(rows: readonly ActivityRow[], from: Date | undefined, to: Date | undefined): [Date, Date] {
  const end = to ?? new Date()
  const oldest = rows.reduce((least, { at }) => Math.min(least, at.getTime()), end.getTime())
  return [from ?? new Date(Math.min(oldest, end.getTime() - LEAST_MS)), end]
}

export function ActivityPlot({ lens, rows, isAll, from, to, height, onRange }: PlotMembers) {
  const [begin, end] = spanOf(rows, from, to)
  const oldest = rows.at(-1)?.at
  const buckets = bucketsOf({
    rows,
    from: begin,
    to: end,
    series: lens === 'feed' ? 1 : RESULTS.length,
    knownFrom: isAll ? undefined : oldest,
    at: ({ at }) => at,
    seriesOf: ({ result }) => RESULTS.indexOf(result),
  })
  const failed = rows.filter(({ result }) => result !== 'ok').length
  const counted = `${rows.length.toLocaleString('en')} ${NOUNS[lens]}`
  const summary =
    lens === 'feed' ? `${counted}.` : `${counted}, ${failed === 0 ? 'none' : failed} of them refused or failed.`
  const place = { ...(height !== undefined && { height }), ...(onRange && { onRange }) }
  return (
    <StepArea
      name={NAMES[lens]}
      summary={summary}
      series={lens === 'feed' ? RESULT_SERIES.slice(0, 1) : RESULT_SERIES}
      buckets={buckets}
      {...place}
    />
  )
}
