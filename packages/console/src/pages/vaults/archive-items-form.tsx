import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { ConfirmByName } from '../../ui/dialog.tsx'
import { shellWord } from '../../ui/shell-word.ts'
import { toast } from '../../ui/toast.tsx'

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly items: readonly { readonly itemId: string; readonly name: string }[]
  onClose(): void
  onDone(): void
}

/** An archived item does not come back, so this asks for its name, or for how many there are. */
export function ArchiveItemsForm({ vault, items, onClose, onDone }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [only] = items
  const named = items.length === 1 && only ? only.name : `${items.length} items`
  const archive = useMutation({
    mutationFn: async () => {
      for (const { itemId } of items) await strongroom.items.archive(vault.vaultId, itemId)
    },
    onSuccess: () => {
      toast(`Archived ${named}`)
      onClose()
      onDone()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['vault', vault.vaultId, 'items'], exact: true }),
  })
  return (
    <ConfirmByName
      title={`Archive ${named}`}
      open
      onClose={onClose}
      action="Archive"
      name={named}
      busy={archive.isPending}
      problem={archive.error}
      cli={items.map(({ name }) => `strongroom item archive ${shellWord(`${vault.name}/${name}`)}`).join(' && ')}
      onSubmit={() => archive.mutate()}
    >
      <p>Values are in no environment from then on, and references to them lead nowhere.</p>
      <p>
        <strong>This cannot be undone.</strong> An archived item does not come back; its values can be written into a
        new one.
      </p>
    </ConfirmByName>
  )
}
