// Those who wait to change one vault through this process, in the order they came. Waiting here takes no connection of the database.

export interface Line {
  /** Waits until everybody before has left; false if that takes too long. `since` is when the caller came, maybe earlier. */
  enter(since: number, timeoutMs: number): Promise<boolean>
  /** The next one. */
  leave(): void
  /** Stays in front after leaving the stage, for whoever comes back with this turn, and not for long. */
  hold(turn: string, ms: number, lapsed: () => void): void
  /** True for whoever comes back in time; they leave as if they had entered. */
  resume(turn: string): boolean
  /** Somebody was told of a newer head. */
  conflicted(): void
  /** Others wait, or were in each other's way a moment ago: then other processes may be concerned as well. */
  isContended(): boolean
}

interface Waiting {
  readonly since: number
  readonly wake: (isFirst: boolean) => void
}

const MOST_WAITING = 1000
const CONTENDED_MS = 5000

export function makeLine(forget: () => void): Line {
  const waiting: Waiting[] = []
  let isBusy = false
  let held: { readonly turn: string; readonly timer: NodeJS.Timeout } | undefined
  let conflictAt = Number.NEGATIVE_INFINITY
  const isContended = (): boolean => waiting.length > 0 || performance.now() - conflictAt < CONTENDED_MS

  const leave = (): void => {
    const next = waiting.shift()
    next?.wake(true)
    if (next) return
    isBusy = false
    if (!isContended()) forget()
  }
  const join = (since: number, wake: Waiting['wake']): Waiting => {
    const one = { since, wake }
    const after = waiting.findIndex((other) => other.since > since)
    waiting.splice(after < 0 ? waiting.length : after, 0, one)
    return one
  }
  const quit = (one: Waiting): void => {
    const at = waiting.indexOf(one)
    if (at < 0) return
    waiting.splice(at, 1)
    one.wake(false)
  }
  return {
    enter: async (since, timeoutMs) => {
      if (!isBusy) {
        isBusy = true
        return true
      }
      if (waiting.length >= MOST_WAITING) return false
      return new Promise((resolve) => {
        const one = join(since, (isFirst) => {
          clearTimeout(timer)
          resolve(isFirst)
        })
        const timer = setTimeout(() => quit(one), timeoutMs)
      })
    },
    leave,
    hold: (turn, ms, lapsed) => {
      const timer = setTimeout(() => {
        held = undefined
        lapsed()
      }, ms)
      timer.unref()
      held = { turn, timer }
    },
    resume: (turn) => {
      if (held?.turn !== turn) return false
      clearTimeout(held.timer)
      held = undefined
      return true
    },
    conflicted: () => {
      conflictAt = performance.now()
    },
    isContended,
  }
}

/** When somebody who was sent away came first: who comes back has not lost their place. */
export interface Latecomers {
  sentAway(who: string, since: number): void
  /** When they first came; now if they were not sent away lately. */
  since(who: string): number
}

const REMEMBERED_MS = 60_000
const MOST_REMEMBERED = 10_000

export function makeLatecomers(): Latecomers {
  const known = new Map<string, number>()
  return {
    sentAway: (who, since) => {
      known.delete(who)
      known.set(who, since)
      const [oldest] = known.keys()
      if (known.size > MOST_REMEMBERED && oldest !== undefined) known.delete(oldest)
    },
    since: (who) => {
      const now = performance.now()
      const since = known.get(who)
      known.delete(who)
      return since !== undefined && now - since < REMEMBERED_MS ? since : now
    },
  }
}
