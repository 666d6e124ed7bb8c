import { useCallback, useState } from 'react'
import type { Column } from '../../ui/table.tsx'

export interface Selection {
  readonly ids: ReadonlySet<string>
  toggle(id: string): void
  clear(): void
}

/** Rows that are chosen for one change of several. */
export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback(
    (id: string) =>
      setIds((before) => {
        const next = new Set(before)
        if (!next.delete(id)) next.add(id)
        return next
      }),
    [],
  )
  return { ids, toggle, clear: () => setIds(new Set()) }
}

export const selectColumn = <Row,>(
  { ids, toggle }: Pick<Selection, 'ids' | 'toggle'>,
  of: (row: Row) => { readonly id: string; readonly name: string },
  isSelectable: (row: Row) => boolean = () => true,
): Column<Row> => ({
  id: 'select',
  header: 'Select',
  cell: (row) => {
    if (!isSelectable(row)) return null
    const { id, name } = of(row)
    return (
      <span className="-ml-1 inline-grid size-6 place-items-center align-middle">
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          className="size-4 accent-ink"
          checked={ids.has(id)}
          onChange={() => toggle(id)}
        />
      </span>
    )
  },
})
