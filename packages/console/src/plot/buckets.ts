import type { Bucket } from './step-area.tsx'

// From things that happened to what a plot counts.

interface Counting<Row> {
  readonly rows: readonly Row[]
  readonly from: Date
  readonly to: Date
  readonly series: number
  /** Before this nothing is known: those stretches are gaps, not zeros. */
  readonly knownFrom?: Date | undefined
  at(row: Row): Date
  /** Which series it counts for. */
  seriesOf(row: Row): number
}

const MINUTE = 60_000
/** Lengths that fall on whole minutes, hours and days. */
const LENGTHS = [1 / 12, 1 / 4, 1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440].map((minutes) => minutes * MINUTE)
const WANTED = 100

export function lengthFor(from: Date, to: Date): number {
  const span = to.getTime() - from.getTime()
  return LENGTHS.find((length) => span / length <= WANTED) ?? Math.ceil(span / WANTED)
}

export function bucketsOf<Row>({ rows, from, to, series, knownFrom, at, seriesOf }: Counting<Row>): readonly Bucket[] {
  const length = lengthFor(from, to)
  const start = Math.floor(from.getTime() / length) * length
  const count = Math.max(1, Math.ceil((to.getTime() - start) / length))
  const counted = Array.from({ length: count }, () => new Array<number>(series).fill(0))
  for (const row of rows) {
    const values = counted[Math.floor((at(row).getTime() - start) / length)]
    const which = seriesOf(row)
    if (values) values[which] = (values[which] ?? 0) + 1
  }
  return counted.map((values, place) => {
    const begin = start + place * length
    const isKnown = knownFrom === undefined || begin + length > knownFrom.getTime()
    return { from: new Date(begin), to: new Date(begin + length), values: isKnown ? values : null }
  })
}
