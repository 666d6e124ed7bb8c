import { shellLine, type Tenant } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'

export function NewGroupForm({ tenants, onClose }: { readonly tenants: readonly Tenant[]; onClose(): void }) {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const active = tenants.filter(({ status }) => status === 'active')
  const [name, setName] = useState('')
  const [tenant, setTenant] = useState('')
  const tenantId = tenant || (active[0]?.tenantId ?? '')
  const create = useMutation({
    mutationFn: () => client.groups.create({ body: { name: name.trim(), tenantId } }),
    onSuccess: async () => {
      toast(`Group ${name.trim()} is made; give it members and roles`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['people', 'groups'] })
    },
  })
  return (
    <FormDialog
      title="New group"
      open
      onClose={onClose}
      action="Create"
      busy={create.isPending}
      problem={create.error}
      disabled={name.trim() === '' || tenantId === ''}
      cli={shellLine`strongroom api POST /api/v1/platform/security-group --field ${`name=${name.trim() || 'NAME'}`} --field tenantId=${tenantId}`}
      onSubmit={() => create.mutate()}
    >
      <TextField label="Name" value={name} onChange={({ target }) => setName(target.value)} required />
      <SelectField
        label="Tenant"
        hint="Whoever administers it may change the group."
        value={tenantId}
        onChange={({ target }) => setTenant(target.value)}
      >
        {active.map((one) => (
          <option key={one.tenantId} value={one.tenantId}>
            {one.name}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
