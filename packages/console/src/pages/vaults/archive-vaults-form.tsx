import { shellLine } from '@strongroom/contract'
import type { Vault } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { takeBack } from './restoring.ts'

interface Members {
  readonly vaults: readonly Pick<Vault, 'vaultId' | 'name' | 'itemCount'>[]
  onClose(): void
}

export function ArchiveVaultsForm({ vaults, onClose }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [only] = vaults
  const named = vaults.length === 1 && only ? only.name : `${vaults.length} vaults`
  const items = vaults.reduce((sum, { itemCount }) => sum + itemCount, 0)
  const look = () => queries.invalidateQueries({ queryKey: ['vaults'] })
  const undo = async (): Promise<void> => {
    await takeBack(named, async () => {
      for (const { vaultId } of vaults) await strongroom.vaults.restore(vaultId)
    })
    await look()
  }
  const archive = useMutation({
    // One after the other: each is a signed change of its own, and those that went through stay.
    mutationFn: async () => {
      for (const { vaultId } of vaults) await strongroom.vaults.archive(vaultId)
    },
    onSuccess: async () => {
      toast(`Archived ${named}`, () => void undo())
      onClose()
      await navigate({ to: '/vaults' })
    },
    onSettled: look,
  })
  return (
    <FormDialog
      title={`Archive ${named}`}
      open
      onClose={onClose}
      action="Archive"
      busy={archive.isPending}
      problem={archive.error}
      cli={vaults.map(({ name }) => shellLine`strongroom vault archive ${name}`).join(' && ')}
      onSubmit={() => archive.mutate()}
    >
      <p>
        {items === 1 ? '1 item is' : `${items} items are`} given to nobody from then on: no agent, no project. Nothing
        in it can be changed.
      </p>
      <p>Nothing is removed: an administrator of the vault can restore it, as it was.</p>
      {vaults.length > 1 && <p className="text-ink-2">{vaults.map(({ name }) => name).join(', ')}</p>}
    </FormDialog>
  )
}
