import { shellLine } from '@strongroom/contract'
import type { Attachment } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { callName, commandName } from './file-names.ts'

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly file: Attachment
  /** Which it is one of. */
  readonly files: readonly Attachment[]
  readonly itemName: string
  onClose(): void
}

export function RenameFileForm({ vault, file, files, itemName, onClose }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [name, setName] = useState(file.name)
  const rename = useMutation({
    mutationFn: () => strongroom.attachments.rename(vault.vaultId, file.assetId, { name: name.trim() }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['vault', vault.vaultId] })
      onClose()
    },
  })
  const place = `${vault.name}/${itemName}`
  return (
    <FormDialog
      title={`Rename ${callName(file, files)}`}
      open
      onClose={onClose}
      action="Sign and save"
      busy={rename.isPending}
      problem={rename.error}
      disabled={name.trim() === '' || name.trim() === file.name}
      cli={shellLine`strongroom file move ${`${place}/${commandName(file, files)}`} ${`${place}/${name.trim() || 'NAME'}`}`}
      onSubmit={() => rename.mutate()}
    >
      <TextField
        label="Name"
        hint="Names of files are encrypted."
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
    </FormDialog>
  )
}
