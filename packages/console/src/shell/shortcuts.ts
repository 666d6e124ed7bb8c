import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { PLACES } from './places.ts'

const OFF = 'single-keys-off'
/** Single keys can be turned off: who speaks to the computer types them by accident. */
export const areSingleKeysOn = (): boolean => localStorage.getItem(OFF) === null
export const setSingleKeys = (on: boolean): void =>
  on ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, 'yes')

export const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const JUMP_MS = 1200
let jumpingSince = 0
/** `g` was pressed just now: the next letter is a place. */
export const isJumping = (): boolean => Date.now() - jumpingSince < JUMP_MS

interface Listening {
  onPalette(): void
  onHelp(): void
}

export function useShortcuts({ onPalette, onHelp }: Listening): void {
  const navigate = useNavigate()
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        onPalette()
        return
      }
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey || !areSingleKeysOn()) return
      const place = isJumping() && PLACES.find(({ key }) => key === event.key)
      jumpingSince = event.key === 'g' ? Date.now() : 0
      if (place) void navigate({ to: place.to })
      else if (event.key === '?') onHelp()
      else if (event.key === '/') {
        const filter = document.querySelector<HTMLElement>('[data-filter]')
        if (filter) event.preventDefault()
        filter?.focus()
      }
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [navigate, onPalette, onHelp])
}
