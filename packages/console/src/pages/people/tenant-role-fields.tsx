import { TENANT_ROLES, type Tenant, type TenantRole } from '@strongroom/contract'
import { TENANT_ROLE_WORDS } from './role-words.ts'

export interface TenantRoleEntry {
  readonly tenantId: string
  readonly role: TenantRole
}

interface FieldsMembers {
  readonly tenants: readonly Tenant[]
  readonly value: readonly TenantRoleEntry[]
  onChange(value: readonly TenantRoleEntry[]): void
}

const isSame = (a: TenantRoleEntry, b: TenantRoleEntry): boolean => a.tenantId === b.tenantId && a.role === b.role

/** Roles in each tenant. */
export function TenantRoleFields({ tenants, value, onChange }: FieldsMembers) {
  return tenants
    .filter(({ status }) => status === 'active')
    .map(({ tenantId, name }) => (
      <fieldset key={tenantId} className="grid gap-1">
        <legend className="mb-1 font-[550]">In {name}</legend>
        <div className="grid gap-x-6 sm:grid-cols-2">
          {TENANT_ROLES.map((role) => {
            const entry = { tenantId, role }
            return (
              <label key={role} className="flex min-h-8 cursor-pointer items-start gap-2 py-1">
                <input
                  type="checkbox"
                  className="mt-0.5 size-4 accent-ink"
                  checked={value.some((one) => isSame(one, entry))}
                  onChange={({ target }) =>
                    onChange(target.checked ? [...value, entry] : value.filter((one) => !isSame(one, entry)))
                  }
                />
                <span>
                  {TENANT_ROLE_WORDS[role].name}
                  <span className="block text-label text-ink-3">{TENANT_ROLE_WORDS[role].says}</span>
                </span>
              </label>
            )
          })}
        </div>
      </fieldset>
    ))
}
