import { shellLine } from '@strongroom/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { vaultsQuery } from '../vaults/queries.ts'
import { VaultChecks } from './vault-checks.tsx'

export function NewProjectForm({ onClose }: { onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { data: known = [] } = useQuery(vaultsQuery(strongroom))
  const [name, setName] = useState('')
  const [slug, setSlug] = useState('')
  const [vaults, setVaults] = useState<readonly string[]>([])
  const create = useMutation({
    mutationFn: () =>
      strongroom.projects.create({ name: name.trim(), ...(slug.trim() !== '' && { slug: slug.trim() }), vaults }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['projects'] })
      onClose()
      await navigate({ to: '/projects/$projectId', params: { projectId: id } })
    },
  })
  const flags = [
    ...(slug.trim() === '' ? [] : ['--slug', slug.trim()]),
    ...vaults.flatMap((id) => ['--vault', known.find(({ vaultId }) => vaultId === id)?.name ?? id]),
  ]
  return (
    <FormDialog
      title="New project"
      open
      onClose={onClose}
      action="Sign and create"
      busy={create.isPending}
      problem={create.error}
      disabled={name.trim() === ''}
      cli={shellLine`strongroom project create ${name.trim() || 'NAME'} ${flags}`}
      onSubmit={() => create.mutate()}
    >
      <TextField
        label="Name"
        hint="The server can read it."
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
      <TextField
        label="Slug"
        hint="What files and commands call it: small letters, digits and hyphens. Made of the name if left out."
        value={slug}
        onChange={(event) => setSlug(event.target.value)}
        pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
        spellCheck={false}
      />
      <VaultChecks value={vaults} onChange={setVaults} />
    </FormDialog>
  )
}
