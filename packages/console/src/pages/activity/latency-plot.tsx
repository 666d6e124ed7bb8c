import { lengthFor } from '../../plot/buckets.ts'
import { type LinePoint, StepLine } from '../../plot/step-line.tsx'
import { spanOf } from './activity-plot.tsx'
import type { ActivityRow } from './rows.ts'

const p95 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * 0.95) - 1)] ?? 0

/** How long the slower requests took, in each stretch of time that has some. */
export function latencyPoints(rows: readonly ActivityRow[], begin: Date, end: Date): readonly LinePoint[] {
  const length = lengthFor(begin, end)
  const taken = new Map<number, number[]>()
  for (const { at, ms } of rows) {
    const place = Math.floor(at.getTime() / length)
    if (ms !== null) taken.set(place, [...(taken.get(place) ?? []), ms])
  }
  const [first, last] = [Math.floor(begin.getTime() / length), Math.floor(end.getTime() / length)]
  return Array.from({ length: last - first + 2 }, (_, step) => {
    const values = taken.get(first + step)
    // A step ends where the next begins, so that the one before it is as wide as it was long.
    const before = taken.get(first + step - 1)
    return {
      at: new Date((first + step) * length),
      value: values ? Math.round(p95(values)) : before ? Math.round(p95(before)) : null,
    }
  })
}

interface LatencyMembers {
  readonly rows: readonly ActivityRow[]
  readonly from: Date | undefined
  readonly to: Date | undefined
}

/** On an axis of its own below the requests: two scales in one plot would be read against each other. */
export function LatencyPlot({ rows, from, to }: LatencyMembers) {
  const [begin, end] = spanOf(rows, from, to)
  const all = rows.flatMap(({ ms }) => (ms === null ? [] : [ms]))
  return (
    <StepLine
      name="How long requests took"
      summary={`95 of 100 were answered within ${Math.round(p95(all))} ms.`}
      lines={[
        { label: 'p95, ms', mark: { colour: 'chart-2', texture: 'solid' }, points: latencyPoints(rows, begin, end) },
      ]}
      height={84}
      format={(value) => String(Math.round(value))}
    />
  )
}
