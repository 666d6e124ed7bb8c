import { scaleLinear, scaleTime } from 'd3-scale'
import { curveStepAfter, line } from 'd3-shape'
import { useId } from 'react'
import { MARGIN, sayTime, TimeAxis, ValueAxis } from './axes.tsx'
import { useCrosshair } from './crosshair.ts'
import { colourOf, DASHES, Legend, type Mark } from './marks.tsx'
import { PlotFrame, type PlotMembers } from './plot-frame.tsx'
import { usePlotWidth } from './plot-width.ts'

export interface LinePoint {
  readonly at: Date
  /** Null where nothing is known. */
  readonly value: number | null
}

export interface Line {
  readonly label: string
  readonly mark: Mark
  readonly points: readonly LinePoint[]
  /** From point to point, as an even pace goes; steps if absent. */
  readonly isStraight?: boolean
}

interface StepLineMembers extends PlotMembers {
  /** The first one is read by the arrow keys, the others beside it. */
  readonly lines: readonly Line[]
  readonly height?: number
  readonly format?: (value: number) => string
}

/** What a line stands at: as the last step before has left it, or on the way between two points. */
function valueAt({ points, isStraight = false }: Line, at: Date): number | null {
  const next = points.findIndex((point) => point.at > at)
  const before = next < 0 ? points.at(-1) : points[next - 1]
  const after = next < 0 ? undefined : points[next]
  if (!before || before.value === null) return null
  if (!isStraight || !after || after.value === null) return before.value
  const share = (at.getTime() - before.at.getTime()) / (after.at.getTime() - before.at.getTime())
  return before.value + share * (after.value - before.value)
}

/** Lines that go in steps over time, as what is spent does. */
export function StepLine(members: StepLineMembers) {
  const { name, summary, lines } = members
  const scope = useId()
  const twin = {
    columns: ['Time', ...lines.map(({ label }) => label)],
    rows: (lines[0]?.points ?? []).map(({ at }) => [at.toISOString(), ...lines.map((one) => valueAt(one, at))]),
  }
  return (
    <PlotFrame name={name} summary={summary} twin={twin} legend={<Legend scope={scope} of={lines} asLines />}>
      <Drawn {...members} />
    </PlotFrame>
  )
}

function Drawn({ name, lines, height = 132, format = String }: StepLineMembers) {
  const [room, width] = usePlotWidth()
  const points = lines.flatMap((one) => one.points)
  const times = points.map(({ at }) => at.getTime())
  const x = scaleTime()
    .domain([Math.min(...times), Math.max(...times, Math.min(...times) + 1)])
    .range([MARGIN.left, Math.max(width - MARGIN.right, MARGIN.left + 1)])
  const y = scaleLinear()
    .domain([0, Math.max(1, ...points.map(({ value }) => value ?? 0))])
    .nice(3)
    .range([height - MARGIN.bottom, MARGIN.top])
  const read = lines[0]?.points ?? []
  const cross = useCrosshair({
    name,
    count: read.length,
    say: (place) => {
      const at = read[place]?.at
      if (!at) return 'no data'
      const values = lines.map((one) => [one.label, valueAt(one, at)] as const)
      return `${sayTime(at)}: ${values.map(([label, value]) => `${label} ${value === null ? 'no data' : format(value)}`).join(', ')}`
    },
    placeAt: ({ clientX, currentTarget }) => {
      const time = x.invert(clientX - currentTarget.getBoundingClientRect().left)
      const next = read.findIndex(({ at }) => at > time)
      return next < 0 ? read.length - 1 : Math.max(0, next - 1)
    },
  })
  const shape = line<LinePoint>()
    .defined(({ value }) => value !== null)
    .x(({ at }) => x(at))
    .y(({ value }) => y(value ?? 0))
  const here = cross.place === undefined ? undefined : read[cross.place]
  return (
    <div ref={room} className="min-w-0">
      <div {...cross.members}>
        <svg aria-hidden="true" width={width} height={height} className="block">
          <ValueAxis scale={y} width={width} height={height} format={format} />
          {lines.map(({ label, mark, points: own, isStraight }) => (
            <path
              key={label}
              d={
                (isStraight
                  ? shape
                  : line<LinePoint>(shape.x(), shape.y()).defined(shape.defined()).curve(curveStepAfter))(own) ??
                undefined
              }
              fill="none"
              stroke={colourOf(mark)}
              strokeWidth="1.6"
              strokeDasharray={DASHES[mark.texture]}
            />
          ))}
          {lines.map(({ label, mark, points: own, isStraight }) => {
            const last = own.findLast(({ value }) => value !== null)
            return last && !isStraight ? (
              <circle key={label} cx={x(last.at)} cy={y(last.value ?? 0)} r="2.5" fill={colourOf(mark)} />
            ) : null
          })}
          {here && (
            <line
              x1={x(here.at)}
              x2={x(here.at)}
              y1={MARGIN.top}
              y2={height - MARGIN.bottom}
              className="stroke-ink-2"
            />
          )}
          <TimeAxis scale={x} width={width} height={height} />
        </svg>
      </div>
      <p className="min-h-4 text-label text-ink-2">{cross.words ?? ''}</p>
    </div>
  )
}
