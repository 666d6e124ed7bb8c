import {
  type ColumnDef,
  createSortedRowModel,
  type RowData,
  rowSortingFeature,
  type SortingState,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { classes } from './classes.ts'
import { compareNames } from './name-order.ts'

// One table for every list: sorted by its headers, as many rows as there are (only those in sight are in the page), and on a
// narrow screen each row becomes names and values, under the headers that sort: what has the focus must be in sight there, too.

export interface Column<Row> {
  readonly id: string
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** What it is sorted by; without it, it is not. */
  readonly sort?: (row: Row) => string | number
  readonly align?: 'right'
  /** The one that may be cut off; others are as wide as they need. */
  readonly grows?: boolean
}

interface TableMembers<Row> {
  /** Says what the table is of. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly sortedBy?: { readonly id: string; readonly desc?: boolean }
  /** The row that is open beside the table. */
  readonly current?: string | undefined
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
})

const ROW_HEIGHT = 33
/** Below this all rows are in the page: a browser finds text in them, and nothing is measured. */
const FEW = 200

const compareValues = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : compareNames(String(a), String(b))

function columnDefs<Row extends RowData>(columns: readonly Column<Row>[]): ColumnDef<typeof features, Row, unknown>[] {
  return columns.map(({ id, header, cell, sort }) => ({
    id,
    header,
    ...(sort && { accessorFn: sort }),
    enableSorting: sort !== undefined,
    sortFn: (a, b, column) => compareValues(a.getValue(column), b.getValue(column)),
    cell: ({ row }) => cell(row.original),
  }))
}

/** The rows in sight and the room of those that are not. */
function useInSight(count: number) {
  const top = useRef<HTMLTableElement>(null)
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => ROW_HEIGHT,
    overscan: 20,
    scrollMargin: top.current?.offsetTop ?? 0,
    enabled: count > FEW,
  })
  if (count <= FEW) return { top, virtual: undefined, first: 0, last: count, before: 0, after: 0 }
  const seen = virtual.getVirtualItems()
  const [first, last] = [seen[0], seen.at(-1)]
  const margin = virtual.options.scrollMargin
  return {
    top,
    virtual,
    first: first?.index ?? 0,
    last: (last?.index ?? -1) + 1,
    before: (first?.start ?? margin) - margin,
    after: virtual.getTotalSize() - ((last?.end ?? margin) - margin),
  }
}

const Spacer = ({ height }: { readonly height: number }) =>
  height > 0 ? (
    <tr aria-hidden="true">
      <td style={{ height, padding: 0 }} />
    </tr>
  ) : null

export function Table<Row extends RowData>({ label, rows, columns, keyOf, sortedBy, current }: TableMembers<Row>) {
  const [sorting, setSorting] = useState<SortingState>(sortedBy ? [{ desc: false, ...sortedBy }] : [])
  const defs = useMemo(() => columnDefs(columns), [columns])
  const data = useMemo(() => [...rows], [rows])
  const table = useTable({
    features,
    columns: defs,
    data,
    getRowId: keyOf,
    state: { sorting },
    onSortingChange: setSorting,
  })
  const sorted = table.getRowModel().rows
  const { top, virtual, first, last, before, after } = useInSight(sorted.length)
  return (
    // On a narrow screen its parts are no longer laid out as a table, and keep their roles.
    <table
      ref={top}
      role="table"
      aria-label={label}
      aria-rowcount={sorted.length + 1}
      className="w-full border-collapse"
    >
      <thead
        role="rowgroup"
        className={
          columns.some(({ sort }) => sort) ? 'max-sm:block max-sm:border-b max-sm:border-rule' : 'max-sm:sr-only'
        }
      >
        {table.getHeaderGroups().map((group) => (
          <tr
            key={group.id}
            role="row"
            aria-rowindex={1}
            className="max-sm:relative max-sm:flex max-sm:flex-wrap max-sm:items-center max-sm:gap-x-4 max-sm:px-6 max-sm:before:text-label max-sm:before:text-ink-3 max-sm:before:content-['Sort_by']"
          >
            {group.headers.map(({ id, column }, at) => (
              <HeaderCell
                key={id}
                column={columns[at] as Column<Row>}
                sorted={column.getIsSorted()}
                onSort={() => column.toggleSorting()}
              />
            ))}
          </tr>
        ))}
      </thead>
      <tbody role="rowgroup">
        <Spacer height={before} />
        {sorted.slice(first, last).map((row, at) => (
          <tr
            key={row.id}
            ref={virtual?.measureElement}
            data-index={first + at}
            role="row"
            aria-rowindex={first + at + 2}
            aria-current={row.id === current ? 'true' : undefined}
            className="border-b border-rule hover:bg-raised aria-[current=true]:bg-raised max-sm:block max-sm:px-6 max-sm:py-2"
          >
            {columns.map((column) => (
              <BodyCell key={column.id} column={column} row={row.original} />
            ))}
          </tr>
        ))}
        <Spacer height={after} />
      </tbody>
    </table>
  )
}

function HeaderCell<Row extends RowData>({
  column: { header, align, sort },
  sorted,
  onSort,
}: {
  readonly column: Column<Row>
  readonly sorted: false | 'asc' | 'desc'
  onSort(): void
}) {
  const direction = sorted === 'asc' ? 'ascending' : sorted === 'desc' ? 'descending' : undefined
  return (
    <th
      role="columnheader"
      scope="col"
      aria-sort={direction}
      className={classes(
        'h-8 border-b border-rule px-3 text-left text-label whitespace-nowrap text-ink-3 first:pl-6 last:pr-6',
        align === 'right' && 'text-right',
        sort ? 'max-sm:h-auto max-sm:border-0 max-sm:px-0 max-sm:first:pl-0 max-sm:last:pr-0' : 'max-sm:sr-only',
      )}
    >
      {sort ? (
        <button
          type="button"
          onClick={onSort}
          className="min-h-6 cursor-pointer font-[550] hover:text-ink max-sm:min-h-8"
        >
          {header}
          <span aria-hidden="true">{sorted === 'asc' ? ' ↑' : sorted === 'desc' ? ' ↓' : ''}</span>
        </button>
      ) : (
        header
      )}
    </th>
  )
}

function BodyCell<Row extends RowData>({
  column: { header, cell, align, grows },
  row,
}: {
  readonly column: Column<Row>
  readonly row: Row
}) {
  return (
    <td
      role="cell"
      data-label={header}
      className={classes(
        'h-8 px-3 py-1 first:pl-6 last:pr-6',
        // A row stays as high as its text; on a narrow screen, which is touched, what is pressed is as large as elsewhere.
        'sm:[&_button]:min-h-6',
        align === 'right' && 'text-right max-sm:text-left',
        grows ? 'w-full max-w-0 truncate max-sm:max-w-none' : 'whitespace-nowrap',
        'max-sm:grid max-sm:h-auto max-sm:items-baseline max-sm:justify-items-start max-sm:wrap-anywhere max-sm:w-full max-sm:grid-cols-[112px_1fr] max-sm:gap-x-3 max-sm:px-0 max-sm:first:pl-0 max-sm:last:pr-0 max-sm:whitespace-normal',
        'max-sm:before:text-ink-3 max-sm:before:content-[attr(data-label)] max-sm:empty:hidden',
      )}
    >
      {cell(row)}
    </td>
  )
}
