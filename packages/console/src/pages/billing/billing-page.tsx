import type { Balance } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useStrongroom } from '../../session/session.ts'
import { buttonClasses } from '../../ui/button.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { TestCredit } from '../licenses/test-credit.tsx'
import { BILLING_TABS } from './billing-tabs.ts'
import { moneyText } from './money.tsx'
import { balanceQuery, budgetsQuery, readinessQuery, transactionsQuery } from './queries.ts'
import { ReadinessList } from './readiness-list.tsx'
import { SpendLine } from './spend-line.tsx'
import { TRANSACTION_COLUMNS } from './transaction-columns.tsx'

const LATEST = 6

const FIGURES: readonly (readonly [keyof Balance, label: string, says: string])[] = [
  ['available', 'Available', 'What a purchase could spend now.'],
  ['held', 'Held', 'For purchases under way; it is taken or given back.'],
  ['incoming', 'Incoming', 'Seen on the chain, not confirmed: not to be spent yet.'],
  ['posted', 'Posted', 'Paid in and not spent, with what is held.'],
]

function Figures({ balance }: { readonly balance: Balance }) {
  return (
    <dl className="grid border-b border-rule sm:grid-cols-2 lg:grid-cols-4">
      {FIGURES.map(([member, label, says], at) => (
        <div
          key={member}
          className="grid content-start gap-0.5 border-rule px-6 py-4 not-last:border-b sm:not-last:border-b-0 lg:not-last:border-r"
        >
          <dt className="text-label text-ink-3">{label}</dt>
          <dd className="grid gap-0.5">
            <span className={at === 0 ? 'text-figure font-[550] text-money' : 'text-title text-money'}>
              {moneyText(balance[member])}
            </span>
            <span className="text-label text-ink-3">{says}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Ready() {
  const readiness = useQuery(readinessQuery(useStrongroom()))
  return (
    <Section
      title="Ready to buy"
      actions={
        readiness.data && (
          <Status tone={readiness.data.ready ? 'good' : 'warn'}>
            {readiness.data.ready ? 'you could buy now' : 'something is missing'}
          </Status>
        )
      }
    >
      <Answer of={readiness} what="whether you could buy">
        {(found) => (
          <div className="grid gap-3">
            <ReadinessList of={found} />
            {found.checks.some(({ code, ok }) => code === 'credit_available' && !ok) && <TestCredit />}
          </div>
        )}
      </Answer>
    </Section>
  )
}

/** The budget of the whole organisation, month by month; without one there is no pace to hold the line against. */
function ThisMonth() {
  const { data: budgets = [] } = useQuery(budgetsQuery(useStrongroom()))
  const found = budgets
    .filter(({ subjectType, status }) => subjectType === 'org' && status === 'active')
    .flatMap((budget) => budget.activeWindows.map((window) => ({ budget, window })))
    .find(({ window }) => window.kind === 'monthly')
  if (!found) return null
  return (
    <Section title="Spent this month" actions={<Link to="/billing/budgets">All budgets</Link>}>
      <SpendLine name={`Spent this month, in ${found.window.limit.currency}`} {...found} />
    </Section>
  )
}

function Latest() {
  const latest = useQuery(transactionsQuery(useStrongroom(), 1, LATEST))
  return (
    <section aria-labelledby="latest-movements">
      <div className="flex flex-wrap items-center justify-between gap-3 px-6 pt-5 pb-2">
        <h2 id="latest-movements" className="text-dialog">
          Latest movements
        </h2>
        <Link to="/billing/transactions">All transactions</Link>
      </div>
      <Answer of={latest} what="the movements of the credit">
        {({ data }) =>
          data.length === 0 ? (
            <p className="px-6 py-2 text-ink-2">Nothing was paid in and nothing was spent.</p>
          ) : (
            <Table label="Latest movements" rows={data} columns={TRANSACTION_COLUMNS} keyOf={({ id }) => id} />
          )
        }
      </Answer>
    </section>
  )
}

export function BillingPage() {
  const balance = useQuery(balanceQuery(useStrongroom()))
  return (
    <Page
      title="Budgets &amp; billing"
      tabs={BILLING_TABS}
      actions={
        <>
          <Link to="/licenses/buy" className={buttonClasses()}>
            Buy a licence
          </Link>
          <Link to="/billing/funding" search={{ intent: 'new' }} className={buttonClasses('primary')}>
            Pay credit in
          </Link>
        </>
      }
    >
      <Answer of={balance} what="the credit of the organisation">
        {(found) => (
          <>
            <Figures balance={found} />
            <ThisMonth />
            <Ready />
            <Latest />
          </>
        )}
      </Answer>
    </Page>
  )
}
