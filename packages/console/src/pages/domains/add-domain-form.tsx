import { shellLine } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, TextField } from '../../ui/field.tsx'

export function AddDomainForm({ onClose }: { onClose(): void }) {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [managed, setManaged] = useState(true)
  const body = { domain: name.trim(), managed }
  const add = useMutation({
    mutationFn: async () => client.domains.add({ body }),
    onSuccess: async ({ domain }) => {
      onClose()
      await queries.invalidateQueries({ queryKey: ['domains'] })
      await navigate({ to: '/domains', search: { domain } })
    },
  })
  return (
    <FormDialog
      title="Add a domain"
      open
      onClose={onClose}
      action="Add"
      busy={add.isPending}
      problem={add.error}
      disabled={body.domain === ''}
      cli={shellLine`strongroom api POST /api/v1/platform/domain --field ${`domain=${body.domain || 'example.com'}`} --field managed:=${String(managed)}`}
      onSubmit={() => add.mutate()}
    >
      <TextField
        label="Domain"
        placeholder="example.com"
        hint="As people write it, with umlauts if need be."
        value={name}
        onChange={({ target }) => setName(target.value)}
        required
        autoFocus
        spellCheck={false}
      />
      <CheckField
        label="Its records are managed here"
        hint="Otherwise it is only known to belong to the organisation."
        checked={managed}
        onChange={({ target }) => setManaged(target.checked)}
      />
    </FormDialog>
  )
}
