import { download } from '../ui/download.ts'

// The same numbers as a table: for who does not see the plot, for who wants to copy them, and as a file.

export interface Twin {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

/** A cell that begins like a formula is one to a spreadsheet: a name somebody chose must not run there. */
function csvCell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const csvOf = ({ columns, rows }: Twin): string =>
  [columns, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n')

export const saveCsv = (name: string, twin: Twin): void =>
  download(`${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.csv`, csvOf(twin), 'text/csv;charset=utf-8')

export function TwinTable({ name, twin: { columns, rows } }: { readonly name: string; readonly twin: Twin }) {
  return (
    <section
      className="max-h-72 overflow-auto border border-rule"
      aria-label={`${name}, as a table`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
    >
      <table className="w-full border-collapse">
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th
                key={column}
                scope="col"
                className={`sticky top-0 h-7 border-b border-rule bg-surface px-3 text-label whitespace-nowrap text-ink-3 ${at === 0 ? 'text-left' : 'text-right'}`}
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={String(row[0])} className="border-b border-rule last:border-b-0">
              {row.map((value, at) => (
                <td key={columns[at]} className={`h-7 px-3 whitespace-nowrap ${at === 0 ? 'text-left' : 'text-right'}`}>
                  {value ?? <span className="text-ink-3">no data</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
