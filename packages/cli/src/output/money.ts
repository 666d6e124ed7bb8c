import { CliError } from '../errors/cli-error.ts'

// Amounts as people write and read them. Inside they are whole micro-units, never floating point.

export interface Money {
  readonly amount: string
  readonly currency: 'USD'
  readonly scale: 6
}

const SCALE = 6

/** `12.50 USD`; smaller units are shown where there are any. */
export function shownMoney({ amount, currency }: { readonly amount: string; readonly currency: string }): string {
  const sign = amount.startsWith('-') ? '-' : ''
  const digits = amount.replace('-', '').padStart(SCALE + 1, '0')
  const cents = digits.slice(-SCALE).replace(/0{1,4}$/, '')
  return `${sign}${digits.slice(0, -SCALE)}.${cents.padEnd(2, '0')} ${currency}`
}

/** `25`, `25.5` or `25.000001`: dollars. */
export function readMoney(text: string, flag: string): Money {
  const [whole, dollars = '', fraction = ''] = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  if (whole === undefined)
    throw new CliError('usage', `${flag} ${text} is not an amount`, { fix: `write dollars like 25 or 25.50` })
  const amount = `${dollars}${fraction.padEnd(SCALE, '0')}`.replace(/^0+(?=\d)/, '')
  return { amount, currency: 'USD', scale: SCALE }
}
