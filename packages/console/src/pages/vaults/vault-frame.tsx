import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { When } from '../../ui/when.tsx'
import { ArchiveVaultsForm } from './archive-vaults-form.tsx'
import { AttestVault } from './attest.tsx'
import { EditVaultForm } from './edit-vault-form.tsx'
import { vaultQuery } from './queries.ts'
import { RestoreVaultForm } from './restore-vault-form.tsx'
import { vaultTabs } from './vault-tabs.ts'

function VaultMenu({ vault }: { readonly vault: Vault }) {
  const [open, setOpen] = useState<'edit' | 'archive'>()
  const close = (): void => setOpen(undefined)
  return (
    <>
      <Menu
        trigger={
          <button type="button" className={buttonClasses()}>
            Vault <span aria-hidden="true">▾</span>
          </button>
        }
        choices={[
          { label: 'Rename or classify', onChoose: () => setOpen('edit') },
          { label: 'Archive', isDanger: true, onChoose: () => setOpen('archive') },
        ]}
      />
      {open === 'edit' && <EditVaultForm vault={vault} onClose={close} />}
      {open === 'archive' && <ArchiveVaultsForm vaults={[vault]} onClose={close} />}
    </>
  )
}

function Restore({ vault }: { readonly vault: Vault }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>Restore</Button>
      {isOpen && <RestoreVaultForm vault={vault} onClose={() => setOpen(false)} />}
    </>
  )
}

/** Former readers who still hold the key: said on every part of the vault until it is over. */
function RotationDue({ vault: { vaultId, rotationDue } }: { readonly vault: Vault }) {
  if (rotationDue === null) return null
  return (
    <p role="status" className="border-b border-rule bg-raised px-6 py-2">
      <strong className="text-warn">A new key is due.</strong> Somebody who left this vault <When at={rotationDue} />{' '}
      still holds its key.{' '}
      <Link to="/vaults/$vaultId/keys" params={{ vaultId }} className="underline">
        Rotate it
      </Link>
    </p>
  )
}

interface FrameMembers {
  readonly vaultId: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** What every part of a vault's page has: its verified name with the seal, its tabs, and what is due. */
export function VaultFrame({ vaultId, actions, children }: FrameMembers) {
  const asked = useQuery(vaultQuery(useStrongroom(), vaultId))
  const vault = asked.data
  const receipt = vault?.receipt
  return (
    <Page
      title={vault?.name ?? 'Vault'}
      beside={
        vault && (
          <>
            {receipt && (
              <Seal
                root={receipt.checkpoint.rootHash}
                says={`Verified here: version ${receipt.headVersion}, in a log of ${receipt.checkpoint.treeSize} entries`}
              />
            )}
            <span className="text-label text-ink-3">{vault.classification}</span>
            {vault.status === 'archived' && <Status tone="quiet">archived</Status>}
          </>
        )
      }
      actions={
        vault?.status === 'active' ? (
          <>
            {vault.role === 'ADMIN' && <VaultMenu vault={vault} />}
            {actions}
          </>
        ) : (
          vault?.role === 'ADMIN' && <Restore vault={vault} />
        )
      }
      tabs={vaultTabs(vaultId)}
    >
      {/* Not before it is known what can be done with it: what comes later would move what somebody is about to press. */}
      <Answer of={asked} what="this vault" unsound={(error) => <AttestVault vaultId={vaultId} error={error} />}>
        {(known) => (
          <>
            <RotationDue vault={known} />
            {children}
          </>
        )}
      </Answer>
    </Page>
  )
}
