import { shellLine } from '@strongroom/contract'
import type { Project } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useStrongroom } from '../../session/session.ts'
import { ConfirmByName } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'

export function ArchiveProjectForm({ project, onClose }: { readonly project: Project; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const archive = useMutation({
    mutationFn: () => strongroom.projects.archive(project.id),
    onSuccess: async () => {
      toast(`Archived ${project.name}`)
      await queries.invalidateQueries({ queryKey: ['projects'] })
      await queries.invalidateQueries({ queryKey: ['project'] })
      onClose()
      await navigate({ to: '/projects' })
    },
  })
  return (
    <ConfirmByName
      title={`Archive ${project.name}`}
      open
      onClose={onClose}
      action="Archive"
      name={project.name}
      busy={archive.isPending}
      problem={archive.error}
      cli={shellLine`strongroom project archive ${project.slug}`}
      onSubmit={() => archive.mutate()}
    >
      <p>Processes that run with {project.slug} get nothing from then on. Its vaults stay as they are.</p>
      <p>
        <strong>This cannot be undone.</strong> An archived project does not come back; its slug is free for another
        one.
      </p>
    </ConfirmByName>
  )
}
