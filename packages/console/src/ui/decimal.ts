import type { Money } from '@strongroom/contract'

// Amounts between people and the server: text on both sides, so that nothing is rounded.

/** Whole micro-units → the decimal they stand for, exactly. */
export function decimalOf({ amount, scale }: Money): string {
  const negative = amount.startsWith('-')
  const digits = amount.replace('-', '').padStart(scale + 1, '0')
  return `${negative ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const AMOUNT = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/

export const amountProblem = (amount: string): string | undefined =>
  amount === '' || AMOUNT.test(amount) ? undefined : 'An amount such as 25 or 12.50.'

/** US dollars as typed → whole micro-units, without arithmetic on fractions. */
export function microUnits(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  return `${whole}${fraction.padEnd(6, '0')}`.replace(/^0+(?=\d)/, '')
}
