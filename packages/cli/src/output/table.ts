import { safeText } from './safe-text.ts'
import type { Style } from './style.ts'

export interface Column<Row> {
  readonly title: string
  of(row: Row): string | number | undefined
  readonly right?: boolean
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** Columns a text takes on a terminal. */
export const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : /\p{Mark}/u.test(character) ? 0 : 1), 0)

/** Two spaces between columns, no lines, nothing cut off: a table can be read, copied and cut apart by programs. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], style: Style): string {
  const cells = rows.map((row) => columns.map((column) => safeText(String(column.of(row) ?? '–'))))
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...cells.map((line) => widthOf(line[i] ?? ''))))
  const pad = (text: string, i: number): string => {
    const gap = ' '.repeat(Math.max(0, (widths[i] ?? 0) - widthOf(text)))
    return columns[i]?.right ? gap + text : text + gap
  }
  const line = (texts: readonly string[]): string => texts.map(pad).join('  ').trimEnd()
  return [style.dim(line(columns.map(({ title }) => title))), ...cells.map(line)].join('\n')
}

/** Lines of `name   value`, for one thing. */
export function facts(pairs: readonly (readonly [string, string | number | undefined])[], style: Style): string {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== '')
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${style.dim(name.padEnd(width))}  ${safeText(String(value))}`).join('\n')
}
