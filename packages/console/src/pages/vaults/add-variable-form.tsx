import { shellLine } from '@strongroom/contract'
import { formatRef } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import type { MatrixVault } from './environment-matrix.ts'

interface Members {
  readonly vault: MatrixVault
  readonly name: string
  /** What the variable's item is called elsewhere. */
  readonly suggested: string
  onClose(): void
}

/** A variable that another vault has and this one lacks. */
export function AddVariableForm({ vault, name, suggested, onClose }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [item, setItem] = useState(suggested)
  const [value, setValue] = useState('')
  const add = useMutation({
    gcTime: 0,
    mutationFn: () =>
      strongroom.secrets.set(formatRef({ vault: vault.vaultId, item: item.trim(), field: name }), value, {
        env: true,
        ifVersion: 0,
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['vault', vault.vaultId] })
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Add ${name} to ${vault.name}`}
      open
      onClose={onClose}
      action="Encrypt and save"
      busy={add.isPending}
      problem={add.error}
      disabled={item.trim() === '' || value === ''}
      cli={shellLine`strongroom set ${`${vault.name}/${item.trim() || 'ITEM'}/${name}`}`}
      onSubmit={() => add.mutate()}
    >
      <TextField
        label="Item"
        hint="It is made if it is not there."
        value={item}
        onChange={(event) => setItem(event.target.value)}
        required
      />
      <TextArea
        label="Value"
        className="font-mono text-code"
        rows={2}
        value={value}
        onChange={(event) => setValue(event.target.value)}
        spellCheck={false}
        autoComplete="off"
        autoFocus
        required
      />
    </FormDialog>
  )
}
