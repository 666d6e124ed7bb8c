import { ProtocolError } from '@strongroom/protocol'
import type { Actor } from './actor.ts'
import type { Checked, Pins, Question } from './verified.ts'

// Witnesses sign a moment after the log does (docs/reference/protocol.md 5.5). Who reads right after a write waits for them, within a bound;
// who wrote has the log's signature at once, and the witnesses' with the next read.

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1_000

export interface Patience {
  /** Milliseconds until the answer is worth asking for again; undefined when it was asked for long enough. */
  next(): number | undefined
  readonly limitMs: number
}

export function makePatience(limitMs: number): Patience {
  const started = performance.now()
  let pauseMs = FIRST_PAUSE_MS
  return {
    limitMs,
    next: () => {
      const leftMs = limitMs - (performance.now() - started)
      const now = Math.min(pauseMs, leftMs)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      return leftMs > 0 ? now : undefined
    },
  }
}

type Outcome<T> =
  | { readonly checked: Checked<T>; readonly waitMs?: undefined }
  | { readonly checked?: undefined; readonly waitMs: number }

/** What an answer was shown to say, or how long to wait for witnesses before it is asked for again. */
export async function checkWitnessed<T>(
  actor: Actor,
  question: Question<T>,
  answer: unknown,
  pins: Pins,
  patience: Patience,
): Promise<Outcome<T>> {
  const started = performance.now()
  const tell = (code?: string): void => {
    const subject = question.vaultId !== undefined && { subject: question.vaultId }
    actor.onVerify?.({ ...subject, ok: !code, ...(code && { code }), ms: performance.now() - started })
  }
  try {
    const outcome = await judge(actor, question, answer, pins, patience)
    if (outcome.checked) tell()
    return outcome
  } catch (error) {
    if (error instanceof ProtocolError) tell(error.code)
    throw error
  }
}

async function judge<T>(
  { policy }: Actor,
  question: Question<T>,
  answer: unknown,
  pins: Pins,
  patience: Patience,
): Promise<Outcome<T>> {
  try {
    return { checked: await question.check(answer, pins) }
  } catch (error) {
    const code = error instanceof ProtocolError ? error.code : undefined
    const isLacking = code === 'witness_quorum'
    if (!isLacking && code !== 'stale_view') throw error
    const unwatched = async () => ({ checked: await question.check(answer, pins.withoutQuorum()) })
    // Sent again, a change is answered with what was stored for it: the answer of then, however long one waits.
    if (isLacking && question.isWrite) return unwatched()
    const waitMs = isLacking ? patience.next() : undefined
    if (waitMs !== undefined) return { waitMs }
    if (policy.mode === 'warn') return unwatched()
    throw isLacking ? late(error as ProtocolError, patience) : error
  }
}

const late = (cause: ProtocolError, { limitMs }: Patience): ProtocolError =>
  new ProtocolError(
    'witness_quorum',
    `${cause.message}, and have not within ${Math.round(limitMs / 1000)} s`,
    { waitedMs: limitMs },
    { cause },
  )
