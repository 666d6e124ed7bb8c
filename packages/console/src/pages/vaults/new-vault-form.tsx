import { shellLine } from '@strongroom/contract'
import type { Classification } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { CLASSIFICATIONS } from './classifications.ts'
import { vaultsQuery } from './queries.ts'

export function NewVaultForm({ open, onClose }: { readonly open: boolean; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [classification, setClassification] = useState<Classification>('confidential')
  const create = useMutation({
    mutationFn: () => strongroom.vaults.create({ name: name.trim(), classification }),
    onSuccess: async ({ vaultId }) => {
      await queries.invalidateQueries(vaultsQuery(strongroom))
      await navigate({ to: '/vaults/$vaultId', params: { vaultId } })
    },
  })
  return (
    <FormDialog
      title="New vault"
      open={open}
      onClose={onClose}
      action="Create"
      busy={create.isPending}
      problem={create.error}
      disabled={name.trim() === ''}
      cli={shellLine`strongroom vault create ${name.trim() || 'NAME'} --classification ${classification}`}
      onSubmit={() => create.mutate()}
    >
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} autoFocus required />
      <SelectField
        label="Classification"
        hint="Says how carefully its contents are to be handled; agents are warned about restricted ones."
        value={classification}
        onChange={(event) => setClassification(event.target.value as Classification)}
      >
        {CLASSIFICATIONS.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
      <p className="text-ink-2">Its key is made in this browser. You are its only holder until you share it.</p>
    </FormDialog>
  )
}
