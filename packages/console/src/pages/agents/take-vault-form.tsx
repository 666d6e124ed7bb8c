import type { Agent } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/field.tsx'
import { shellWord } from '../../ui/shell-word.ts'
import { toast } from '../../ui/toast.tsx'

interface FormMembers {
  readonly agent: Agent
  readonly vault: { readonly vaultId: string; readonly name: string }
  onClose(): void
}

/** Off the access list, and the vault gets a new key: what the agent has kept opens nothing that is written from then on. */
export function TakeVaultForm({ agent, vault, onClose }: FormMembers) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [isDeferred, setDeferred] = useState(false)
  const take = useMutation({
    mutationFn: () =>
      strongroom.permissions.revoke({ vault: vault.vaultId }, `agent:${agent.agentId}`, { deferRotation: isDeferred }),
    onSuccess: async () => {
      toast(`${agent.name} has lost ${vault.name}`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['agents'] })
      await queries.invalidateQueries({ queryKey: ['agent', agent.agentId] })
      await queries.invalidateQueries({ queryKey: ['vault', vault.vaultId] })
    },
  })
  const defer = isDeferred ? ' --defer' : ''
  return (
    <FormDialog
      title={`Take ${vault.name} back from ${agent.name}`}
      open
      onClose={onClose}
      action="Take back"
      kind="danger"
      busy={take.isPending}
      problem={take.error}
      cli={`strongroom vault unshare ${shellWord(vault.name)} --with ${shellWord(agent.name)}${defer}`}
      onSubmit={() => take.mutate()}
    >
      <p>
        The vault gets a new key, and everything in it is encrypted anew in this page. What the agent has read before,
        it may have kept: change those values where they are used.
      </p>
      <CheckField
        label="Leave the vault its key for now"
        hint="The log says openly that a new one is due."
        checked={isDeferred}
        onChange={({ target }) => setDeferred(target.checked)}
      />
    </FormDialog>
  )
}
