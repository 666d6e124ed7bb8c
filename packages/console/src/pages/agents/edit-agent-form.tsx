import type { Agent } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { shellWord } from '../../ui/shell-word.ts'
import { nameProblem } from './plan.ts'
import { agentQuery, agentsQuery } from './queries.ts'

export function EditAgentForm({ agent, onClose }: { readonly agent: Agent; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { data: all = [] } = useQuery(agentsQuery(strongroom))
  const [name, setName] = useState(agent.name)
  const [description, setDescription] = useState(agent.description)
  const others = all.filter(({ agentId }) => agentId !== agent.agentId)
  const problem = name === agent.name ? undefined : nameProblem(name.trim(), others)
  const isChanged = name.trim() !== agent.name || description !== agent.description
  const save = useMutation({
    mutationFn: () => strongroom.agents.update(agent.agentId, { name: name.trim(), description }),
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries(agentQuery(strongroom, agent.agentId))
      await queries.invalidateQueries({ queryKey: ['agents'] })
    },
  })
  const flags = [
    ...(name.trim() === agent.name ? [] : [`--name ${shellWord(name.trim())}`]),
    ...(description === agent.description ? [] : [`--description ${shellWord(description)}`]),
  ]
  return (
    <FormDialog
      title={`Edit ${agent.name}`}
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={!isChanged || name.trim() === '' || problem !== undefined}
      cli={[`strongroom agent update ${shellWord(agent.name)}`, ...flags].join(' ')}
      onSubmit={() => save.mutate()}
    >
      <TextField label="Name" error={problem} value={name} onChange={({ target }) => setName(target.value)} required />
      <TextField label="Description" value={description} onChange={({ target }) => setDescription(target.value)} />
    </FormDialog>
  )
}
