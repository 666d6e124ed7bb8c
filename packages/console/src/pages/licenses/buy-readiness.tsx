import type { Budget, Money } from '@strongroom/contract'
import { money } from '@strongroom/contract'
import type { Offer } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useOpenSession } from '../../session/session.ts'
import { Answer, Skeleton } from '../../ui/states.tsx'
import { useSubjects } from '../billing/budget-subjects.ts'
import { windowWords } from '../billing/budget-windows.ts'
import { moneyText } from '../billing/money.tsx'
import { balanceQuery, budgetsQuery, readinessQuery } from '../billing/queries.ts'
import { ReadinessList } from '../billing/readiness-list.tsx'
import { TestCredit } from './test-credit.tsx'

const less = (from: Money, by: Money): Money => money(BigInt(from.amount) - BigInt(by.amount))

function After({ label, before, price }: { readonly label: string; readonly before: Money; readonly price: Money }) {
  const after = less(before, price)
  const isShort = after.amount.startsWith('-')
  return (
    <li className="flex min-h-8 flex-wrap items-baseline justify-between gap-x-4 border-b border-rule py-1.5">
      <span>{label}</span>
      <span className={isShort ? 'text-danger' : ''}>
        {isShort
          ? `${moneyText(before)} left: ${moneyText(less(price, before))} too little`
          : `${moneyText(before)} → ${moneyText(after)}`}
      </span>
    </li>
  )
}

/** Those of the caller and of the organisation; of tenants the server decides. */
const bindsCaller = ({ subjectType, subjectId, status, enforcement }: Budget, userId: string): boolean =>
  status === 'active' &&
  enforcement === 'hard' &&
  (subjectType === 'org' || (subjectType === 'user' && subjectId === userId))

/** What the purchase would do to the credit and to each budget, and what is in its way. */
export function BuyReadiness({ offer: { price } }: { readonly offer: Offer }) {
  const { strongroom, person } = useOpenSession()
  const readiness = useQuery(readinessQuery(strongroom))
  const { data: balance } = useQuery(balanceQuery(strongroom))
  const { data: budgets = [] } = useQuery(budgetsQuery(strongroom))
  const { subjectOf } = useSubjects()
  return (
    <aside aria-label="Before you buy" className="grid content-start gap-5 border-rule lg:border-l lg:pl-10">
      <section className="grid gap-1">
        <h2 className="text-dialog">Credit and budgets</h2>
        <ul>
          {balance && <After label="Credit" before={balance.available} price={price} />}
          {budgets
            .filter((budget) => bindsCaller(budget, person.userId))
            .flatMap((budget) =>
              budget.activeWindows.map((window) => (
                <After
                  key={window.windowId}
                  label={`${subjectOf(budget).name}, ${windowWords(window, new Date())}`}
                  before={window.remaining}
                  price={price}
                />
              )),
            )}
        </ul>
      </section>
      <section className="grid gap-2">
        <h2 className="text-dialog">Ready to buy</h2>
        <Answer of={readiness} what="whether you could buy" loading={<Skeleton rows={4} />}>
          {(found) => (
            <>
              <ReadinessList of={found} />
              {found.checks.some(({ code, ok }) => code === 'credit_available' && !ok) && <TestCredit />}
            </>
          )}
        </Answer>
      </section>
    </aside>
  )
}
