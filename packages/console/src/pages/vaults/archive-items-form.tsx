import { shellLine } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { takeBack } from './restoring.ts'

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly items: readonly { readonly itemId: string; readonly name: string }[]
  onClose(): void
  onDone(): void
}

export function ArchiveItemsForm({ vault, items, onClose, onDone }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [only] = items
  const named = items.length === 1 && only ? only.name : `${items.length} items`
  const look = () => queries.invalidateQueries({ queryKey: ['vault', vault.vaultId, 'items'], exact: true })
  const undo = async (): Promise<void> => {
    await takeBack(named, async () => {
      for (const { itemId } of items) await strongroom.items.restore(vault.vaultId, itemId)
    })
    await look()
  }
  const archive = useMutation({
    mutationFn: async () => {
      for (const { itemId } of items) await strongroom.items.archive(vault.vaultId, itemId)
    },
    onSuccess: () => {
      toast(`Archived ${named}`, () => void undo())
      onClose()
      onDone()
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
      cli={items.map(({ name }) => shellLine`strongroom item archive ${`${vault.name}/${name}`}`).join(' && ')}
      onSubmit={() => archive.mutate()}
    >
      <p>Values are in no environment from then on, and references to them lead nowhere.</p>
      <p>Nothing is removed: archived items can be restored, with the values they had.</p>
    </FormDialog>
  )
}
