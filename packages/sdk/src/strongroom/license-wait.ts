import type { Purchase as PurchaseAnswer, Termination as TerminationAnswer } from '@strongroom/contract'
import { pause } from '../engine/queue.ts'
import { ApiError } from '../errors.ts'
import type { Scope } from './call.ts'
import type { KeyedPlace } from './core.ts'
import { type Asked, endingOf, instanceOf, takeOver } from './license-take.ts'
import type { Ending, LicenseInstance, Purchase, Termination, WaitOptions } from './licenses.ts'
import { StrongroomError } from './strongroom-error.ts'

// Waiting for what goes on by itself. Questions come quickly at first, because most purchases take a second, and then as rarely as the
// server says. Whoever stops waiting stops nothing.

const FIRST_MS = 200
const GROWTH = 1.5
const LONGEST_MS = 30_000

const pauseOf = (turns: number, first: number, { afterMs = LONGEST_MS }: PurchaseAnswer['nextAction']): number =>
  Math.min(first * GROWTH ** turns, Math.max(afterMs, first), LONGEST_MS)

const ABOUT = {
  failed: 'has failed',
  cancelled: 'was cancelled',
  in_review: 'waits for the operator, who has to look at it',
} as const

function stopped(
  what: 'purchase' | 'termination',
  { statusReason, retryable }: Pick<PurchaseAnswer, 'statusReason' | 'retryable'>,
  state: keyof typeof ABOUT,
  id: string,
): StrongroomError {
  const why = statusReason === null ? '' : `: ${statusReason.replaceAll('_', ' ')}`
  return new StrongroomError(`the ${what} ${id} ${ABOUT[state]}${why}`, {
    code: `${what}_${state}`,
    retryable,
    hint: retryable
      ? `Resume it: strongroom license resume ${id}.`
      : state === 'in_review'
        ? `Ask the operator about ${id}.`
        : 'Nothing is owed for it; begin anew if it is still wanted.',
  })
}

/** Another process of the same buyer was quicker, or an answer was lost: what is there counts. */
function orTakenBefore(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 'handoff_already_completed') throw error
}

/** Tells of each new state once. */
function teller<A extends { readonly status: string }, V>(view: (answer: A) => V, onProgress?: (now: V) => void) {
  let told = ''
  return (answer: A): void => {
    if (answer.status === told) return
    told = answer.status
    onProgress?.(view(answer))
  }
}

export async function pollPurchase(
  place: KeyedPlace,
  {
    answer,
    asked,
    view,
  }: { readonly answer: PurchaseAnswer; readonly asked: Asked | undefined; view(now: PurchaseAnswer): Purchase },
  { onProgress, pollMs = FIRST_MS, handOff = true }: WaitOptions<Purchase> & { readonly handOff?: boolean } = {},
): Promise<LicenseInstance> {
  const { client, options } = place.scope
  const tell = teller(view, onProgress)
  const params = { purchaseId: answer.purchaseId }
  let isSealedAnew = false
  let now = answer
  for (let turns = 0; ; turns += 1) {
    tell(now)
    const { status } = now
    if (status === 'completed') return instanceOf(now)
    if (status === 'failed' || status === 'cancelled' || status === 'in_review')
      throw stopped('purchase', now, status, now.purchaseId)
    if (status === 'awaiting_handoff' && !handOff) return instanceOf(now)
    // Delivered, and not given again to be sealed to a new key.
    if (now.nextAction.type === 'contact_support') throw stopped('purchase', now, 'in_review', now.purchaseId)
    if (now.handoff) {
      const isOwn = now.handoff.recipientKeyId === place.actor.identity.kid
      const taken = await takeOver(place, now, asked, isSealedAnew).catch(orTakenBefore)
      isSealedAnew ||= !isOwn
      now = taken ?? (await client.licenses.purchaseStatus({ params }, options))
      continue
    }
    await pause(pauseOf(turns, pollMs, now.nextAction), options.signal)
    now = await client.licenses.purchaseStatus({ params }, options)
  }
}

export async function pollTermination(
  { client, options }: Scope,
  { answer, view }: { readonly answer: TerminationAnswer; view(now: TerminationAnswer): Termination },
  { onProgress, pollMs = FIRST_MS }: WaitOptions<Termination> = {},
): Promise<Ending> {
  const tell = teller(view, onProgress)
  const params = { terminationId: answer.terminationId }
  let now = answer
  for (let turns = 0; ; turns += 1) {
    tell(now)
    const { status } = now
    // Scheduled: it ends on a day that is known, and nobody waits for that.
    if (status === 'completed' || status === 'cancel_pending') return endingOf(now)
    if (status === 'failed' || status === 'in_review') throw stopped('termination', now, status, now.terminationId)
    await pause(pauseOf(turns, pollMs, now.nextAction), options.signal)
    now = await client.licenses.terminationStatus({ params }, options)
  }
}
