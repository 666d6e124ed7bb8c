import { pause } from '../engine/queue.ts'
import type { Funding, FundingIntent, FundingWait } from './funding.ts'
import { AbortedError } from './public-errors.ts'
import { StrongroomError } from './strongroom-error.ts'

const FIRST_INTERVAL_MS = 2_000
const LONGEST_INTERVAL_MS = 15_000
const SLOWER = 1.2

type Ending = { readonly code: string; readonly said: string; readonly hint: string }

const EXPIRED: Ending = {
  code: 'funding_expired',
  said: 'no payment came in time',
  hint: 'Ask for another address. Should the payment come all the same, it is credited.',
}
const PARTLY: Ending = {
  code: 'funding_incomplete',
  said: 'less was paid than was aimed at, and the time is over',
  hint: 'What came is credited. A further payment to the same address is too.',
}
const CANCELLED: Ending = {
  code: 'funding_cancelled',
  said: 'it was cancelled',
  hint: 'Ask for another address. Should a payment come all the same, it is credited.',
}
const IN_REVIEW: Ending = {
  code: 'funding_in_review',
  said: 'a payment has to be looked at by the operator',
  hint: 'Its deposits and exceptions say why: another token, or a payment that the chain took back.',
}

/** Why it is not going to be funded by itself; undefined while it may be. */
function endingOf({ status, expiresAt }: FundingIntent): Ending | undefined {
  if (status === 'expired') return EXPIRED
  if (status === 'cancelled') return CANCELLED
  if (status === 'in_review') return IN_REVIEW
  return status === 'partially_funded' && Date.now() >= Date.parse(expiresAt) ? PARTLY : undefined
}

const standing = ({ status, credited, incoming, deposits }: FundingIntent): string =>
  JSON.stringify([status, credited, incoming, deposits.map(({ state, confirmations }) => [state, confirmations])])

/** Looks again and again. What is only passing, such as a network that is gone for a while, does not end it. */
export async function waitUntilFunded(
  { intent: read }: Pick<Funding, 'intent'>,
  from: FundingIntent,
  { onProgress, interval = FIRST_INTERVAL_MS, ...options }: FundingWait,
): Promise<FundingIntent> {
  const { signal } = options
  let [known, waitMs] = ['', interval]
  for (let intent = from; ; ) {
    const now = standing(intent)
    if (now !== known) onProgress?.(intent)
    waitMs = now === known ? Math.min(waitMs * SLOWER, LONGEST_INTERVAL_MS) : interval
    known = now
    if (intent.status === 'funded') return intent
    const ending = endingOf(intent)
    if (ending)
      throw new StrongroomError(`the funding ${intent.intentId} is not complete: ${ending.said}`, {
        code: ending.code,
        hint: ending.hint,
      })
    await pause(waitMs, signal).catch((reason: unknown) => {
      throw new AbortedError(reason)
    })
    intent = await read(intent.intentId, options).catch((error: unknown) => {
      if (signal?.aborted || !(StrongroomError.is(error) && error.retryable)) throw error
      return intent
    })
  }
}
