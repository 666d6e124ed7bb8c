import { shellLine, type Tenant } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useOpenSession } from '../../session/session.ts'
import { ConfirmByName } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'

interface FormMembers {
  readonly tenant: Tenant
  onClose(): void
}

export function ArchiveTenantForm({ tenant: { tenantId, name }, onClose }: FormMembers) {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const archive = useMutation({
    mutationFn: () => client.tenants.update({ params: { id: tenantId }, body: { status: 'archived' } }),
    onSuccess: async () => {
      toast(`Archived ${name}`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['people'] })
    },
  })
  return (
    <ConfirmByName
      title={`Archive ${name}`}
      open
      onClose={onClose}
      action="Archive"
      name={name}
      busy={archive.isPending}
      problem={archive.error}
      cli={shellLine`strongroom api PATCH /api/v1/platform/tenant/${tenantId} --field status=archived`}
      onSubmit={() => archive.mutate()}
    >
      <p>Only a tenant that has nobody and nothing in it can be archived.</p>
      <p>
        <strong>This cannot be undone.</strong> An archived tenant does not come back.
      </p>
    </ConfirmByName>
  )
}
