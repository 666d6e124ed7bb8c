import { useQuery } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { CheckField } from '../../ui/field.tsx'
import { vaultsQuery } from '../vaults/queries.ts'

interface Members {
  /** Ids. */
  readonly value: readonly string[]
  onChange(next: readonly string[]): void
}

/** Which vaults belong to a project. */
export function VaultChecks({ value, onChange }: Members) {
  const { data: vaults = [] } = useQuery(vaultsQuery(useStrongroom()))
  const choices = vaults.filter(({ vaultId, status }) => status === 'active' || value.includes(vaultId))
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1 font-[550]">Vaults</legend>
      {choices.length === 0 && <p className="text-ink-2">There are no vaults yet.</p>}
      <div className="grid max-h-64 gap-1 overflow-auto">
        {choices.map(({ vaultId, name, classification }) => (
          <CheckField
            key={vaultId}
            label={name}
            hint={classification}
            checked={value.includes(vaultId)}
            onChange={(event) =>
              onChange(event.target.checked ? [...value, vaultId] : value.filter((one) => one !== vaultId))
            }
          />
        ))}
      </div>
    </fieldset>
  )
}
