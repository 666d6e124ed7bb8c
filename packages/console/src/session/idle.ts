import { useEffect } from 'react'
import { lock } from './session.ts'

export const IDLE_MINUTES = 10
const MINUTE = 60_000

/** How long a page may be left alone, as the person has set it here. */
export const idleMinutes = (): number => Number(localStorage.getItem('idle-minutes') ?? IDLE_MINUTES)
export const setIdleMinutes = (minutes: number): void => localStorage.setItem('idle-minutes', String(minutes))

const SIGNS_OF_LIFE = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const

/** Locks when nobody is there. A sleeping machine does not run timers, so what counts is the clock when it wakes. */
export function useIdleLock(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return
    let seen = Date.now()
    const live = (): void => {
      seen = Date.now()
    }
    const look = (): void => {
      if (Date.now() - seen >= idleMinutes() * MINUTE) lock('idle')
    }
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
