// The status of an intent: what follows from its deposits and the time, and from nothing else.

export const DEPOSIT_STATES = ['seen', 'credited', 'orphaned', 'reversed', 'held'] as const
export type DepositState = (typeof DEPOSIT_STATES)[number]

export interface DepositFacts {
  readonly state: DepositState
  /** In micro-units. */
  readonly amount: bigint
  readonly paidAt: Date
  /** In another token than the intent asks for. */
  readonly isOtherAsset: boolean
}

export interface IntentFacts {
  readonly target: bigint
  readonly expiresAt: Date
  readonly cancelledAt: Date | null
  readonly deposits: readonly DepositFacts[]
}

export type IntentStatus =
  | 'requires_payment'
  | 'processing'
  | 'partially_funded'
  | 'funded'
  | 'expired'
  | 'cancelled'
  | 'in_review'

export type IntentException = 'underpaid' | 'overpaid' | 'paid_late' | 'reorged' | 'wrong_asset'

export interface IntentStanding {
  readonly status: IntentStatus
  readonly exceptions: readonly IntentException[]
  readonly credited: bigint
  /** Seen and not confirmed. */
  readonly incoming: bigint
}

const sum = (deposits: readonly DepositFacts[]): bigint => deposits.reduce((total, { amount }) => total + amount, 0n)

function statusOf(facts: IntentFacts, now: Date, credited: bigint): IntentStatus {
  const { target, expiresAt, cancelledAt, deposits } = facts
  const has = (...states: readonly DepositState[]): boolean => deposits.some(({ state }) => states.includes(state))
  // Money that was credited and is gone is looked at before anything else; a coin of another kind does not undo what is paid.
  if (deposits.some(({ state, isOtherAsset }) => state === 'reversed' || (state === 'held' && !isOtherAsset)))
    return 'in_review'
  if (credited >= target) return 'funded'
  if (has('held')) return 'in_review'
  if (has('seen')) return 'processing'
  if (credited > 0n) return 'partially_funded'
  if (cancelledAt !== null) return 'cancelled'
  return now >= expiresAt ? 'expired' : 'requires_payment'
}

export function standingOf(facts: IntentFacts, now: Date): IntentStanding {
  const { target, expiresAt, cancelledAt, deposits } = facts
  const paid = deposits.filter(({ state }) => state === 'credited')
  const credited = sum(paid)
  const end = cancelledAt !== null && cancelledAt < expiresAt ? cancelledAt : expiresAt
  const claims: readonly (readonly [IntentException, boolean])[] = [
    ['underpaid', credited > 0n && credited < target],
    ['overpaid', credited > target],
    ['paid_late', paid.some(({ paidAt }) => paidAt > end)],
    [
      'reorged',
      deposits.some(({ state, isOtherAsset }) => state === 'reversed' || (state === 'held' && !isOtherAsset)),
    ],
    ['wrong_asset', deposits.some(({ state, isOtherAsset }) => state === 'held' && isOtherAsset)],
  ]
  return {
    status: statusOf(facts, now, credited),
    exceptions: claims.filter(([, holds]) => holds).map(([exception]) => exception),
    credited,
    incoming: sum(deposits.filter(({ state }) => state === 'seen')),
  }
}
