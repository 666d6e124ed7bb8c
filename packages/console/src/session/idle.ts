import { useEffect } from 'react'
import { lock } from './session.ts'

export const IDLE_MINUTES = 10
const MINUTE = 60_000

/** How long a page may be left alone, as the person has set it here. */
export const idleMinutes = (): number => Number(localStorage.getItem('idle-minutes') ?? IDLE_MINUTES)
export const setIdleMinutes = (minutes: number): void => localStorage.setItem('idle-minutes', String(minutes))

/** Somebody at one tab is there for all of them. A moment, and nothing else, is written down for the others. */
const SEEN = 'last-seen'
const TELL_EVERY_MS = 1000
const seenElsewhere = (): number => {
  const at = Number(localStorage.getItem(SEEN) ?? 0)
  // A clock that was set back would keep it open for as long.
  return at <= Date.now() ? at : 0
}

const SIGNS_OF_LIFE = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const

/** Locks when nobody is there. A sleeping machine does not run timers, so what counts is the clock when it wakes. */
export function useIdleLock(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return
    let seen = 0
    let told = 0
    const live = (): void => {
      seen = Date.now()
      if (seen - told < TELL_EVERY_MS) return
      told = seen
      localStorage.setItem(SEEN, String(seen))
    }
    const look = (): void => {
      if (Date.now() - Math.max(seen, seenElsewhere()) >= idleMinutes() * MINUTE) lock('idle')
    }
    live()
    const timer = setInterval(look, MINUTE / 12)
    for (const sign of SIGNS_OF_LIFE) addEventListener(sign, live, { passive: true })
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      for (const sign of SIGNS_OF_LIFE) removeEventListener(sign, live)
      document.removeEventListener('visibilitychange', look)
    }
  }, [isOpen])
}
