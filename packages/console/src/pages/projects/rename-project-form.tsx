import { shellLine } from '@strongroom/contract'
import type { Project } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'

export function RenameProjectForm({ project, onClose }: { readonly project: Project; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [name, setName] = useState(project.name)
  const [slug, setSlug] = useState(project.slug)
  const isRenamed = name.trim() !== project.name
  const isMoved = slug.trim() !== project.slug
  const rename = useMutation({
    mutationFn: () =>
      strongroom.projects.update(project.id, {
        ...(isRenamed && { name: name.trim() }),
        ...(isMoved && { slug: slug.trim() }),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['project'] })
      await queries.invalidateQueries({ queryKey: ['projects'] })
      onClose()
    },
  })
  const flags = [
    ...(isRenamed ? ['--name', name.trim() || 'NAME'] : []),
    ...(isMoved ? ['--slug', slug.trim() || 'SLUG'] : []),
  ]
  return (
    <FormDialog
      title={`Rename ${project.name}`}
      open
      onClose={onClose}
      action="Sign and save"
      busy={rename.isPending}
      problem={rename.error}
      disabled={name.trim() === '' || slug.trim() === '' || flags.length === 0}
      cli={shellLine`strongroom project rename ${project.slug} ${flags}`}
      onSubmit={() => rename.mutate()}
    >
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} autoFocus required />
      <TextField
        label="Slug"
        hint="Files and commands that name the old one stop working."
        value={slug}
        onChange={(event) => setSlug(event.target.value)}
        pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
        spellCheck={false}
        required
      />
    </FormDialog>
  )
}
