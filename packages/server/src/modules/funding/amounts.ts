import { SCALE } from '@strongroom/contract'

// Between units of a token and micro-units of money. Nothing is rounded in silence: what is below a micro-unit is named.

/** How many units of the token are one micro-unit; for tokens with fewer decimals than money has, one. */
export const unitOf = (decimals: number): bigint => 10n ** BigInt(Math.max(0, decimals - SCALE))

export function microsOf(value: bigint, decimals: number): { readonly amount: bigint; readonly remainder: bigint } {
  if (decimals < SCALE) return { amount: value * 10n ** BigInt(SCALE - decimals), remainder: 0n }
  const unit = unitOf(decimals)
  return { amount: value / unit, remainder: value % unit }
}

/** The least that covers the amount. */
export function unitsFor(amount: bigint, decimals: number): bigint {
  if (decimals >= SCALE) return amount * unitOf(decimals)
  const per = 10n ** BigInt(SCALE - decimals)
  return (amount + per - 1n) / per
}

/** Whole micro-units that remainders have made together by this one: what the clearing account has and nobody was credited. */
export const roundingOf = (before: bigint, remainder: bigint, decimals: number): bigint =>
  (before + remainder) / unitOf(decimals) - before / unitOf(decimals)
