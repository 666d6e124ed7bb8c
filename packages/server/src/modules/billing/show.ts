import { type billing, money, type Output } from '@strongroom/contract'
import type { CreditRow } from './store.ts'

type CreditTransaction = Output<typeof billing.creditTransactions>['data'][number]

/** What a movement is to whoever owns the credit. */
function typeOf({ code, phase }: CreditRow): CreditTransaction['type'] {
  if (phase === 'pending') return 'hold'
  if (phase === 'post') return 'capture'
  if (phase === 'void') return 'release'
  if (code === 'funding' || code === 'charge' || code === 'refund' || code === 'expiry') return code
  return code === 'promo' ? 'grant' : 'adjustment'
}

export const showMovement = (row: CreditRow): CreditTransaction => {
  const { id, isDebit, amount, postedAfter, availableAfter, refType, refId, occurredAt } = row
  const isSpent = isDebit && row.phase !== 'void'
  return {
    id,
    type: typeOf(row),
    amount: money(isSpent ? -BigInt(amount) : BigInt(amount)),
    balanceAfter: money(postedAfter),
    availableAfter: money(availableAfter),
    ref: { type: refType, id: refId },
    occurredAt: occurredAt.toISOString(),
  }
}
