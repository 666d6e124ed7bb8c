import type { ReactNode } from 'react'
import { useId } from 'react'
import { useCrosshair } from './crosshair.ts'
import { colourOf, fillOf, Legend, type Mark, Textures } from './marks.tsx'
import { PlotFrame, type PlotMembers } from './plot-frame.tsx'
import { usePlotWidth } from './plot-width.ts'

/** One bar: its parts from the left, and marks on it. */
export interface Bar {
  readonly id: string
  /** Before the bar. No link: the bars are read as one thing, and what stands in it cannot be reached by itself. */
  readonly label: string
  /** For who listens, and for the table. */
  readonly name: string
  /** One for each part of the plot, in the unit of the whole. */
  readonly values: readonly number[]
  /** What the whole width stands for; the largest sum of all bars if absent. */
  readonly of?: number
  /** Places on it, such as how much of the time is over. */
  readonly ticks?: readonly { readonly at: number; readonly label: string }[]
  /** At the end of the bar; text first, the bar repeats it. */
  readonly says: ReactNode
  /** The same as text. */
  readonly sentence: string
}

interface BarsMembers extends PlotMembers {
  readonly parts: readonly { readonly label: string; readonly mark: Mark }[]
  readonly bars: readonly Bar[]
  /** What the ticks stand for, in the legend. */
  readonly tickLabel?: string
}

const HEIGHT = 12
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Bars from left to right, one for each row. Arrow keys go from one to the next. */
export function Bars(members: BarsMembers) {
  const { name, summary, parts, bars, tickLabel } = members
  const scope = useId()
  const twin = {
    columns: ['', ...parts.map(({ label }) => label), 'In words'],
    rows: bars.map(({ name: own, values, sentence }) => [own, ...values, sentence]),
  }
  return (
    <PlotFrame
      name={name}
      summary={summary}
      twin={twin}
      legend={<Key scope={scope} parts={parts} tickLabel={tickLabel} />}
    >
      <svg aria-hidden="true" width="0" height="0" className="absolute">
        <Textures scope={scope} marks={parts.map(({ mark }) => mark)} />
      </svg>
      <Drawn {...members} scope={scope} />
    </PlotFrame>
  )
}

function Key({
  scope,
  parts,
  tickLabel,
}: Pick<BarsMembers, 'parts'> & { scope: string; tickLabel: string | undefined }) {
  return (
    <div className="flex flex-wrap gap-x-4 gap-y-1">
      <Legend scope={scope} of={parts} />
      {tickLabel !== undefined && (
        <span className="flex items-center gap-1.5 text-label text-ink-2">
          <svg aria-hidden="true" width="6" height="12">
            <path d="M3 0 V12" className="stroke-ink" strokeWidth="1.4" />
          </svg>
          {tickLabel}
        </span>
      )}
    </div>
  )
}

function Drawn({ name, parts, bars, scope }: BarsMembers & { readonly scope: string }) {
  const largest = Math.max(1, ...bars.map(({ values }) => sum(values)))
  const cross = useCrosshair({
    name,
    count: bars.length,
    say: (place) => (bars[place] ? `${bars[place].name}: ${bars[place].sentence}` : 'no data'),
    placeAt: ({ clientY, currentTarget }) => {
      const { top, height } = currentTarget.getBoundingClientRect()
      return Math.max(0, Math.min(bars.length - 1, Math.floor(((clientY - top) / height) * bars.length)))
    },
  })
  return (
    <div className="grid gap-1">
      <div {...cross.members} className="grid">
        {bars.map((bar, at) => (
          <Row key={bar.id} bar={bar} parts={parts} scope={scope} largest={largest} isHere={at === cross.place} />
        ))}
      </div>
    </div>
  )
}

interface RowMembers {
  readonly bar: Bar
  readonly parts: BarsMembers['parts']
  readonly scope: string
  readonly largest: number
  readonly isHere: boolean
}

function Row({ bar: { label, values, of, ticks = [], says }, parts, scope, largest, isHere }: RowMembers) {
  const [room, width] = usePlotWidth()
  const whole = Math.max(of ?? largest, sum(values), 1)
  const x = (value: number): number => (value / whole) * Math.max(0, width - 2) + 1
  let from = 0
  return (
    <div
      className={`grid min-h-8 grid-cols-[minmax(72px,26%)_1fr_minmax(96px,auto)] items-center gap-x-3 ${isHere ? 'bg-raised' : ''}`}
    >
      <span className="truncate">{label}</span>
      <div ref={room} className="min-w-0">
        <svg aria-hidden="true" width={width} height={HEIGHT + 6} className="block">
          <rect x="0.5" y="3.5" width={Math.max(0, width - 1)} height={HEIGHT} className="fill-none stroke-rule" />
          {values.map((value, at) => {
            const [start, mark] = [from, parts[at]?.mark]
            from += value
            return mark && value > 0 ? (
              <rect
                key={parts[at]?.label}
                x={x(start)}
                y="4"
                width={Math.max(1, x(start + value) - x(start))}
                height={HEIGHT - 1}
                fill={fillOf(scope, at, mark)}
                stroke={colourOf(mark)}
                strokeWidth="0.8"
              />
            ) : null
          })}
          {ticks.map(({ at, label: what }) => (
            <path key={what} d={`M${x(Math.min(at, whole))} 0 v${HEIGHT + 6}`} className="stroke-ink" strokeWidth="1.4">
              <title>{what}</title>
            </path>
          ))}
        </svg>
      </div>
      <span className="text-right whitespace-nowrap">{says}</span>
    </div>
  )
}
