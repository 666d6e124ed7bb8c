import { shellLine } from '@strongroom/contract'
import type { ItemSummary } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { FilterField } from '../../ui/filter.tsx'
import { sortedNames } from '../../ui/name-order.ts'
import { Answer, Empty } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { ArchiveItemsForm } from './archive-items-form.tsx'
import { ArchivedItemsForm } from './archived-items-form.tsx'
import { ItemDrawer } from './item-drawer.tsx'
import { MoveItemsForm } from './move-items-form.tsx'
import { NewItemForm } from './new-item-form.tsx'
import { PasteEnvForm } from './paste-env-form.tsx'
import { useNames } from './principals.ts'
import { itemsQuery, vaultQuery } from './queries.ts'
import { type Reads, readsQuery } from './reads.ts'
import { type Selection, selectColumn, useSelection } from './selection.tsx'
import { VaultFrame } from './vault-frame.tsx'

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
  {
    id: 'labels',
    header: 'Environment fields',
    grows: true,
    cell: ({ labels }) => (
      <code className="max-sm:break-all" title={labels.join(', ')}>
        {sortedNames(labels).join('  ')}
      </code>
    ),
  },
  {
    id: 'website',
    header: 'Website',
    sort: ({ website }) => website,
    cell: ({ website }) => <span className="max-sm:break-all">{website}</span>,
  },
  { id: 'version', header: 'Version', align: 'right', sort: ({ version }) => version, cell: ({ version }) => version },
]

/** Who read it last, in the newest audit events. */
const readColumn = (reads: Reads, nameOf: (principal: string) => string): Column<ItemSummary> => ({
  id: 'read',
  header: 'Last read',
  cell: ({ itemId, labels }) => {
    const [latest] = reads.ofItem(itemId, labels.length > 0)
    if (!latest) return <span className="text-ink-3">not lately</span>
    return (
      <span>
        <When at={latest.at} /> <span className="text-ink-3">by {nameOf(latest.who)}</span>
      </span>
    )
  },
})

interface ChosenMembers {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly items: readonly ItemSummary[]
  readonly selection: Selection
}

/** What can be done with the items that are ticked. */
function ChosenItems({ vault, items, selection }: ChosenMembers) {
  const [asked, setAsked] = useState<'move' | 'archive'>()
  const chosen = items.filter(({ itemId }) => selection.ids.has(itemId))
  if (chosen.length === 0) return null
  const place = { vault, items: chosen, onClose: () => setAsked(undefined) }
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-rule bg-raised px-6 py-2">
      <span role="status">{chosen.length} selected</span>
      <Button onClick={() => setAsked('move')}>Move</Button>
      <Button onClick={() => setAsked('archive')}>Archive</Button>
      <Button kind="quiet" onClick={selection.clear}>
        Select none
      </Button>
      {asked === 'move' && <MoveItemsForm {...place} onMoved={selection.clear} />}
      {asked === 'archive' && <ArchiveItemsForm {...place} onDone={selection.clear} />}
    </div>
  )
}

export function VaultItemsPage() {
  const { vaultId } = useParams({ from: '/vaults/$vaultId' })
  const { filter = '', item } = useSearch({ from: '/vaults/$vaultId' })
  const strongroom = useStrongroom()
  const navigate = useNavigate()
  const { data: vault } = useQuery(vaultQuery(strongroom, vaultId))
  const items = useQuery(itemsQuery(strongroom, vaultId))
  const [open, setOpen] = useState<'new' | 'paste' | 'archived'>()
  const selection = useSelection()
  const { ids, toggle } = selection
  const place = { vaultId, name: vault?.name ?? 'vault' }
  const canWrite = vault?.status === 'active' && vault.role !== null && vault.role !== 'READ'
  const { data: reads } = useQuery(readsQuery(strongroom, vaultId))
  const nameOf = useNames()
  const columns = useMemo(() => {
    const select = selectColumn<ItemSummary>({ ids, toggle }, ({ itemId, name }) => ({ id: itemId, name }))
    const read = reads === undefined ? [] : [readColumn(reads, nameOf)]
    return [...(canWrite ? [select] : []), ...columnsIn(vaultId), ...read]
  }, [vaultId, canWrite, ids, toggle, reads, nameOf])
  const shown = useMemo(() => {
    const text = filter.toLowerCase()
    return (items.data ?? []).filter(({ name, labels }) => `${name} ${labels.join(' ')}`.toLowerCase().includes(text))
  }, [items.data, filter])
  const search = (change: { filter?: string | undefined; item?: string | undefined }, replace: boolean): void =>
    void navigate({
      to: '/vaults/$vaultId',
      params: { vaultId },
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, ...change }).filter(([, text]) => text !== undefined && text !== ''),
        ),
      replace,
    })
  const close = (): void => setOpen(undefined)
  return (
    <VaultFrame
      vaultId={vaultId}
      actions={
        canWrite && (
          <>
            <Button kind="quiet" onClick={() => setOpen('archived')}>
              Archived items
            </Button>
            <Button onClick={() => setOpen('paste')} disabled={items.data === undefined}>
              Paste a .env
            </Button>
            <Button kind="primary" onClick={() => setOpen('new')}>
              New item
            </Button>
          </>
        )
      }
    >
      <Answer of={items} what="this vault">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing in it yet" cli={shellLine`strongroom set ${`${place.name}/app/API_KEY`}`}>
              <p>Paste a .env, or add an item. Values are encrypted in this page.</p>
            </Empty>
          ) : (
            <>
              <FilterField label="Filter items" value={filter} onChange={(text) => search({ filter: text }, true)} />
              <ChosenItems vault={place} items={all} selection={selection} />
              <Table
                label="Items"
                rows={shown}
                columns={columns}
                keyOf={({ itemId }) => itemId}
                sortedBy={{ id: 'name' }}
                current={item}
              />
              {shown.length === 0 && <p className="px-6 py-4 text-ink-2">No item has that in its name or labels.</p>}
            </>
          )
        }
      </Answer>
      {open === 'archived' && <ArchivedItemsForm vault={place} onClose={close} />}
      {open === 'new' && <NewItemForm vault={place} onClose={close} />}
      {open === 'paste' && <PasteEnvForm vault={place} items={items.data ?? []} onClose={close} />}
      {item !== undefined && (
        <ItemDrawer
          key={item}
          vault={place}
          itemId={item}
          canWrite={canWrite}
          onClose={() => search({ item: undefined }, false)}
        />
      )}
    </VaultFrame>
  )
}
