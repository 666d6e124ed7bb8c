import { line } from 'd3-shape'
import { colourOf, type Mark } from './marks.tsx'

interface SparklineMembers {
  /** What it shows, with its last value: it is read as one word in a row. */
  readonly name: string
  /** Null where nothing is known. */
  readonly values: readonly (number | null)[]
  readonly mark?: Mark
  readonly width?: number
  readonly height?: number
  /** What the full height stands for; the largest value if absent. */
  readonly max?: number
}

const QUIET: Mark = { colour: 'chart-6', texture: 'solid' }

/** A line in a row of a table: its shape, without axes. The numbers stand beside it. */
export function Sparkline({ name, values, mark = QUIET, width = 72, height = 18, max }: SparklineMembers) {
  const top = Math.max(max ?? 0, ...values.map((value) => value ?? 0)) || 1
  const step = values.length > 1 ? (width - 4) / (values.length - 1) : 0
  const y = (value: number): number => height - 2 - (value / top) * (height - 4)
  const shape = line<number | null>()
    .defined((value) => value !== null)
    .x((_, at) => 2 + at * step)
    .y((value) => y(value ?? 0))
  const last = values.at(-1)
  return (
    <svg role="img" aria-label={name} width={width} height={height} className="inline-block align-middle">
      <title>{name}</title>
      <path d={shape([...values]) ?? undefined} fill="none" stroke={colourOf(mark)} strokeWidth="1.4" />
      {typeof last === 'number' && (
        <circle cx={2 + (values.length - 1) * step} cy={y(last)} r="2" fill={colourOf(mark)} />
      )}
    </svg>
  )
}
