import { useEffect, useState } from 'react'
import { areSingleKeysOn } from '../../shell/shortcuts.ts'
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

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)

/** `j` and `k` go from row to row, `p` holds the picture. */
export function useRowKeys(onPause: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event) || !areSingleKeysOn()) return
      // A dialog has keys of its own.
      if (document.querySelector('[role=dialog]')) return
      if (event.key === 'p') onPause()
      if (event.key !== 'j' && event.key !== 'k') return
      const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
      const at = rows.indexOf(document.activeElement as HTMLElement)
      const next = rows[event.key === 'j' ? at + 1 : Math.max(0, at - 1)]
      next?.focus()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [onPause])
}
