import { shellLine } from '@strongroom/contract'
import type { Attachment } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { ConfirmByName } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { callName, commandName } from './file-names.ts'

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly file: Attachment
  /** Which it is one of. */
  readonly files: readonly Attachment[]
  readonly itemName: string
  onClose(): void
}

export function RemoveFileForm({ vault, file, files, itemName, onClose }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => strongroom.attachments.remove(vault.vaultId, file.assetId),
    onSuccess: async () => {
      toast(`Removed ${file.name}`)
      await queries.invalidateQueries({ queryKey: ['vault', vault.vaultId] })
      onClose()
    },
  })
  return (
    <ConfirmByName
      title={`Remove ${callName(file, files)}`}
      open
      onClose={onClose}
      action="Remove"
      name={file.name}
      busy={remove.isPending}
      problem={remove.error}
      cli={shellLine`strongroom file rm ${`${vault.name}/${itemName}/${commandName(file, files)}`}`}
      onSubmit={() => remove.mutate()}
    >
      <p>{itemName} lists it no more, in a version that you sign. It cannot be taken back from here.</p>
    </ConfirmByName>
  )
}
