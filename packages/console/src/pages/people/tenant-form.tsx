import { shellLine, type Tenant } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { ArchiveTenantForm } from './archive-tenant-form.tsx'

interface FormMembers {
  readonly tenants: readonly Tenant[]
  /** The one to be changed; a new one if absent. */
  readonly tenant?: Tenant
  onClose(): void
}

export function TenantForm({ tenants, tenant, onClose }: FormMembers) {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const [name, setName] = useState(tenant?.name ?? '')
  const [parentId, setParentId] = useState(tenant?.parentId ?? '')
  const [isEnding, setEnding] = useState(false)
  const others = tenants.filter(({ tenantId, status }) => status === 'active' && tenantId !== tenant?.tenantId)
  const save = useMutation({
    mutationFn: () =>
      tenant
        ? client.tenants.update({
            params: { id: tenant.tenantId },
            body: { name: name.trim(), parentId: parentId === '' ? null : parentId },
          })
        : client.tenants.create({ body: { name: name.trim(), ...(parentId !== '' && { parentId }) } }),
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries({ queryKey: ['people'] })
    },
  })
  const fields = [`name=${name.trim() || 'NAME'}`, ...(parentId === '' ? [] : [`parentId=${parentId}`])]
  const route = tenant ? ['PATCH', `/api/v1/platform/tenant/${tenant.tenantId}`] : ['POST', '/api/v1/platform/tenant']
  if (tenant && isEnding) return <ArchiveTenantForm tenant={tenant} onClose={onClose} />
  return (
    <FormDialog
      title={tenant ? `Change ${tenant.name}` : 'New tenant'}
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={name.trim() === ''}
      cli={shellLine`strongroom api ${route} ${fields.flatMap((field) => ['--field', field])}`}
      onSubmit={() => save.mutate()}
    >
      <TextField label="Name" value={name} onChange={({ target }) => setName(target.value)} required />
      <SelectField
        label="Below"
        hint="Whoever administers a tenant administers those below it; its budgets hold for them too."
        value={parentId}
        onChange={({ target }) => setParentId(target.value)}
      >
        <option value="">nothing</option>
        {others.map((one) => (
          <option key={one.tenantId} value={one.tenantId}>
            {one.name}
          </option>
        ))}
      </SelectField>
      {tenant?.status === 'active' && (
        <div>
          <Button kind="quiet" onClick={() => setEnding(true)}>
            <span className="text-danger">Archive this tenant</span>
          </Button>
        </div>
      )}
    </FormDialog>
  )
}
