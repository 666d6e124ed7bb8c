import type { Money } from '@strongroom/contract'
import { Amount, formatAmount } from '../../ui/amount.tsx'
import { decimalOf } from '../../ui/decimal.ts'

/** `12.50 USD`, to the last digit there is. */
export const moneyText = (money: Money): string => formatAmount(decimalOf(money), money.currency)

export const MoneyAmount = ({ of }: { readonly of: Money }) => <Amount amount={decimalOf(of)} currency={of.currency} />

/** As it is typed into a field: `12.5`. */
export const typedMoney = (money: Money): string =>
  decimalOf(money)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')

/** With its sign, for what has come or gone. */
export function Movement({ of }: { readonly of: Money }) {
  const isIn = !of.amount.startsWith('-') && /[1-9]/.test(of.amount)
  return (
    <span className="whitespace-nowrap text-money">
      {isIn ? '+' : ''}
      {moneyText(of)}
    </span>
  )
}
