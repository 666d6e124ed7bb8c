import type { PurchaseRow, PurchaseState } from './purchase-store.ts'

// The states of a purchase and what leads from one to the next. Nothing else changes a state; what is not here is refused.

export const PURCHASE_EVENTS = [
  /** The order is about to be placed. */
  'order',
  /** The provider has delivered. */
  'confirmed',
  /** The provider has taken the order and needs time. */
  'accepted',
  /** The provider has refused: nothing is owed. */
  'refused',
  /** The provider could not be reached at all, for long enough. */
  'unreachable',
  /** Nobody knows what the provider has done, for long enough, or it asks for more than was held. */
  'unclear',
  'handed_off',
  /** The buyer has another key now: what waits is to be sealed to that one. */
  'resealing',
  /** Ended before it was handed over. */
  'terminated',
  /** It is not ended after all, or not yet. */
  'kept',
  'resumed',
  /** Nobody has resumed it in time; or a human has decided that nothing comes of it. */
  'given_up',
  /** The provider has nothing of it any more. */
  'undone',
] as const
export type PurchaseEvent = (typeof PURCHASE_EVENTS)[number]

/** What becomes of the money that was held. */
export type MoneyMove = 'none' | 'capture' | 'release'

interface Step {
  readonly to: PurchaseState
  readonly money: MoneyMove
}
const to = (state: PurchaseState, money: MoneyMove = 'none'): Step => ({ to: state, money })

type Steps = Readonly<Partial<Record<PurchaseEvent, Step>>>

const delivered = to('awaiting_handoff', 'capture')
const STEPS: Readonly<Record<PurchaseState, Steps>> = {
  reserved: { order: to('provisioning') },
  provisioning: {
    confirmed: delivered,
    accepted: to('provider_pending'),
    refused: to('failed', 'release'),
    unreachable: to('failed'),
    unclear: to('in_review'),
  },
  provider_pending: { confirmed: delivered, refused: to('failed', 'release'), unclear: to('in_review') },
  awaiting_handoff: {
    handed_off: to('completed'),
    resealing: to('awaiting_handoff'),
    terminated: to('compensating'),
  },
  completed: {},
  // Where it goes on from is read from evidence: see `resumedAt`.
  failed: { resumed: to('provisioning'), given_up: to('compensating') },
  // Captured money is given back by the settlement of the termination, held money here. It is tried until the provider has nothing of it
  // or a human has found out so, and never goes to a review: from there it could be delivered, and what was given back would be taken again.
  compensating: {
    undone: to('cancelled', 'release'),
    given_up: to('cancelled', 'release'),
    // Only what is paid for: see `keptStep`.
    kept: to('awaiting_handoff'),
  },
  cancelled: {},
  in_review: { confirmed: delivered, refused: to('failed', 'release'), given_up: to('compensating') },
}

/** What follows; undefined where this cannot happen in this state. */
export const nextPurchase = (state: PurchaseState, event: PurchaseEvent): Step | undefined => STEPS[state][event]

/** What was delivered can be taken again while it is paid for. Where money is only held nothing was delivered, and nothing is to be taken. */
export const keptStep = (bought: Pick<PurchaseRow, 'state' | 'money'>): Step | undefined =>
  bought.money === 'captured' ? nextPurchase(bought.state, 'kept') : undefined

export interface Evidence {
  /** Of the hold; released holds are made anew. */
  readonly isHeld: boolean
  /** Of the order of this round, if it was planned. */
  readonly call: 'planned' | 'sent' | 'unknown' | 'done' | undefined
  readonly hasProviderRef: boolean
}

/** Where a resumed purchase goes on: from what is known of it, never from where it is said to have been. */
export function resumedAt({
  isHeld,
  call,
  hasProviderRef,
}: Evidence): 'reserved' | 'provisioning' | 'provider_pending' {
  // Refused and given back: a new round, with a new hold and a new order.
  if (!isHeld || call === undefined) return 'reserved'
  return hasProviderRef ? 'provider_pending' : 'provisioning'
}

/** What its owner can do about it. */
export function nextActionOf(state: PurchaseState, isResumable: boolean) {
  switch (state) {
    case 'reserved':
    case 'provisioning':
      return { type: 'poll', afterMs: 1000 } as const
    case 'provider_pending':
    case 'compensating':
      return { type: 'poll', afterMs: 30_000 } as const
    case 'awaiting_handoff':
      return { type: 'complete_vault_item' } as const
    case 'failed':
      return isResumable ? ({ type: 'resume' } as const) : ({ type: 'none' } as const)
    case 'in_review':
      return { type: 'contact_support' } as const
    case 'completed':
    case 'cancelled':
      return { type: 'none' } as const
  }
}

const STAGES = {
  reserved: 'money',
  provisioning: 'provider',
  provider_pending: 'provider',
  awaiting_handoff: 'handoff',
  completed: 'done',
  failed: 'provider',
  compensating: 'settlement',
  cancelled: 'done',
  in_review: 'provider',
} as const
export const stageOf = (state: PurchaseState) => STAGES[state]
