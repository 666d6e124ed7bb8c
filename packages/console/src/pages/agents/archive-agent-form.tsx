import { shellLine } from '@strongroom/contract'
import type { Agent } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { ConfirmByName } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { agentQuery } from './queries.ts'
import { noteSaved } from './unsaved-keys.ts'

export function ArchiveAgentForm({ agent, onClose }: { readonly agent: Agent; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { agentId, name } = agent
  const archive = useMutation({
    mutationFn: () => strongroom.agents.archive(agentId),
    onSuccess: async () => {
      noteSaved(agentId)
      toast(`${name} is archived`)
      onClose()
      await queries.invalidateQueries(agentQuery(strongroom, agentId))
      await queries.invalidateQueries({ queryKey: ['agents'] })
    },
  })
  return (
    <ConfirmByName
      name={name}
      title={`Archive ${name}`}
      open
      onClose={onClose}
      action="Archive for good"
      busy={archive.isPending}
      problem={archive.error}
      cli={shellLine`strongroom agent archive ${name}`}
      onSubmit={() => archive.mutate()}
    >
      <p>
        Its API key is dead from the next request on. What it could decrypt it may have kept: end its key on the Keys
        page, and give its vaults a new one.
      </p>
      <p>
        <strong>This cannot be undone.</strong> An archived agent does not come back.
      </p>
    </ConfirmByName>
  )
}
