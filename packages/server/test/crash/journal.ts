import { randomUUID } from 'node:crypto'
import { ApiError, type CallOptions, TransportError } from '@strongroom/sdk'
import { makeDoor } from './door.ts'
import type { Pace, Seen } from './messages.ts'
import { makeStopwatch } from './pace.ts'

// Every write of the load goes through here. It is sent with one idempotency key until it is acknowledged, however often the
// server dies meanwhile, and what was acknowledged is remembered for the comparison.

export interface Write<T> {
  /** The action its audit row must have. */
  readonly action: string
  /** Sends the same each time. */
  send(options: CallOptions): Promise<T>
  /** The id of the first target of its audit row. */
  readonly target: (answer: T) => string
}

/** What was acknowledged, as the audit log must have it: exactly this often. */
export interface Tally {
  readonly byTarget: ReadonlyMap<string, number>
  readonly byAction: ReadonlyMap<string, number>
}

export interface Journal {
  /** Waits while the load rests. Throws the refusal if the server refuses, which no writer here asks for. */
  submit<T>(write: Write<T>): Promise<T>
  isRunning(): boolean
  run(): void
  down(killedAt: number): Seen
  /** Sends again what is open, and nothing new. False if something does not settle. */
  settle(timeoutMs: number): Promise<boolean>
  pace(): Pace
  readonly tally: Tally
  acknowledged(): number
  ambiguous(): number
  /** What no answer should have said, since the last call. */
  takeRefusals(): string[]
}

const RETRY_MS = 50
const SLOWED_DOWN_MS = 1000
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const isSlowedDown = (error: unknown): boolean => error instanceof ApiError && error.status === 429

/** Nobody can say whether it happened. */
const isUnclear = (error: unknown): boolean =>
  error instanceof TransportError ||
  isSlowedDown(error) ||
  (error instanceof ApiError && (error.status >= 500 || error.code === 'idempotency_in_progress'))

const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

export function makeJournal(): Journal {
  const byTarget = new Map<string, number>()
  const byAction = new Map<string, number>()
  const refusals: string[] = []
  const stopwatch = makeStopwatch()
  const forNew = makeDoor()
  const forOpen = makeDoor()
  let running = false

  const refuse = (action: string, error: unknown): void => {
    const { code, details } = error as Partial<ApiError>
    refusals.push(`${action}: ${code ?? error} ${JSON.stringify(details ?? null)}`)
  }
  const insist = async <T>({ action, send }: Write<T>): Promise<T> => {
    const idempotencyKey = randomUUID()
    for (;;) {
      try {
        return await send({ idempotencyKey })
      } catch (error) {
        // A bug in any case, whether it happened or not.
        if (!isUnclear(error) || (error as Partial<ApiError>).code === 'internal_error') refuse(action, error)
        if (!isUnclear(error)) throw error
        await pause(isSlowedDown(error) ? SLOWED_DOWN_MS : RETRY_MS)
        await forOpen.pass()
      }
    }
  }
  return {
    submit: async (write) => {
      await forNew.pass()
      const operation = stopwatch.begin()
      try {
        const answer = await insist(write)
        stopwatch.end(operation, true)
        count(byTarget, `${write.action} ${write.target(answer)}`)
        count(byAction, write.action)
        return answer
      } catch (error) {
        stopwatch.end(operation, false)
        throw error
      }
    },
    isRunning: () => running,
    run: () => {
      running = true
      forOpen.open()
      forNew.open()
    },
    down: (killedAt) => {
      running = false
      forNew.close()
      forOpen.close()
      return stopwatch.seen(killedAt)
    },
    settle: async (timeoutMs) => {
      forOpen.open()
      const deadline = Date.now() + timeoutMs
      while (stopwatch.open() > 0 && Date.now() < deadline) await pause(10)
      // Whoever waited for the answer writes down what it said.
      await pause(0)
      return stopwatch.open() === 0
    },
    pace: stopwatch.pace,
    tally: { byTarget, byAction },
    acknowledged: stopwatch.acknowledged,
    ambiguous: stopwatch.ambiguous,
    takeRefusals: () => refusals.splice(0),
  }
}
