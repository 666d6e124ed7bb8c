import type { Vault } from '@strongroom/sdk'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { FilterField } from '../../ui/filter.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { ArchiveVaultsForm } from './archive-vaults-form.tsx'
import { ImportEnvForm } from './import-env-form.tsx'
import { NewVaultForm } from './new-vault-form.tsx'
import { holderCountQuery, vaultChangesQuery, vaultsQuery } from './queries.ts'
import { selectColumn, useSelection } from './selection.tsx'
import { VAULTS_TABS } from './vaults-tabs.ts'

interface Row extends Vault {
  /** How many can decrypt it; undefined until the server has said so. */
  readonly holders: number | undefined
  readonly changedAt: string | undefined
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Vault',
    grows: true,
    sort: ({ name }) => name,
    cell: ({ vaultId, name }) => (
      <Link to="/vaults/$vaultId" params={{ vaultId }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'class',
    header: 'Classification',
    sort: ({ classification }) => classification,
    cell: ({ classification }) => classification,
  },
  {
    id: 'items',
    header: 'Items',
    align: 'right',
    sort: ({ itemCount }) => itemCount,
    cell: ({ itemCount }) => itemCount,
  },
  {
    id: 'holders',
    header: 'Can decrypt',
    align: 'right',
    sort: ({ holders = 0 }) => holders,
    cell: ({ vaultId, holders }) =>
      holders === undefined ? (
        <span className="text-ink-3">–</span>
      ) : (
        <Link to="/vaults/$vaultId/keys" params={{ vaultId }}>
          {holders}
        </Link>
      ),
  },
  {
    id: 'changed',
    header: 'Last change',
    sort: ({ changedAt = '' }) => changedAt,
    cell: ({ changedAt }) => (changedAt === undefined ? '' : <When at={changedAt} />),
  },
  {
    id: 'role',
    header: 'Your role',
    sort: ({ role }) => role ?? '',
    cell: ({ role }) => role?.toLowerCase() ?? 'none',
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ status, rotationDue }) =>
      rotationDue ? (
        <Status tone="warn">rotate its key</Status>
      ) : (
        <Status tone={status === 'active' ? 'good' : 'quiet'}>{status}</Status>
      ),
  },
]

/** One request for each vault: beyond this many the number is left to the vault's own page. */
const COUNTED = 40

function useRows(vaults: readonly Vault[] | undefined): readonly Row[] {
  const { client } = useOpenSession()
  const { data: changes } = useQuery(vaultChangesQuery(client))
  const active = (vaults ?? []).filter(({ status }) => status === 'active')
  const counted = active.length > COUNTED ? [] : active
  const counts = useQueries({ queries: counted.map(({ vaultId }) => holderCountQuery(client, vaultId)) })
  const holders = new Map(counted.map(({ vaultId }, at) => [vaultId, counts[at]?.data]))
  return (vaults ?? []).map((vault) => ({
    ...vault,
    holders: holders.get(vault.vaultId),
    changedAt: changes?.get(vault.vaultId),
  }))
}

const isArchivable = ({ role, status }: Vault): boolean => role === 'ADMIN' && status === 'active'

export function VaultsPage() {
  const { strongroom } = useOpenSession()
  const vaults = useQuery(vaultsQuery(strongroom))
  const rows = useRows(vaults.data)
  const { filter = '' } = useSearch({ from: '/vaults' })
  const navigate = useNavigate()
  const [open, setOpen] = useState<'new' | 'archive'>()
  const { ids, toggle, clear } = useSelection()
  const columns = useMemo(
    () => [
      selectColumn<Row>({ ids, toggle }, ({ vaultId, name }) => ({ id: vaultId, name }), isArchivable),
      ...COLUMNS,
    ],
    [ids, toggle],
  )
  const shown = rows.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()))
  const chosen = rows.filter((vault) => ids.has(vault.vaultId) && isArchivable(vault))
  return (
    <Page
      title="Vaults"
      tabs={VAULTS_TABS}
      actions={
        <Button kind="primary" onClick={() => setOpen('new')}>
          New vault
        </Button>
      }
    >
      <Answer of={vaults} what="vaults">
        {(all) =>
          all.length === 0 ? (
            <>
              <Empty title="Create a vault or import a .env">
                <p>
                  A vault is what is shared: whoever may open it holds its key. Values are encrypted here, before they
                  leave.
                </p>
              </Empty>
              <ImportEnvForm />
            </>
          ) : (
            <>
              <FilterField
                label="Filter vaults"
                value={filter}
                onChange={(text) =>
                  void navigate({ to: '/vaults', search: text === '' ? {} : { filter: text }, replace: true })
                }
              />
              {chosen.length > 0 && (
                <div className="flex flex-wrap items-center gap-2 border-b border-rule bg-raised px-6 py-2">
                  <span role="status">{chosen.length} selected</span>
                  <Button onClick={() => setOpen('archive')}>Archive</Button>
                  <Button kind="quiet" onClick={clear}>
                    Select none
                  </Button>
                </div>
              )}
              <Table
                label="Vaults"
                rows={shown}
                columns={columns}
                keyOf={({ vaultId }) => vaultId}
                sortedBy={{ id: 'name' }}
              />
              {shown.length === 0 && <p className="px-6 py-4 text-ink-2">No vault has that in its name.</p>}
            </>
          )
        }
      </Answer>
      <NewVaultForm open={open === 'new'} onClose={() => setOpen(undefined)} />
      {open === 'archive' && (
        <ArchiveVaultsForm
          vaults={chosen}
          onClose={() => {
            setOpen(undefined)
            clear()
          }}
        />
      )}
    </Page>
  )
}
