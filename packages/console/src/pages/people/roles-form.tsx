import { ORG_ROLES, type OrgRole, shellLine, type User } from '@strongroom/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/field.tsx'
import { tenantsQuery } from './queries.ts'
import { ORG_ROLE_WORDS } from './role-words.ts'
import { type TenantRoleEntry, TenantRoleFields } from './tenant-role-fields.tsx'

export function RolesForm({ user, onClose }: { readonly user: User; onClose(): void }) {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const { data: tenants = [] } = useQuery(tenantsQuery(client))
  const [orgRoles, setOrgRoles] = useState<readonly OrgRole[]>(user.orgRoles)
  const [tenantRoles, setTenantRoles] = useState<readonly TenantRoleEntry[]>(user.tenantRoles)
  const isOrgChanged = [...orgRoles].sort().join() !== [...user.orgRoles].sort().join()
  const textOf = (roles: readonly TenantRoleEntry[]): string =>
    roles
      .map(({ tenantId, role }) => `${tenantId}:${role}`)
      .sort()
      .join()
  const isTenantChanged = textOf(tenantRoles) !== textOf(user.tenantRoles)
  const save = useMutation({
    mutationFn: async () => {
      const params = { id: user.userId }
      if (isOrgChanged) await client.users.setOrgRoles({ params, body: { orgRoles: [...orgRoles] } })
      if (isTenantChanged) await client.users.setTenantRoles({ params, body: { tenantRoles: [...tenantRoles] } })
    },
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries({ queryKey: ['people'] })
    },
  })
  const flags = [
    ...(orgRoles.length === 0 ? ['--none'] : orgRoles.flatMap((role) => ['--org', role])),
    ...tenantRoles.flatMap(({ tenantId, role }) => ['--tenant', `${tenantId}:${role}`]),
  ]
  return (
    <FormDialog
      title={`Roles of ${user.name}`}
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={!isOrgChanged && !isTenantChanged}
      cli={shellLine`strongroom user roles ${user.email} ${flags}`}
      onSubmit={() => save.mutate()}
    >
      <p className="text-ink-2">Roles say what somebody may ask for. Nobody gives what they do not hold themselves.</p>
      <fieldset className="grid gap-1">
        <legend className="mb-1 font-[550]">In the organisation</legend>
        {ORG_ROLES.map((role) => (
          <CheckField
            key={role}
            label={ORG_ROLE_WORDS[role].name}
            hint={ORG_ROLE_WORDS[role].says}
            checked={orgRoles.includes(role)}
            onChange={({ target }) =>
              setOrgRoles(target.checked ? [...orgRoles, role] : orgRoles.filter((one) => one !== role))
            }
          />
        ))}
      </fieldset>
      <TenantRoleFields tenants={tenants} value={tenantRoles} onChange={setTenantRoles} />
    </FormDialog>
  )
}
