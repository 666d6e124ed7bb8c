import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import type { ActivityRow } from './rows.ts'

/** Rows as they come; or, while it is held, those of that moment and how many came since. */
export function useHeld(rows: readonly ActivityRow[]) {
  const [held, setHeld] = useState<readonly ActivityRow[]>()
  const known = new Set(held?.map(({ id }) => id))
  return {
    shown: held ?? rows,
    isHeld: held !== undefined,
    fresh: held ? rows.filter(({ id }) => !known.has(id)).length : 0,
    toggle: () => setHeld(held ? undefined : rows),
    catchUp: () => setHeld(rows),
  }
}

export type Held = ReturnType<typeof useHeld>

export function LiveTail({ held: { isHeld, fresh, toggle, catchUp } }: { readonly held: Held }) {
  return (
    <>
      {fresh > 0 && (
        <Button kind="primary" onClick={catchUp}>
          {fresh} new {fresh === 1 ? 'row' : 'rows'}
        </Button>
      )}
      <Button onClick={toggle} aria-pressed={isHeld} title="p">
        <span aria-hidden="true" className={`size-2 rounded-round ${isHeld ? 'border border-edge' : 'bg-seal'}`} />
        {isHeld ? 'Held' : 'Live'}
      </Button>
    </>
  )
}
