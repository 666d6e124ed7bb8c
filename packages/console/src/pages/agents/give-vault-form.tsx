import { shellLine } from '@strongroom/contract'
import type { Agent } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'
import { vaultsQuery } from '../vaults/queries.ts'
import { radiusWords, useBlastRadius } from './blast-radius.ts'
import { ROLES, type Role } from './plan.ts'

/** Puts the agent on the access list of a vault and wraps its key for it, here. */
export function GiveVaultForm({ agent, onClose }: { readonly agent: Agent; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { data: vaults = [] } = useQuery(vaultsQuery(strongroom))
  const mine = vaults.filter(({ status, role }) => status === 'active' && role === 'ADMIN')
  const [chosen, setChosen] = useState('')
  const [role, setRole] = useState<Role>('read')
  const vaultId = chosen || (mine[0]?.vaultId ?? '')
  const radius = useBlastRadius(vaultId === '' ? [] : [{ vaultId, role }])
  const name = mine.find((vault) => vault.vaultId === vaultId)?.name ?? 'VAULT'
  const give = useMutation({
    mutationFn: () =>
      strongroom.permissions.grant(
        { vault: vaultId },
        { principal: `agent:${agent.agentId}`, role: role.toUpperCase() as 'READ' | 'WRITE' | 'ADMIN' },
      ),
    onSuccess: async () => {
      toast(`${agent.name} has the key of ${name}`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['agents'] })
      await queries.invalidateQueries({ queryKey: ['agent', agent.agentId] })
    },
  })
  return (
    <FormDialog
      title={`Give ${agent.name} a vault`}
      open
      onClose={onClose}
      action="Wrap its key"
      busy={give.isPending}
      problem={give.error}
      disabled={vaultId === ''}
      cli={shellLine`strongroom vault share ${name} --with ${agent.name} --role ${role}`}
      onSubmit={() => give.mutate()}
    >
      <SelectField
        label="Vault"
        hint="Those you administer: only they have a key that you can give."
        value={vaultId}
        onChange={({ target }) => setChosen(target.value)}
      >
        {mine.map((vault) => (
          <option key={vault.vaultId} value={vault.vaultId}>
            {vault.name}
          </option>
        ))}
      </SelectField>
      <SelectField label="Role" value={role} onChange={({ target }) => setRole(target.value as Role)}>
        {ROLES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
      <p>It will be able to decrypt {radius.isComplete ? radiusWords(radius) : '…'}</p>
    </FormDialog>
  )
}
