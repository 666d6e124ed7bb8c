import type { ItemSummary } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FilterField } from '../../ui/filter.tsx'
import { Page } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { itemsQuery, vaultQuery } from './queries.ts'
import { vaultTabs } from './vault-tabs.ts'

const columnsIn = (vaultId: string): readonly Column<ItemSummary>[] => [
  {
    id: 'name',
    header: 'Item',
    sort: ({ name }) => name,
    cell: ({ itemId, name }) => (
      <Link to="/vaults/$vaultId" params={{ vaultId }} search={(before) => ({ ...before, item: itemId })}>
        {name}
      </Link>
    ),
  },
  { id: 'labels', header: 'Environment fields', grows: true, cell: ({ labels }) => <code>{labels.join('  ')}</code> },
  { id: 'website', header: 'Website', sort: ({ website }) => website, cell: ({ website }) => website },
  { id: 'version', header: 'Version', align: 'right', sort: ({ version }) => version, cell: ({ version }) => version },
]

export function VaultItemsPage() {
  const { vaultId } = useParams({ from: '/vaults/$vaultId' })
  const { filter = '', item } = useSearch({ from: '/vaults/$vaultId' })
  const strongroom = useStrongroom()
  const navigate = useNavigate()
  const vault = useQuery(vaultQuery(strongroom, vaultId))
  const items = useQuery(itemsQuery(strongroom, vaultId))
  const columns = useMemo(() => columnsIn(vaultId), [vaultId])
  const shown = (all: readonly ItemSummary[]): readonly ItemSummary[] => {
    const text = filter.toLowerCase()
    return all.filter(({ name, labels }) => `${name} ${labels.join(' ')}`.toLowerCase().includes(text))
  }
  const receipt = vault.data?.receipt
  return (
    <Page
      title={vault.data?.name ?? 'Vault'}
      beside={
        receipt && (
          <Seal
            root={receipt.checkpoint.rootHash}
            says={`Verified here: version ${receipt.headVersion}, in a log of ${receipt.checkpoint.treeSize} entries`}
          />
        )
      }
      tabs={vaultTabs(vaultId)}
    >
      <Answer of={items} what="this vault">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing in it yet" cli={`strongroom set sr://${vault.data?.name ?? 'vault'}/app/API_KEY`}>
              <p>Paste a .env, or add an item. Values are encrypted in this page.</p>
            </Empty>
          ) : (
            <>
              <FilterField
                label="Filter items"
                value={filter}
                onChange={(text) =>
                  void navigate({
                    to: '/vaults/$vaultId',
                    params: { vaultId },
                    search: ({ filter: _, ...before }) => (text === '' ? before : { ...before, filter: text }),
                    replace: true,
                  })
                }
              />
              <Table
                label="Items"
                rows={shown(all)}
                columns={columns}
                keyOf={({ itemId }) => itemId}
                sortedBy={{ id: 'name' }}
                current={item}
              />
            </>
          )
        }
      </Answer>
    </Page>
  )
}
