import { shellLine } from '@strongroom/contract'
import type { Project } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { vaultsQuery } from '../vaults/queries.ts'
import { VaultChecks } from './vault-checks.tsx'

/** Exactly these vaults from now on, under the signature of an admin of the project. */
export function LinkVaultsForm({ project, onClose }: { readonly project: Project; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { data: known = [] } = useQuery(vaultsQuery(strongroom))
  const [vaults, setVaults] = useState<readonly string[]>(project.vaultIds)
  const link = useMutation({
    mutationFn: () => strongroom.projects.update(project.id, { vaults }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['project'] })
      await queries.invalidateQueries({ queryKey: ['projects'] })
      onClose()
    },
  })
  const nameOf = (id: string): string => known.find(({ vaultId }) => vaultId === id)?.name ?? id
  const isSame = vaults.length === project.vaultIds.length && vaults.every((id) => project.vaultIds.includes(id))
  return (
    <FormDialog
      title={`Vaults of ${project.name}`}
      open
      onClose={onClose}
      action="Sign and save"
      busy={link.isPending}
      problem={link.error}
      disabled={isSame}
      cli={shellLine`strongroom project link ${project.slug} ${vaults.map(nameOf)}`}
      onSubmit={() => link.mutate()}
    >
      <VaultChecks value={vaults} onChange={setVaults} />
      <p className="text-ink-2">
        Linking gives nobody a key: whoever runs the project needs access to each of its vaults, and gets nothing
        without one of them.
      </p>
    </FormDialog>
  )
}
