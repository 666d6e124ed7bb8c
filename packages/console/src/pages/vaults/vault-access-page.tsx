import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type AccessRow, accessRows } from './access-rows.ts'
import { ROLE_WORDS } from './access-words.ts'
import { ExplainAccess } from './explain-access.tsx'
import { GrantAccessForm } from './grant-access-form.tsx'
import { useNames } from './principals.ts'
import { accessQuery, vaultQuery } from './queries.ts'
import { RevokeAccessForm } from './revoke-access-form.tsx'
import { VaultFrame } from './vault-frame.tsx'

function Match({ row: { role, keyIds } }: { readonly row: AccessRow }) {
  if (role === null) return <Status tone="bad">has a key, no role</Status>
  if (keyIds.length === 0) return <Status tone="warn">has a role, no key</Status>
  return <Status tone="good">can decrypt</Status>
}

type Asked = { readonly what: 'grant' } | { readonly what: 'role' | 'revoke' | 'explain'; readonly row: AccessRow }

const columnsFor = (canShare: boolean, ask: (asked: Asked) => void): readonly Column<AccessRow>[] => [
  { id: 'who', header: 'Who', grows: true, sort: ({ name }) => name, cell: ({ name }) => name },
  { id: 'kind', header: 'Kind', sort: ({ kind }) => kind, cell: ({ kind }) => kind },
  { id: 'role', header: 'Role', sort: ({ role }) => role ?? '', cell: ({ role }) => role?.toLowerCase() ?? 'none' },
  { id: 'keys', header: 'Keys', align: 'right', cell: ({ keyIds }) => keyIds.length },
  { id: 'match', header: 'List and keys', cell: (row) => <Match row={row} /> },
  {
    id: 'actions',
    header: 'Actions',
    cell: (row) => (
      <span className="-ml-3 inline-flex">
        <Button kind="quiet" aria-label={`Explain ${row.name}`} onClick={() => ask({ what: 'explain', row })}>
          Explain
        </Button>
        {canShare && row.role !== null && (
          <Menu
            trigger={
              <button type="button" aria-label={`Change ${row.name}`} className={buttonClasses('quiet')}>
                Change
              </button>
            }
            choices={[
              { label: 'Another role', onChoose: () => ask({ what: 'role', row }) },
              { label: 'Revoke', isDanger: true, onChoose: () => ask({ what: 'revoke', row }) },
            ]}
          />
        )}
      </span>
    ),
  },
]

/** Where the signed list and the wrapped keys disagree, in words. */
function Mismatches({ rows }: { readonly rows: readonly AccessRow[] }) {
  const [extra, without] = [
    rows.filter(({ role }) => role === null),
    rows.filter(({ role, keyIds }) => role !== null && keyIds.length === 0),
  ]
  const names = (some: readonly AccessRow[]): string => some.map(({ name }) => name).join(', ')
  if (extra.length + without.length === 0) return null
  return (
    <div role="status" className="grid gap-1 border-b border-rule bg-raised px-6 py-2">
      {extra.length > 0 && (
        <p>
          <strong className="text-danger">A key without a role:</strong> {names(extra)}. They can open what they fetch
          until the vault key is rotated.
        </p>
      )}
      {without.length > 0 && (
        <p>
          <strong className="text-warn">A role without a key:</strong> {names(without)}. An admin who changes their
          role, or the first to rotate the key, wraps it for them.
        </p>
      )}
    </div>
  )
}

export function VaultAccessPage() {
  const { vaultId } = useParams({ from: '/vaults/$vaultId/access' })
  const { strongroom, client } = useOpenSession()
  const nameOf = useNames()
  const { data: vault } = useQuery(vaultQuery(strongroom, vaultId))
  const access = useQuery(accessQuery(strongroom, client, vaultId))
  const [asked, setAsked] = useState<Asked>()
  const canShare = vault?.role === 'ADMIN' && vault.status === 'active'
  const columns = useMemo(() => columnsFor(canShare, setAsked), [canShare])
  const holders = access.data?.holders ?? []
  const target = { vault: vaultId, name: vault?.name ?? '', kind: 'vault' as const }
  const close = (): void => setAsked(undefined)
  const listed = holders.map(({ principal }) => principal)
  return (
    <VaultFrame
      vaultId={vaultId}
      actions={
        canShare && (
          <Button kind="primary" onClick={() => setAsked({ what: 'grant' })}>
            Share
          </Button>
        )
      }
    >
      <Answer of={access} what="who has access to this vault">
        {(joined) => {
          const rows = accessRows(joined, nameOf)
          return (
            <>
              <Mismatches rows={rows} />
              <Table
                label="Access"
                rows={rows}
                columns={columns}
                keyOf={({ principal }) => principal}
                sortedBy={{ id: 'who' }}
              />
            </>
          )
        }}
      </Answer>
      {asked?.what === 'grant' && (
        <GrantAccessForm target={target} roleWords={ROLE_WORDS} listed={listed} onClose={close} />
      )}
      {asked?.what === 'role' && asked.row.role !== null && (
        <GrantAccessForm
          target={target}
          roleWords={ROLE_WORDS}
          listed={listed}
          entry={{ ...asked.row, role: asked.row.role }}
          onClose={close}
        />
      )}
      {asked?.what === 'revoke' && <RevokeAccessForm target={target} entry={asked.row} onClose={close} />}
      {asked?.what === 'explain' && (
        <ExplainAccess vaultName={target.name} holders={holders} who={asked.row.principal} onClose={close} />
      )}
    </VaultFrame>
  )
}
