import { shellLine } from '@strongroom/contract'
import type { Agent } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { ExpiryField, NetworksField } from './limit-fields.tsx'
import { expiryProblem, momentOf, networksProblem } from './limits.ts'
import { nameProblem } from './plan.ts'
import { agentQuery, agentsQuery } from './queries.ts'

/** What is not touched stays as it is, also where the server knows it to the second. */
function useLimitChanges(agent: Agent) {
  const [expires, setExpires] = useState<string | undefined>(agent.expiresAt ? undefined : '')
  const [networks, setNetworks] = useState(agent.networks)
  const isMoved = expires === '' ? agent.expiresAt !== null : momentOf(expires ?? '') !== undefined
  const isOther = networks.join() !== agent.networks.join()
  return {
    ...{ expires, setExpires, networks, setNetworks },
    problem: expiryProblem(expires ?? '') ?? networksProblem(networks),
    changes: () => ({
      ...(isMoved && { expiresAt: momentOf(expires ?? '') ?? null }),
      ...(isOther && { networks }),
    }),
    flags: [
      ...(isMoved ? ['--expires', expires || 'never'] : []),
      ...(isOther && networks.length === 0 ? ['--network', 'any'] : []),
      ...(isOther ? networks.flatMap((network) => ['--network', network]) : []),
    ],
  }
}

export function EditAgentForm({ agent, onClose }: { readonly agent: Agent; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { data: all = [] } = useQuery(agentsQuery(strongroom))
  const [name, setName] = useState(agent.name)
  const [description, setDescription] = useState(agent.description)
  const limits = useLimitChanges(agent)
  const others = all.filter(({ agentId }) => agentId !== agent.agentId)
  const problem = name === agent.name ? undefined : nameProblem(name.trim(), others)
  const save = useMutation({
    mutationFn: () => strongroom.agents.update(agent.agentId, { name: name.trim(), description, ...limits.changes() }),
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries(agentQuery(strongroom, agent.agentId))
      await queries.invalidateQueries({ queryKey: ['agents'] })
    },
  })
  const flags = [
    ...(name.trim() === agent.name ? [] : ['--name', name.trim()]),
    ...(description === agent.description ? [] : ['--description', description]),
    ...limits.flags,
  ]
  return (
    <FormDialog
      title={`Edit ${agent.name}`}
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={flags.length === 0 || name.trim() === '' || problem !== undefined || limits.problem !== undefined}
      cli={shellLine`strongroom agent update ${agent.name} ${flags}`}
      onSubmit={() => save.mutate()}
    >
      <TextField label="Name" error={problem} value={name} onChange={({ target }) => setName(target.value)} required />
      <TextField label="Description" value={description} onChange={({ target }) => setDescription(target.value)} />
      <ExpiryField expires={limits.expires} kept={agent.expiresAt} onChange={limits.setExpires} />
      <NetworksField networks={limits.networks} onChange={limits.setNetworks} />
    </FormDialog>
  )
}
