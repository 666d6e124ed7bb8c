import { scaleLinear, scaleTime } from 'd3-scale'
import { area } from 'd3-shape'
import { useId } from 'react'
import { MARGIN, sayTime, TimeAxis, ValueAxis } from './axes.tsx'
import { useCrosshair } from './crosshair.ts'
import { colourOf, fillOf, Legend, type Mark, Textures } from './marks.tsx'
import { PlotFrame, type PlotMembers } from './plot-frame.tsx'
import { usePlotWidth } from './plot-width.ts'

export interface Series {
  readonly label: string
  readonly mark: Mark
}

/** What was counted in a stretch of time, one value for each series; null where nothing is known, which is not nothing. */
export interface Bucket {
  readonly from: Date
  readonly to: Date
  readonly values: readonly number[] | null
}

interface StepAreaMembers extends PlotMembers {
  readonly series: readonly Series[]
  readonly buckets: readonly Bucket[]
  readonly height?: number
  /** What happened at a moment, on the axis. */
  readonly moments?: readonly { readonly at: Date; readonly label: string }[]
  onRange?: (from: Date, to: Date) => void
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Two points for each bucket make steps; a gap stays one. */
interface Edge {
  readonly x: Date
  readonly low: number
  readonly high: number
  readonly isThere: boolean
}

function edgesOf(buckets: readonly Bucket[], at: number): Edge[] {
  return buckets.flatMap(({ from, to, values }) => {
    const low = values ? sum(values.slice(0, at)) : 0
    // Where it counts nothing it has no outline either: that would hide the series below.
    const place = { low, high: low + (values?.[at] ?? 0), isThere: (values?.[at] ?? 0) > 0 }
    return [
      { ...place, x: from },
      { ...place, x: to },
    ]
  })
}

function sayBucket({ from, to, values }: Bucket, series: readonly Series[]): string {
  const when = `${sayTime(from)} to ${sayTime(to)}`
  if (!values) return `${when}: no data`
  return `${when}: ${series.map(({ label }, at) => `${label} ${values[at] ?? 0}`).join(', ')}`
}

/** Stacked steps over time. Arrow keys read it; a stretch of it can be chosen. */
export function StepArea(members: StepAreaMembers) {
  const { name, summary, series, buckets } = members
  const scope = useId()
  const twin = {
    columns: ['From', 'To', ...series.map(({ label }) => label)],
    rows: buckets.map(({ from, to, values }) => [
      from.toISOString(),
      to.toISOString(),
      ...series.map((_, at) => (values ? (values[at] ?? 0) : null)),
    ]),
  }
  return (
    <PlotFrame name={name} summary={summary} twin={twin} legend={<Legend scope={scope} of={series} />}>
      <Drawn {...members} scope={scope} />
    </PlotFrame>
  )
}

function Drawn(members: StepAreaMembers & { readonly scope: string }) {
  const { name, series, buckets, height = 168, moments = [], onRange, scope } = members
  const [room, width] = usePlotWidth()
  const first = buckets[0]?.from ?? new Date(0)
  const last = buckets.at(-1)?.to ?? new Date(1)
  const x = scaleTime()
    .domain([first, last])
    .range([MARGIN.left, Math.max(width - MARGIN.right, MARGIN.left + 1)])
  const top = Math.max(4, ...buckets.map(({ values }) => (values ? sum(values) : 0)))
  const y = scaleLinear()
    .domain([0, top])
    .nice(3)
    .range([height - MARGIN.bottom, MARGIN.top])
  const cross = useCrosshair({
    name,
    count: buckets.length,
    say: (place) => (buckets[place] ? sayBucket(buckets[place], series) : 'no data'),
    placeAt: ({ clientX, currentTarget }) => {
      const time = x.invert(clientX - currentTarget.getBoundingClientRect().left)
      const found = buckets.findIndex(({ to }) => time < to)
      return found < 0 ? buckets.length - 1 : found
    },
    onSpan:
      onRange &&
      (({ first: from, last: to }) => {
        const [begin, end] = [buckets[from], buckets[to]]
        if (begin && end) onRange(begin.from, end.to)
      }),
  })
  const shape = area<Edge>()
    .defined(({ isThere }) => isThere)
    .x(({ x: at }) => x(at))
    .y0(({ low }) => y(low))
    .y1(({ high }) => y(high))
  const chosen = cross.span && { from: buckets[cross.span.first]?.from, to: buckets[cross.span.last]?.to }
  const here = cross.place === undefined ? undefined : buckets[cross.place]
  return (
    <div ref={room} className="min-w-0">
      <div {...cross.members} className={`relative ${onRange ? 'cursor-crosshair touch-pan-y' : ''}`}>
        <svg aria-hidden="true" width={width} height={height} className="block select-none">
          <Textures scope={scope} marks={series.map(({ mark }) => mark)} />
          <ValueAxis scale={y} width={width} height={height} />
          {series.map(({ label, mark }, at) => (
            <path
              key={label}
              d={shape(edgesOf(buckets, at)) ?? undefined}
              fill={fillOf(scope, at, mark)}
              stroke={colourOf(mark)}
              strokeWidth="1"
            />
          ))}
          {chosen?.from && chosen.to && (
            <rect
              x={x(chosen.from)}
              y={MARGIN.top}
              width={x(chosen.to) - x(chosen.from)}
              height={height - MARGIN.top - MARGIN.bottom}
              className="fill-link"
              fillOpacity="0.14"
            />
          )}
          {here && (
            <rect
              x={x(here.from)}
              y={MARGIN.top}
              width={Math.max(1, x(here.to) - x(here.from))}
              height={height - MARGIN.top - MARGIN.bottom}
              className="fill-none stroke-ink-2"
            />
          )}
          <TimeAxis scale={x} width={width} height={height} />
          {moments.map(({ at, label }) => (
            <g key={label + at.getTime()} transform={`translate(${x(at)} ${height - MARGIN.bottom})`}>
              <title>{label}</title>
              <path d="M0 -6 L4 0 H-4 Z" className="fill-ink-2" />
            </g>
          ))}
        </svg>
      </div>
      <p className="min-h-4 text-label text-ink-2">{cross.words ?? ''}</p>
    </div>
  )
}
