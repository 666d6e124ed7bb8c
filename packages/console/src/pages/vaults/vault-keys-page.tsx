import type { Strongroom } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Holders } from './holders.tsx'
import { KeyName } from './key-name.tsx'
import { useNames } from './principals.ts'
import { holdersQuery, signersQuery, vaultQuery } from './queries.ts'
import { RotateKeyForm } from './rotate-key-form.tsx'
import { VaultFrame } from './vault-frame.tsx'

type Signer = Awaited<ReturnType<Strongroom['vaults']['signers']>>[number]

const VIA: Record<Signer['via'], string> = {
  'org.genesis': 'founded the organisation',
  'key.add': 'added, endorsed by another key',
  'key.rotate': 'in place of an older key, signed by it',
  'key.recover': 'by the recovery quorum',
}
const SIGNER_TONES: Record<Signer['status'], Tone> = {
  active: 'good',
  superseded: 'quiet',
  removed: 'quiet',
  compromised: 'bad',
}

function Signers({ signers }: { readonly signers: readonly Signer[] }) {
  const nameOf = useNames()
  const columns = useMemo(
    (): readonly Column<Signer>[] => [
      {
        id: 'name',
        header: 'Signer',
        sort: ({ principal }) => nameOf(principal),
        cell: ({ principal }) => nameOf(principal),
      },
      { id: 'key', header: 'Key', cell: ({ kid }) => <KeyName id={kid} /> },
      { id: 'via', header: 'How it came in', grows: true, cell: ({ via }) => VIA[via] },
      { id: 'added', header: 'Entry', align: 'right', sort: ({ added }) => added, cell: ({ added }) => added },
      { id: 'end', header: 'Until entry', align: 'right', cell: ({ end }) => end ?? '–' },
      {
        id: 'status',
        header: 'State',
        cell: ({ status }) => <Status tone={SIGNER_TONES[status]}>{status}</Status>,
      },
    ],
    [nameOf],
  )
  return (
    <section aria-label="Signers">
      <div className="px-6 pt-5 pb-2">
        <h2 className="text-dialog">Signers</h2>
        <p className="text-ink-2">
          Whose signatures this browser met when it verified the vault, and how each key came into the directory.
        </p>
      </div>
      <Table label="Signers" rows={signers} columns={columns} keyOf={({ kid }) => kid} sortedBy={{ id: 'added' }} />
    </section>
  )
}

export function VaultKeysPage() {
  const { vaultId } = useParams({ from: '/vaults/$vaultId/keys' })
  const strongroom = useStrongroom()
  const { data: vault } = useQuery(vaultQuery(strongroom, vaultId))
  const holders = useQuery(holdersQuery(strongroom, vaultId))
  const signers = useQuery(signersQuery(strongroom, vaultId))
  const [open, setOpen] = useState<'rotate' | 'rest'>()
  const older = vault?.olderKeys ?? []
  const isAdmin = vault?.role === 'ADMIN'
  return (
    <VaultFrame
      vaultId={vaultId}
      actions={
        isAdmin && (
          <Button kind="primary" onClick={() => setOpen('rotate')}>
            Rotate the key
          </Button>
        )
      }
    >
      {older.length > 0 && (
        <div role="status" className="flex flex-wrap items-center gap-3 border-b border-rule bg-raised px-6 py-2">
          <span>
            <strong className="text-warn">Not everything is under the current key.</strong> Older versions in use:{' '}
            {older.join(', ')}.
          </span>
          {isAdmin && <Button onClick={() => setOpen('rest')}>Encrypt the rest anew</Button>}
        </div>
      )}
      <Answer of={holders} what="who can decrypt this vault">
        {(all) => <Holders vaultId={vaultId} holders={all} />}
      </Answer>
      <Answer of={signers} what="the signers of this vault">
        {(all) => <Signers signers={all} />}
      </Answer>
      {vault && open !== undefined && (
        <RotateKeyForm
          vault={vault}
          holders={holders.data?.length ?? 0}
          isRest={open === 'rest'}
          onClose={() => setOpen(undefined)}
        />
      )}
    </VaultFrame>
  )
}
