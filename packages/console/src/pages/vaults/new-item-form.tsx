import { shellLine } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { type DraftField, emptyField, FieldInputs, fieldProblem, newFieldOf } from './field-inputs.tsx'

interface Draft extends DraftField {
  readonly id: number
}

function commandFor(vault: string, name: string, website: string, fields: readonly Draft[]): string {
  const item = `${vault}/${name || 'ITEM'}`
  const site = website === '' ? [] : ['--website', website]
  const sets = fields.map(({ label, isEnvironmentVariable }) => {
    const ref = `${item}/${label.trim() || 'FIELD'}`
    return shellLine`strongroom set ${ref} ${isEnvironmentVariable ? [] : ['--no-env']}`
  })
  return [shellLine`strongroom item create ${item} ${site}`, ...sets].join(' && ')
}

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  onClose(): void
}

export function NewItemForm({ vault: { vaultId, name: vaultName }, onClose }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [website, setWebsite] = useState('')
  const [fields, setFields] = useState<readonly Draft[]>([{ id: 0, ...emptyField }])
  const create = useMutation({
    mutationFn: () =>
      strongroom.items.create(vaultId, {
        name: name.trim(),
        ...(website.trim() !== '' && { website: website.trim() }),
        fields: fields.map(newFieldOf),
      }),
    onSuccess: async ({ itemId }) => {
      await queries.invalidateQueries({ queryKey: ['vault', vaultId] })
      onClose()
      await navigate({ to: '/vaults/$vaultId', params: { vaultId }, search: { item: itemId } })
    },
  })
  const isReady = name.trim() !== '' && fields.every((field) => fieldProblem(field) === undefined)
  return (
    <FormDialog
      title="New item"
      open
      onClose={onClose}
      action="Encrypt and save"
      busy={create.isPending}
      problem={create.error}
      disabled={!isReady}
      cli={commandFor(vaultName, name.trim(), website.trim(), fields)}
      onSubmit={() => create.mutate()}
    >
      <TextField
        label="Name"
        hint="Names and websites are not encrypted; values are, in this page."
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
      <TextField
        label="Website"
        hint="Where it is used; may be left out."
        value={website}
        onChange={(event) => setWebsite(event.target.value)}
        inputMode="url"
      />
      {fields.map((field, at) => (
        <fieldset key={field.id} className="grid gap-3 border-t border-rule pt-3">
          <legend className="sr-only">Field {at + 1}</legend>
          <FieldInputs
            value={field}
            onChange={(next) => setFields(fields.map((one) => (one === field ? { ...next, id: field.id } : one)))}
            beside={
              fields.length > 1 && (
                <IconButton
                  label={`Leave out field ${at + 1}`}
                  onClick={() => setFields(fields.filter((one) => one !== field))}
                >
                  <X size={16} strokeWidth={1.5} />
                </IconButton>
              )
            }
          />
        </fieldset>
      ))}
      <div>
        <Button
          onClick={() => setFields([...fields, { id: Math.max(...fields.map(({ id }) => id)) + 1, ...emptyField }])}
        >
          One more field
        </Button>
      </div>
    </FormDialog>
  )
}
