import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { PLACES } from './places.ts'

const OFF = 'single-keys-off'
/** Single keys can be turned off: who speaks to the computer types them by accident. */
export const areSingleKeysOn = (): boolean => localStorage.getItem(OFF) === null
export const setSingleKeys = (on: boolean): void =>
  on ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, 'yes')

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

interface Listening {
  onPalette(): void
  onHelp(): void
}

export function useShortcuts({ onPalette, onHelp }: Listening): void {
  const navigate = useNavigate()
  const jumping = useRef(0)
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        onPalette()
        return
      }
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey || !areSingleKeysOn()) return
      const place = Date.now() - jumping.current < 1200 && PLACES.find(({ key }) => key === event.key)
      jumping.current = event.key === 'g' ? Date.now() : 0
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
