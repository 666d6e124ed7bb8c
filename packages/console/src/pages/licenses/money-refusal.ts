import { money } from '@strongroom/contract'
import { ApiError } from '@strongroom/sdk'
import { moneyText } from '../billing/money.tsx'

interface Details {
  readonly limit?: string
  readonly remaining?: string
  readonly requested?: string
  readonly available?: string
  readonly required?: string
}

const usd = (amount: string | undefined): string => moneyText(money(amount ?? '0'))

/** How much is missing, in a sentence: the server names it in details. Undefined for other refusals. */
export function moneyRefusal(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const { limit, remaining, requested, available, required }: Details = error.details ?? {}
  switch (error.code) {
    // Without numbers for who may not read budgets: then the sentence of the server stands.
    case 'budget_exceeded':
      return remaining && `${usd(requested)} is more than the ${usd(remaining)} that are left of a budget.`
    case 'budget_transaction_limit':
      return limit && `${usd(requested)} is more than a budget allows at once, ${usd(limit)}.`
    case 'insufficient_credit':
      return `${usd(required)} is more than the ${usd(available)} of credit that are left.`
    default:
      return undefined
  }
}
