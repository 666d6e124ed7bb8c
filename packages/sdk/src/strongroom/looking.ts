import { ConnectionError, RateLimitError, ServerError } from './public-errors.ts'

// Looking again and again: when the next look is due, and which failures it goes on after.

/** The server is away for a while: what was read stays as it is. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError || error instanceof ServerError || error instanceof RateLimitError

const RETRY_MS = 2_000

/** A look that failed is repeated sooner. */
export const pauseMs = (intervalMs: number, succeeded: boolean): number =>
  succeeded ? intervalMs : Math.min(RETRY_MS, intervalMs)

/** Rings are not lost while nobody waits, and not counted. */
export function makeBell(): { ring(): void; wait(ms: number, signal: AbortSignal): Promise<void> } {
  let isRung = false
  let wake: (() => void) | undefined
  return {
    ring: () => {
      isRung = true
      wake?.()
    },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          wake = undefined
          isRung = false
          resolve()
        }
        const timer = setTimeout(done, ms)
        if (isRung || signal.aborted) return done()
        wake = done
        signal.addEventListener('abort', done, { once: true })
      }),
  }
}
