import { PERMISSIONS, type Permission } from '@strongroom/contract'
import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { inputClasses } from '../../ui/field.tsx'
import { byName } from '../../ui/name-order.ts'
import { Answer } from '../../ui/states.tsx'
import { vaultsQuery } from '../vaults/queries.ts'
import { permissionWords } from './permission-words.ts'
import { type GivenVault, isMaster, ROLES, type Role, usualPermissions, vaultsText } from './plan.ts'
import { StepForm, type StepMembers } from './step-form.tsx'

interface PickerMembers {
  readonly vaults: readonly Vault[]
  readonly given: readonly GivenVault[]
  onChange(given: readonly GivenVault[]): void
}

/** Only who administers a vault can give its key away. */
const canGive = ({ status, role }: Vault): boolean => status === 'active' && role === 'ADMIN'

export function VaultPicker({ vaults, given, onChange }: PickerMembers) {
  const [filter, setFilter] = useState('')
  const shown = vaults
    .filter((vault) => canGive(vault) && vault.name.toLowerCase().includes(filter.trim().toLowerCase()))
    .sort(byName)
  const others = vaults.filter((vault) => vault.status === 'active' && !canGive(vault)).length
  const roleOf = (id: string): Role | undefined => given.find(({ vaultId }) => vaultId === id)?.role
  const set = (vaultId: string, role: Role | undefined): void => {
    const rest = given.filter((one) => one.vaultId !== vaultId)
    onChange(role ? [...rest, { vaultId, role }] : rest)
  }
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 font-[550]">Vaults</legend>
      {vaults.length > 12 && (
        <input
          type="search"
          aria-label="Filter vaults"
          placeholder="Filter vaults"
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
          className={inputClasses}
        />
      )}
      <ul className="max-h-80 divide-y divide-rule overflow-y-auto rounded-control border border-rule">
        {shown.map(({ vaultId, name, classification, itemCount }) => (
          <li key={vaultId} className="flex min-h-10 items-center gap-3 bg-surface px-3 py-1">
            <label className="flex min-h-8 min-w-0 flex-1 cursor-pointer items-center gap-2.5">
              <input
                type="checkbox"
                checked={roleOf(vaultId) !== undefined}
                onChange={({ target }) => set(vaultId, target.checked ? 'read' : undefined)}
                className="size-4 shrink-0 accent-ink"
              />
              <span className="min-w-0 truncate">{name}</span>
              <span className={`text-label ${classification === 'restricted' ? 'text-warn' : 'text-ink-3'}`}>
                {classification}
              </span>
              <span className="ml-auto text-label whitespace-nowrap text-ink-3">
                {itemCount} {itemCount === 1 ? 'item' : 'items'}
              </span>
            </label>
            <span className="w-24 shrink-0">
              <select
                aria-label={`Role in ${name}`}
                value={roleOf(vaultId) ?? 'read'}
                disabled={roleOf(vaultId) === undefined}
                onChange={({ target }) => set(vaultId, target.value as Role)}
                className={inputClasses}
              >
                {ROLES.map((role) => (
                  <option key={role}>{role}</option>
                ))}
              </select>
            </span>
          </li>
        ))}
        {shown.length === 0 && (
          <li className="px-3 py-2 text-ink-2">You administer no vault of that name, so you have no key to give.</li>
        )}
      </ul>
      {others > 0 && (
        <p className="text-label text-ink-3">
          {others === 1 ? 'One vault is' : `${others} vaults are`} not listed: only who administers a vault gives its
          key.
        </p>
      )}
    </fieldset>
  )
}

function Permissions({ plan, change }: Pick<StepMembers, 'plan' | 'change'>) {
  const usual = usualPermissions(plan.kind, plan.vaults, plan.budget !== '')
  const toggle = (permission: Permission, on: boolean): void => {
    const next = on ? [...plan.permissions, permission] : plan.permissions.filter((one) => one !== permission)
    const isUsual = next.length === usual.length && usual.every((one) => next.includes(one))
    change({ permissions: isUsual ? undefined : next.join(',') })
  }
  return (
    <details open={plan.kind === 'custom'} className="rounded-control border border-rule">
      <summary className="min-h-8 cursor-pointer bg-surface px-3 py-1.5">
        <span className="font-[550]">Permissions</span>{' '}
        <span className="text-ink-2">
          {plan.permissions.length},{' '}
          {plan.permissions.every((one) => usual.includes(one)) ? 'the usual ones' : 'changed'}
        </span>
      </summary>
      <ul className="grid max-h-80 divide-y divide-rule overflow-y-auto border-t border-rule">
        {[...usual, ...PERMISSIONS.filter((one) => !usual.includes(one))].map((permission) => (
          <li key={permission}>
            <label className="flex min-h-8 cursor-pointer items-start gap-2.5 px-3 py-1">
              <input
                type="checkbox"
                checked={plan.permissions.includes(permission)}
                onChange={({ target }) => toggle(permission, target.checked)}
                className="mt-0.5 size-4 shrink-0 accent-ink"
              />
              <span className="min-w-0">
                {permissionWords(permission)}
                <code className="block text-ink-3">{permission}</code>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </details>
  )
}

export function AccessStep({ plan, change, onContinue, onBack }: StepMembers) {
  const vaults = useQuery(vaultsQuery(useStrongroom()))
  return (
    <StepForm
      title="Access"
      says="It gets the keys of the vaults you choose, and can open nothing else."
      onContinue={onContinue}
      onBack={onBack}
    >
      <Answer of={vaults} what="vaults">
        {(all) => (
          <VaultPicker
            vaults={all}
            given={plan.vaults}
            onChange={(given) => change({ vaults: given.length === 0 ? undefined : vaultsText(given) })}
          />
        )}
      </Answer>
      <Permissions plan={plan} change={change} />
      {isMaster(plan.permissions) && (
        <p role="alert" className="border-l-2 border-warn pl-3 text-warn">
          Making agents together with giving access makes a master agent. Keep its key as you keep your own.
        </p>
      )}
    </StepForm>
  )
}
