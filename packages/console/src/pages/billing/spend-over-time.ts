import type { Budget, License } from '@strongroom/contract'
import type { CreditTransaction } from '@strongroom/sdk'
import type { ActiveWindow } from './budget-windows.ts'

// What a budget was used for, step by step: from the movements of the credit, exact to the last digit.

export interface SpendStep {
  readonly at: Date
  /** All that was spent in the window until then, in millionths. */
  readonly amount: bigint
}

/** What takes from a budget, and what gives back. Amounts of the ledger are negative where something leaves it. */
const COUNTS: ReadonlySet<CreditTransaction['type']> = new Set(['capture', 'charge', 'refund'])

type Subject = Pick<Budget, 'subjectType' | 'subjectId'>

/** Whose purchase it was decides which budgets it counts in; the organisation's count everything. */
function countsFor({ subjectType, subjectId }: Subject, licenses: readonly License[]) {
  if (subjectType === 'org') return () => true
  const own = licenses.filter(({ buyer, domainTenantId }) =>
    subjectType === 'tenant' ? domainTenantId === subjectId : buyer === `${subjectType}:${subjectId}`,
  )
  const ids = new Set(own.flatMap(({ purchaseId, licenseInstanceId }) => [purchaseId, licenseInstanceId]))
  return ({ ref }: CreditTransaction): boolean => ids.has(ref.id)
}

interface Counted {
  readonly subject: Subject
  readonly window: Pick<ActiveWindow, 'startsAt' | 'spent'>
  readonly transactions: readonly CreditTransaction[]
  readonly licenses: readonly License[]
  readonly now: Date
}

/** From the beginning of the window until now. It ends at what the server counts, also where a movement cannot be told apart. */
export function spendSteps({ subject, window, transactions, licenses, now }: Counted): readonly SpendStep[] {
  const start = new Date(window.startsAt)
  const counts = countsFor(subject, licenses)
  const own = transactions
    .filter((one) => COUNTS.has(one.type) && counts(one) && new Date(one.occurredAt) >= start)
    .sort((a, b) => a.occurredAt.localeCompare(b.occurredAt))
  let amount = 0n
  const steps = own.map(({ occurredAt, amount: moved }): SpendStep => {
    amount -= BigInt(moved.amount)
    return { at: new Date(occurredAt), amount }
  })
  return [{ at: start, amount: 0n }, ...steps, { at: now, amount: BigInt(window.spent.amount) }]
}
