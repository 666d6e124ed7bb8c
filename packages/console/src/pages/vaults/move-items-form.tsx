import { shellLine } from '@strongroom/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'
import { vaultsQuery } from './queries.ts'

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly items: readonly { readonly itemId: string; readonly name: string }[]
  onClose(): void
  onMoved(): void
}

export function MoveItemsForm({ vault, items, onClose, onMoved }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { data: vaults = [] } = useQuery(vaultsQuery(strongroom))
  const [to, setTo] = useState('')
  const places = vaults.filter(
    ({ vaultId, status, role }) => vaultId !== vault.vaultId && status === 'active' && role !== null && role !== 'READ',
  )
  const named = items.length === 1 ? (items[0]?.name ?? '') : `${items.length} items`
  const target = places.find(({ vaultId }) => vaultId === to)
  const move = useMutation({
    mutationFn: async (): Promise<void> => {
      for (const { itemId } of items) await strongroom.items.move(vault.vaultId, itemId, { vault: to })
    },
    onSuccess: () => {
      toast(`Moved ${named} to ${target?.name ?? 'the other vault'}`)
      onClose()
      onMoved()
    },
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['vault', vault.vaultId, 'items'], exact: true })
      await queries.invalidateQueries({ queryKey: ['vault', to] })
    },
  })
  return (
    <FormDialog
      title={`Move ${named}`}
      open
      onClose={onClose}
      action="Encrypt anew and move"
      busy={move.isPending}
      problem={move.error}
      disabled={to === ''}
      cli={items
        .map(({ name }) => shellLine`strongroom item move ${`${vault.name}/${name}`} ${target?.name ?? 'TO'}`)
        .join(' && ')}
      onSubmit={() => move.mutate()}
    >
      <SelectField
        label="To the vault"
        hint={places.length === 0 ? 'There is no other vault that you may write to.' : undefined}
        value={to}
        onChange={(event) => setTo(event.target.value)}
        required
      >
        <option value="">Choose</option>
        {places.map(({ vaultId, name }) => (
          <option key={vaultId} value={vaultId}>
            {name}
          </option>
        ))}
      </SelectField>
      <p className="text-ink-2">
        Values are opened here and encrypted under the key of the other vault, in one entry of the log. Whoever reads
        that vault reads them from then on; references to {vault.name} stop working.
      </p>
    </FormDialog>
  )
}
