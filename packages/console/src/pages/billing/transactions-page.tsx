import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { saveCsv } from '../../plot/twin.tsx'
import { useStrongroom } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { decimalOf } from '../../ui/decimal.ts'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty, ProblemNote } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { BILLING_TABS } from './billing-tabs.ts'
import { transactionsQuery } from './queries.ts'
import { TRANSACTION_COLUMNS } from './transaction-columns.tsx'

function useCsv() {
  const strongroom = useStrongroom()
  return useMutation({
    mutationFn: async () => {
      const all = await strongroom.billing.transactions().all()
      saveCsv('transactions', {
        columns: ['time', 'type', 'amount', 'currency', 'available after', 'posted after', 'for', 'id'],
        rows: all.map((one) => [
          one.occurredAt,
          one.type,
          decimalOf(one.amount),
          one.amount.currency,
          decimalOf(one.availableAfter),
          decimalOf(one.balanceAfter),
          `${one.ref.type} ${one.ref.id}`,
          one.id,
        ]),
      })
    },
  })
}

function Pager({ page, pages, total }: { readonly page: number; readonly pages: number; readonly total: number }) {
  const link = (to: number, label: string) =>
    to < 1 || to > pages ? (
      <span aria-hidden="true" className={`${buttonClasses('quiet')} opacity-50`}>
        {label}
      </span>
    ) : (
      <Link to="/billing/transactions" search={{ page: String(to) }} className={buttonClasses('quiet')}>
        {label}
      </Link>
    )
  return (
    <nav aria-label="Pages" className="flex flex-wrap items-center gap-2 px-6 py-3">
      {link(page - 1, 'Newer')}
      <span>
        Page {page} of {pages}, {total} in all
      </span>
      {link(page + 1, 'Older')}
    </nav>
  )
}

export function TransactionsPage() {
  const search = useSearch({ from: '/billing/transactions' })
  const page = Math.max(1, Number.parseInt(search.page ?? '1', 10) || 1)
  const transactions = useQuery(transactionsQuery(useStrongroom(), page))
  const csv = useCsv()
  return (
    <Page
      title="Budgets &amp; billing"
      tabs={BILLING_TABS}
      actions={
        <Button busy={csv.isPending} onClick={() => csv.mutate()}>
          Save all as CSV
        </Button>
      }
    >
      {csv.error && <ProblemNote error={csv.error} />}
      <Answer of={transactions} what="the movements of the credit">
        {({ data, total, pages }) =>
          total === 0 ? (
            <Empty title="Nothing has moved yet" cli="strongroom billing transactions">
              <p>What is paid in, held, taken and given back stands here, each with what was left after it.</p>
            </Empty>
          ) : (
            <>
              <Table label="Transactions" rows={data} columns={TRANSACTION_COLUMNS} keyOf={({ id }) => id} />
              {pages > 1 && <Pager page={page} pages={pages} total={total} />}
            </>
          )
        }
      </Answer>
    </Page>
  )
}
