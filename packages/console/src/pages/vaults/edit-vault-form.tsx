import { shellLine } from '@strongroom/contract'
import type { Classification, Vault } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { CLASSIFICATIONS } from './classifications.ts'

export function EditVaultForm({ vault, onClose }: { readonly vault: Vault; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [name, setName] = useState(vault.name)
  const [classification, setClassification] = useState(vault.classification)
  const next = name.trim()
  const isRenamed = next !== vault.name
  const isReclassified = classification !== vault.classification
  const save = useMutation({
    mutationFn: () =>
      strongroom.vaults.update(vault.vaultId, {
        ...(isRenamed && { name: next }),
        ...(isReclassified && { classification }),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['vaults'] })
      await queries.invalidateQueries({ queryKey: ['vault', vault.vaultId] })
      onClose()
    },
  })
  const commands = [
    isReclassified && shellLine`strongroom vault classify ${vault.name} ${classification}`,
    isRenamed && shellLine`strongroom vault rename ${vault.name} ${next || 'NAME'}`,
  ].filter(Boolean)
  return (
    <FormDialog
      title={`Change ${vault.name}`}
      open
      onClose={onClose}
      action="Sign and save"
      busy={save.isPending}
      problem={save.error}
      disabled={next === '' || !(isRenamed || isReclassified)}
      cli={commands.length === 0 ? undefined : commands.join(' && ')}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="Name"
        hint="References by the old name stop working. The server can read it."
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
      <SelectField
        label="Classification"
        value={classification}
        onChange={(event) => setClassification(event.target.value as Classification)}
      >
        {CLASSIFICATIONS.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
