import { leanFetch } from './lean-fetch.ts'
import { makeStopwatch, type Stopwatch } from './pace.ts'

// What passes between many clients and one server, seen from the clients' side: which checkpoints were shown, which writes were
// acknowledged at which leaf, what was refused, how long answers took.

export interface Traffic {
  /** Writes that were sent and not answered, and those that were. */
  readonly writes: Stopwatch
  /** Every checkpoint that anybody was ever shown, since the last call. */
  takeCheckpoints(): string[]
  /** The leaf of each acknowledged write. */
  readonly ackedAt: readonly number[]
  /** Answers of 500 and above, but for those that say when to come again. */
  takeFaults(): string[]
  /** Answers that said: not now, come again in a while. */
  postponed(): number
  slowestMs(): number
  /** `fetch` of one client; hears of every answer that brings a newer head. */
  fetchFor(onConflict: () => void): typeof fetch
}

const CHECKPOINT = /"checkpoint":("(?:[^"\\]|\\.)*")/g
const RECEIPT = /^\{"index":(\d+),/

/** 503 with the time to wait is in the contract. */
const isFault = ({ status, headers }: Response): boolean =>
  status >= 500 && !(status === 503 && Number(headers.get('retry-after')) > 0)

export function makeTraffic(): Traffic {
  const writes = makeStopwatch()
  const checkpoints = new Set<string>()
  const ackedAt: number[] = []
  const unread: string[] = []
  const faults: string[] = []
  let postponed = 0
  let slowestMs = 0

  const readCheckpoints = (text: string): void => {
    for (const [, quoted = '""'] of text.matchAll(CHECKPOINT)) {
      const note = JSON.parse(quoted) as string
      if (checkpoints.has(note)) continue
      checkpoints.add(note)
      unread.push(note)
    }
  }
  const look = (response: Response, text: string, isWrite: boolean): void => {
    readCheckpoints(text)
    if (isFault(response)) faults.push(`${response.status} ${text.slice(0, 300)}`)
    else if (response.status === 503) postponed++
    const [, index] = (isWrite && response.ok && RECEIPT.exec(text)) || []
    if (index !== undefined) ackedAt.push(Number(index))
  }

  return {
    writes,
    takeCheckpoints: () => unread.splice(0),
    ackedAt,
    takeFaults: () => faults.splice(0),
    postponed: () => postponed,
    slowestMs: () => Math.round(slowestMs),
    fetchFor: (onConflict) => async (input, init) => {
      const isWrite = (init?.method ?? 'GET') !== 'GET'
      const operation = isWrite ? writes.begin() : undefined
      const started = performance.now()
      let isAcknowledged = false
      try {
        const response = await leanFetch(input, init)
        const text = await response.text()
        isAcknowledged = response.ok
        look(response, text, isWrite)
        if (isWrite && response.status === 409 && text.includes('"vault_head_conflict"')) onConflict()
        return new Response(text, { status: response.status, headers: response.headers })
      } finally {
        slowestMs = Math.max(slowestMs, performance.now() - started)
        if (operation) writes.end(operation, isAcknowledged)
      }
    },
  }
}
