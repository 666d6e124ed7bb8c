import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Dialog } from '../ui/dialog.tsx'
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

export function Shortcuts({ open, onClose }: { readonly open: boolean; onClose(): void }) {
  const rows = [
    ['Ctrl K', 'Search and act'],
    ['/', 'To the filter of a page'],
    ['?', 'This list'],
    ...PLACES.map(({ key, label }) => [`g ${key}`, label] as const),
  ]
  return (
    <Dialog title="Keys and help" open={open} onClose={onClose}>
      <div className="grid gap-4 p-5">
        <dl className="grid grid-cols-[80px_1fr] gap-y-1">
          {rows.map(([keys, what]) => (
            <div key={keys} className="contents">
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <p className="text-ink-2">
          <a href="/docs">Documentation</a> · <a href="/docs/api">API reference</a>. Single keys can be turned off in
          Settings.
        </p>
      </div>
    </Dialog>
  )
}
