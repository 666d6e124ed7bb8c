import type { Money } from '@strongroom/contract'

/** Whole micro-units → the decimal they stand for, exactly. */
export function decimalOf({ amount, scale }: Money): string {
  const negative = amount.startsWith('-')
  const digits = amount.replace('-', '').padStart(scale + 1, '0')
  return `${negative ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
