import type { FundingIntent } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useStrongroom } from '../../session/session.ts'
import { buttonClasses } from '../../ui/button.tsx'
import { MonoId } from '../../ui/copy.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { TestCredit } from '../licenses/test-credit.tsx'
import { BILLING_TABS } from './billing-tabs.ts'
import { FundingDrawer } from './funding-drawer.tsx'
import { FUNDING_WORDS } from './funding-words.ts'
import { MoneyAmount } from './money.tsx'
import { NewFundingForm } from './new-funding-form.tsx'
import { intentsQuery } from './queries.ts'

const COLUMNS: readonly Column<FundingIntent>[] = [
  {
    id: 'when',
    header: 'Asked for',
    grows: true,
    sort: ({ createdAt }) => createdAt,
    cell: ({ intentId, createdAt }) => (
      <Link to="/billing/funding" search={{ intent: intentId }}>
        <When at={createdAt} />
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ status }) => <Status tone={FUNDING_WORDS[status].tone}>{FUNDING_WORDS[status].word}</Status>,
  },
  { id: 'credited', header: 'Credited', align: 'right', cell: ({ credited }) => <MoneyAmount of={credited} /> },
  { id: 'target', header: 'Aimed at', align: 'right', cell: ({ target }) => <MoneyAmount of={target} /> },
  { id: 'asset', header: 'In', cell: ({ asset }) => asset.symbol },
  { id: 'address', header: 'Address', cell: ({ address }) => <MonoId id={address} /> },
  { id: 'until', header: 'Waits until', cell: ({ expiresAt }) => <When at={expiresAt} /> },
]

export function FundingPage() {
  const intents = useQuery(intentsQuery(useStrongroom()))
  const { intent } = useSearch({ from: '/billing/funding' })
  const navigate = useNavigate()
  const close = (): void => void navigate({ to: '/billing/funding', search: {} })
  return (
    <Page
      title="Budgets &amp; billing"
      tabs={BILLING_TABS}
      actions={
        <Link to="/billing/funding" search={{ intent: 'new' }} className={buttonClasses('primary')}>
          Pay credit in
        </Link>
      }
    >
      <Answer of={intents} what="what is paid in">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing was asked to be paid in" cli="strongroom billing fund 25">
              <p>
                Credit is paid in with stablecoins: you get an address of its own, a wallet pays there, and whatever is
                confirmed is credited.
              </p>
              <TestCredit />
            </Empty>
          ) : (
            <Table
              label="Payments"
              rows={all}
              columns={COLUMNS}
              keyOf={({ intentId }) => intentId}
              sortedBy={{ id: 'when', desc: true }}
              current={intent}
            />
          )
        }
      </Answer>
      {intent === 'new' && <NewFundingForm onClose={close} />}
      {intent !== undefined && intent !== 'new' && <FundingDrawer intentId={intent} onClose={close} />}
    </Page>
  )
}
