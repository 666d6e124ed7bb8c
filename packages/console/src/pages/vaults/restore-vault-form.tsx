import { shellLine } from '@strongroom/contract'
import type { Vault } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'

export function RestoreVaultForm({ vault, onClose }: { readonly vault: Vault; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const restore = useMutation({
    mutationFn: () => strongroom.vaults.restore(vault.vaultId),
    onSuccess: async () => {
      toast(`Restored ${vault.name}`)
      await queries.invalidateQueries({ queryKey: ['vaults'] })
      await queries.invalidateQueries({ queryKey: ['vault', vault.vaultId] })
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Restore ${vault.name}`}
      open
      onClose={onClose}
      action="Sign and restore"
      busy={restore.isPending}
      problem={restore.error}
      cli={shellLine`strongroom vault restore ${vault.name}`}
      onSubmit={() => restore.mutate()}
    >
      <p>
        It is as it was before it was archived: {vault.itemCount === 1 ? '1 item' : `${vault.itemCount} items`}, and
        whoever is on its access list can read them again.
      </p>
    </FormDialog>
  )
}
