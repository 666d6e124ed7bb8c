import type { ScaleLinear, ScaleTime } from 'd3-scale'

// Hairlines and few words: what is read is the data.

export const MARGIN = { left: 44, right: 8, top: 8, bottom: 20 } as const

const WORDS = 'fill-ink-3 text-[11px]'
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const second = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const exact = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
})

/** A moment, exactly and with its zone. */
export const sayTime = (at: Date): string => exact.format(at)

const DAY_MS = 86_400_000
const formatFor = (spanMs: number): Intl.DateTimeFormat => {
  if (spanMs > 2 * DAY_MS) return day
  return spanMs < 600_000 ? second : hour
}

interface AxisMembers {
  readonly width: number
  readonly height: number
}

export function ValueAxis({ scale, width, format = String }: AxisMembers & ValueMembers) {
  const ticks = scale.ticks(3).filter(Number.isInteger)
  return (
    <g>
      {ticks.map((tick) => (
        <g key={tick} transform={`translate(0 ${scale(tick)})`}>
          <line x1={MARGIN.left} x2={width - MARGIN.right} className="stroke-rule" />
          <text x={MARGIN.left - 6} dy="0.32em" textAnchor="end" className={WORDS}>
            {format(tick)}
          </text>
        </g>
      ))}
    </g>
  )
}

interface ValueMembers {
  readonly scale: ScaleLinear<number, number>
  readonly format?: (value: number) => string
}

interface TimeMembers extends AxisMembers {
  readonly scale: ScaleTime<number, number>
  /** Where it begins, if names stand left of it. */
  readonly left?: number
}

export function TimeAxis({ scale, width, height, left = MARGIN.left }: TimeMembers) {
  const [from, to] = scale.domain() as [Date, Date]
  const format = formatFor(to.getTime() - from.getTime())
  const room = Math.max(2, Math.floor((width - left) / 96))
  return (
    <g transform={`translate(0 ${height - MARGIN.bottom})`}>
      <line x1={left} x2={width - MARGIN.right} className="stroke-edge" />
      {scale.ticks(room).map((tick) => (
        <g key={tick.getTime()} transform={`translate(${scale(tick)} 0)`}>
          <line y2="4" className="stroke-edge" />
          <text y="15" textAnchor={scale(tick) > width - 40 ? 'end' : 'middle'} className={WORDS}>
            {format.format(tick)}
          </text>
        </g>
      ))}
    </g>
  )
}
