import { shellLine } from '@strongroom/contract'
import type { Attachment, ItemSummary } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useOpenSession, useStrongroom } from '../../session/session.ts'
import { TextField } from '../../ui/field.tsx'
import { Section } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { FilesTable } from './files-table.tsx'
import { itemsQuery, vaultFilesQuery, vaultQuery } from './queries.ts'
import { UploadFiles } from './upload-files.tsx'
import { VaultFrame } from './vault-frame.tsx'

const itemColumn = (vaultId: string, nameOf: (itemId: string) => string): Column<Attachment> => ({
  id: 'item',
  header: 'Item',
  sort: ({ itemId }) => nameOf(itemId),
  cell: ({ itemId }) => (
    <Link to="/vaults/$vaultId" params={{ vaultId }} search={{ item: itemId }}>
      {nameOf(itemId)}
    </Link>
  ),
})

/** A file belongs to an item: one that is there, or a new one of that name. */
function AttachTo({ vaultId, items }: { readonly vaultId: string; readonly items: readonly ItemSummary[] }) {
  const strongroom = useStrongroom()
  const [name, setName] = useState('')
  const wanted = name.trim()
  const known = items.find((item) => item.name === wanted)
  const itemFor = async (): Promise<string> =>
    known?.itemId ?? (await strongroom.items.create(vaultId, { name: wanted, fields: [] })).itemId
  return (
    <Section title="Attach">
      <div className="grid max-w-xl gap-3">
        <TextField
          label="Item"
          hint={wanted !== '' && !known ? `${wanted} is made for them.` : 'Which item they belong to.'}
          list="items-for-files"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <datalist id="items-for-files">
          {items.slice(0, 200).map((item) => (
            <option key={item.itemId} value={item.name} />
          ))}
        </datalist>
        <UploadFiles vaultId={vaultId} itemFor={itemFor} disabled={wanted === ''} />
      </div>
    </Section>
  )
}

export function VaultFilesPage() {
  const { vaultId } = useParams({ from: '/vaults/$vaultId/files' })
  const { strongroom, client } = useOpenSession()
  const vault = useQuery(vaultQuery(strongroom, vaultId))
  const items = useQuery(itemsQuery(strongroom, vaultId))
  const files = useQuery(vaultFilesQuery(strongroom, client, vaultId))
  const names = useMemo(() => new Map((items.data ?? []).map(({ itemId, name }) => [itemId, name])), [items.data])
  const more = useMemo(() => [itemColumn(vaultId, (itemId) => names.get(itemId) ?? 'archived item')], [vaultId, names])
  const name = vault.data?.name ?? ''
  const canWrite = vault.data?.status === 'active' && vault.data.role !== 'READ' && vault.data.role !== null
  return (
    <VaultFrame vaultId={vaultId}>
      <Answer of={files} what="the files of this vault">
        {(all) =>
          all.length === 0 ? (
            <Empty title="No files yet" cli={shellLine`strongroom file put server.pem ${`${name || 'vault'}/tls`}`}>
              <p>Certificates, key files, exports: of any size, encrypted in this page before they leave.</p>
            </Empty>
          ) : (
            <FilesTable
              vault={{ vaultId, name }}
              files={all}
              canWrite={canWrite}
              itemNameOf={(itemId) => names.get(itemId) ?? 'ITEM'}
              more={more}
            />
          )
        }
      </Answer>
      {canWrite && items.data && <AttachTo vaultId={vaultId} items={items.data} />}
    </VaultFrame>
  )
}
