import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { FilterField } from '../../ui/filter.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { NewVaultForm } from './new-vault-form.tsx'
import { vaultsQuery } from './queries.ts'

const COLUMNS: readonly Column<Vault>[] = [
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

export function VaultsPage() {
  const vaults = useQuery(vaultsQuery(useStrongroom()))
  const { filter = '' } = useSearch({ from: '/vaults' })
  const navigate = useNavigate()
  const [isNew, setNew] = useState(false)
  const shown = (all: readonly Vault[]): readonly Vault[] =>
    all.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()))
  return (
    <Page
      title="Vaults"
      actions={
        <Button kind="primary" onClick={() => setNew(true)}>
          New vault
        </Button>
      }
    >
      <Answer of={vaults} what="vaults">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Create a vault or import a .env" cli="strongroom import dotenv .env --vault prod">
              <p>
                A vault is what is shared: whoever may open it holds its key. Values are encrypted here, before they
                leave.
              </p>
            </Empty>
          ) : (
            <>
              <FilterField
                label="Filter vaults"
                value={filter}
                onChange={(text) =>
                  void navigate({ to: '/vaults', search: text === '' ? {} : { filter: text }, replace: true })
                }
              />
              <Table
                label="Vaults"
                rows={shown(all)}
                columns={COLUMNS}
                keyOf={({ vaultId }) => vaultId}
                sortedBy={{ id: 'name' }}
              />
            </>
          )
        }
      </Answer>
      <NewVaultForm open={isNew} onClose={() => setNew(false)} />
    </Page>
  )
}
