import { useEffect, useRef } from 'react'
import { areSingleKeysOn, isJumping, isTyping } from '../shell/shortcuts.ts'

/** What a key does with the row that is in focus; undefined where none is. */
export type RowKeys = Readonly<Record<string, (row: HTMLElement | undefined) => void>>

/** `j` and `k` go from row to row (`data-row`); other keys do what a page says. Not while somebody types or a dialog is open. */
export function useRowKeys(keys: RowKeys): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event) || !areSingleKeysOn()) return
      // A dialog has keys of its own, and after `g` a letter is a place.
      if (document.querySelector('[role=dialog]') || isJumping()) return
      const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
      const at = rows.indexOf(document.activeElement as HTMLElement)
      if (event.key === 'j' || event.key === 'k') rows[event.key === 'j' ? at + 1 : Math.max(0, at - 1)]?.focus()
      else if (Object.hasOwn(current.current, event.key)) current.current[event.key]?.(rows[at])
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}
