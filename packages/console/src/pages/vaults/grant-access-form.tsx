import { shellLine } from '@strongroom/contract'
import type { AccessRole, AccessTarget } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, SelectField } from '../../ui/field.tsx'
import { byName } from '../../ui/name-order.ts'
import { toast } from '../../ui/toast.tsx'
import { ROLES } from './access-words.ts'
import { type Principal, principalsQuery } from './principals.ts'

interface Members {
  readonly target: AccessTarget & { readonly name: string; readonly kind: 'vault' | 'project' }
  readonly roleWords: Record<AccessRole, string>
  /** Those on the list, who are changed and not added. */
  readonly listed: readonly string[]
  /** Whose role is changed; without it, somebody is added. */
  readonly entry?: { readonly principal: string; readonly name: string; readonly role: AccessRole }
  onClose(): void
}

const choicesOf = (all: readonly Principal[], listed: readonly string[]): readonly Principal[] =>
  all.filter(({ principal, isActive }) => isActive && !listed.includes(principal)).sort(byName)

/** One entry more, or one with another role; everybody else stays. */
export function GrantAccessForm({ target, roleWords, listed, entry, onClose }: Members) {
  const { strongroom, client, person } = useOpenSession()
  const queries = useQueryClient()
  const { data: everybody = [] } = useQuery(principalsQuery(strongroom, client))
  const [who, setWho] = useState(entry?.principal ?? '')
  const [role, setRole] = useState<AccessRole>(entry?.role ?? 'READ')
  const [isSure, setSure] = useState(false)
  const name = entry?.name ?? everybody.find(({ principal }) => principal === who)?.name ?? ''
  const isOwnLoss = entry?.principal === `user:${person.userId}` && entry.role === 'ADMIN' && role !== 'ADMIN'
  const grant = useMutation({
    mutationFn: () =>
      strongroom.permissions.grant(target, { principal: who, role }, isOwnLoss ? { allowSelfRemoval: isSure } : {}),
    onSuccess: () => {
      toast(`${name} ${roleWords[role]} ${target.name}`)
      onClose()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [target.kind] }),
  })
  const choices = choicesOf(everybody, listed)
  const isVault = target.kind === 'vault'
  return (
    <FormDialog
      title={entry ? `Role of ${entry.name}` : `Share ${target.name}`}
      open
      onClose={onClose}
      action={isVault && !entry ? 'Wrap the key and share' : 'Sign and save'}
      busy={grant.isPending}
      problem={grant.error}
      disabled={who === '' || role === entry?.role || (isOwnLoss && !isSure)}
      cli={shellLine`strongroom access grant ${name || 'WHO'} ${role.toLowerCase()} --${target.kind} ${target.name}`}
      onSubmit={() => grant.mutate()}
    >
      {!entry && (
        <SelectField
          label="With"
          hint={
            choices.length === 0 ? 'Nobody is left to share it with, or you are not shown who is there.' : undefined
          }
          value={who}
          onChange={(event) => setWho(event.target.value)}
          autoFocus
          required
        >
          <option value="">Choose</option>
          {(['person', 'agent'] as const).map((kind) => (
            <optgroup key={kind} label={kind === 'person' ? 'People' : 'Agents'}>
              {choices
                .filter((one) => one.kind === kind)
                .map(({ principal, name: label }) => (
                  <option key={principal} value={principal}>
                    {label}
                  </option>
                ))}
            </optgroup>
          ))}
        </SelectField>
      )}
      <SelectField label="Role" value={role} onChange={(event) => setRole(event.target.value as AccessRole)}>
        {ROLES.map((one) => (
          <option key={one} value={one}>
            {one.toLowerCase()}: {roleWords[one]}
          </option>
        ))}
      </SelectField>
      {isVault && !entry && (
        <p className="text-ink-2">
          The vault key is wrapped for their keys in this page, after the log has shown that the keys are theirs.
        </p>
      )}
      {isOwnLoss && (
        <CheckField
          label="I give up deciding who has access"
          checked={isSure}
          onChange={(event) => setSure(event.target.checked)}
        />
      )}
    </FormDialog>
  )
}
