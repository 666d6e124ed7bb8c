import type { License } from '@strongroom/contract'
import type { Purchase } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { buttonClasses } from '../../ui/button.tsx'
import { FilterField } from '../../ui/filter.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty, NotKnown } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { useNames } from '../vaults/principals.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import { LicenseStatus, Price, PURCHASE_WORDS } from './license-words.tsx'
import { licensesQuery, underWayQuery } from './queries.ts'
import { TestCredit } from './test-credit.tsx'

function Renews({ of: { status, term, periodEnd, terminatedAt } }: { readonly of: License }) {
  if (terminatedAt !== null)
    return (
      <span className="text-ink-3">
        ended <When at={terminatedAt} />
      </span>
    )
  if (periodEnd === null) return <span className="text-ink-3">{term === 'once' ? 'does not expire' : ''}</span>
  return (
    <span>
      {status === 'terminating' ? 'ends ' : ''}
      <When at={periodEnd} />
    </span>
  )
}

function useColumns(): readonly Column<License>[] {
  const names = useNames()
  const { data: vaults } = useQuery(vaultsQuery(useStrongroom()))
  return useMemo(() => {
    const vaultNames = vaults && new Map(vaults.map(({ vaultId, name }) => [vaultId, name]))
    const columns: readonly Column<License>[] = [
      {
        id: 'name',
        header: 'Licence',
        grows: true,
        sort: ({ name }) => name,
        cell: ({ purchaseId, name, quantity }) => (
          <span>
            <Link to="/licenses/purchases/$purchaseId" params={{ purchaseId }}>
              {name}
            </Link>
            {quantity > 1 && <span className="text-ink-3"> × {quantity}</span>}
          </span>
        ),
      },
      {
        id: 'item',
        header: 'Vault item',
        cell: ({ vaultId, itemId }) =>
          vaultId === null || itemId === null ? (
            <span className="text-ink-3">none yet</span>
          ) : (
            <Link to="/vaults/$vaultId" params={{ vaultId }} search={{ item: itemId }}>
              {vaultNames ? (vaultNames.get(vaultId) ?? 'a vault you do not see') : <NotKnown />}
            </Link>
          ),
      },
      { id: 'state', header: 'State', sort: ({ status }) => status, cell: (license) => <LicenseStatus of={license} /> },
      { id: 'price', header: 'Price', align: 'right', cell: (license) => <Price of={license} /> },
      { id: 'buyer', header: 'Bought by', sort: ({ buyer }) => names(buyer), cell: ({ buyer }) => names(buyer) },
      {
        id: 'renews',
        header: 'Renews',
        sort: ({ periodEnd }) => periodEnd ?? '',
        cell: (license) => <Renews of={license} />,
      },
    ]
    return columns
  }, [names, vaults])
}

const UNDER_WAY: readonly Column<Purchase>[] = [
  {
    id: 'name',
    header: 'Purchase',
    grows: true,
    cell: ({ id, name }) => (
      <Link to="/licenses/purchases/$purchaseId" params={{ purchaseId: id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ state, failure }) => (
      <span className="flex flex-wrap gap-x-2">
        <Status tone={PURCHASE_WORDS[state].tone}>{PURCHASE_WORDS[state].word}</Status>
        {failure && <span className="text-ink-2">{failure.code.replaceAll('_', ' ')}</span>}
      </span>
    ),
  },
  { id: 'price', header: 'Price', align: 'right', cell: (purchase) => <Price of={purchase} /> },
  { id: 'since', header: 'Since', cell: ({ history }) => <When at={history[0]?.at} /> },
]

function UnderWay() {
  const { data = [] } = useQuery(underWayQuery(useStrongroom()))
  if (data.length === 0) return null
  return (
    <section aria-labelledby="under-way" className="border-b border-rule pb-4">
      <h2 id="under-way" className="px-6 pt-4 pb-1 text-dialog">
        Under way
      </h2>
      <Table label="Purchases under way" rows={data} columns={UNDER_WAY} keyOf={({ id }) => id} />
    </section>
  )
}

export function LicensesPage() {
  const licenses = useQuery(licensesQuery(useStrongroom()))
  const { filter = '' } = useSearch({ from: '/licenses' })
  const navigate = useNavigate()
  const columns = useColumns()
  const wanted = filter.toLowerCase()
  return (
    <Page
      title="Licences"
      actions={
        <Link to="/licenses/buy" className={buttonClasses('primary')}>
          Buy a licence
        </Link>
      }
    >
      <UnderWay />
      <Answer of={licenses} what="licences">
        {(all) => {
          const shown = all.filter(({ name, licenseId }) => `${name} ${licenseId}`.toLowerCase().includes(wanted))
          return all.length === 0 ? (
            <Empty
              title="Licences your organisation buys appear here"
              cli="strongroom license buy sandbox-monthly --vault new:mailer"
            >
              <p>
                A licence is bought with credit and within budgets. Its credential comes sealed to your key and is
                encrypted into a vault in this browser.
              </p>
              <p>
                Try it with the sandbox, which opens nothing and costs nobody money:{' '}
                <Link to="/licenses/buy" search={{ search: 'sandbox' }}>
                  search for it
                </Link>
                .
              </p>
              <TestCredit />
            </Empty>
          ) : (
            <>
              <FilterField
                label="Filter licences"
                value={filter}
                onChange={(text) =>
                  void navigate({ to: '/licenses', search: text === '' ? {} : { filter: text }, replace: true })
                }
              />
              <Table
                label="Licences"
                rows={shown}
                columns={columns}
                keyOf={({ licenseInstanceId }) => licenseInstanceId}
                sortedBy={{ id: 'name' }}
              />
              {shown.length === 0 && <p className="px-6 py-4 text-ink-2">No licence has that in its name.</p>}
            </>
          )
        }}
      </Answer>
    </Page>
  )
}
