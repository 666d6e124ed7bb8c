import type { Pace, Seen } from './messages.ts'

// How fast the writers are, and what was open when the server died: a kill with nothing in flight proves nothing.

export interface Operation {
  readonly startedAt: number
  endedAt: number | undefined
}

export interface Stopwatch {
  begin(): Operation
  end(operation: Operation, isAcknowledged: boolean): void
  pace(): Pace
  /** Also remembers what is open now. */
  seen(killedAt: number): Seen
  open(): number
  acknowledged(): number
  /** How many were open at the last kill and not acknowledged since. */
  ambiguous(): number
}

const REMEMBER_MS = 5000

export function makeStopwatch(): Stopwatch {
  const open = new Set<Operation>()
  let ended: Operation[] = []
  let ackTimes: number[] = []
  let acknowledged = 0
  let ambiguous = 0
  const forget = (): void => {
    const horizon = Date.now() - REMEMBER_MS
    ackTimes = ackTimes.filter((at) => at > horizon)
    ended = ended.filter(({ endedAt = 0 }) => endedAt > horizon)
  }
  const ackedBefore = (moment: number): number => ackTimes.filter((at) => at <= moment && at > moment - 1000).length
  return {
    begin: () => {
      const operation: Operation = { startedAt: Date.now(), endedAt: undefined }
      open.add(operation)
      return operation
    },
    end: (operation, isAcknowledged) => {
      operation.endedAt = Date.now()
      open.delete(operation)
      ended.push(operation)
      if (!isAcknowledged) return
      acknowledged++
      ackTimes.push(operation.endedAt)
    },
    pace: () => {
      forget()
      return { type: 'pace', ackedLastSecond: ackedBefore(Date.now()), inFlight: open.size }
    },
    seen: (killedAt) => {
      const wasOpen = ({ startedAt, endedAt }: Operation): boolean =>
        startedAt <= killedAt && (endedAt === undefined || endedAt > killedAt)
      ambiguous = [...open].filter(wasOpen).length
      const inFlight = ambiguous + ended.filter(wasOpen).length
      return { type: 'seen', ackedLastSecond: ackedBefore(killedAt), inFlight }
    },
    open: () => open.size,
    acknowledged: () => acknowledged,
    ambiguous: () => ambiguous,
  }
}
