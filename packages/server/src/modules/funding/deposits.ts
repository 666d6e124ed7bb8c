import type { DepositState } from './status.ts'

// What becomes of a deposit when the chain has it, or has it no longer. Pure: each pair of state and event has one answer.

/** What the row says of it. */
export interface KnownDeposit {
  readonly state: DepositState
  /** It was credited once, whatever happened since. */
  readonly wasCredited: boolean
}

/**
 * The chain has a transfer under this name. `isSame`: to the same address, of the same token, and as much as the row says; what was
 * credited and is another one now is a matter for people.
 */
export function onArrival(
  known: KnownDeposit | undefined,
  { isSame, isOtherAsset }: { readonly isSame: boolean; readonly isOtherAsset: boolean },
): DepositState {
  const fresh = isOtherAsset ? 'held' : 'seen'
  if (!known) return fresh
  if (!isSame) return known.wasCredited ? 'reversed' : fresh
  return known.state === 'orphaned' || known.state === 'reversed' ? fresh : known.state
}

/** The chain has nothing under this name any more. */
export function onDeparture({ wasCredited }: KnownDeposit): DepositState {
  return wasCredited ? 'reversed' : 'orphaned'
}
