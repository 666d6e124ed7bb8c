import { shellLine } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useOpenSession } from '../../session/session.ts'
import { ConfirmByName } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'

export function RemoveDomainForm({ domain, onClose }: { readonly domain: string; onClose(): void }) {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: async () => client.domains.remove({ params: { domain } }),
    onSuccess: async () => {
      toast(`Removed ${domain}`)
      onClose()
      await navigate({ to: '/domains', search: {} })
      await queries.invalidateQueries({ queryKey: ['domains'] })
    },
  })
  return (
    <ConfirmByName
      title={`Remove ${domain}`}
      name={domain}
      open
      onClose={onClose}
      action="Remove"
      busy={remove.isPending}
      problem={remove.error}
      cli={shellLine`strongroom api DELETE ${`/api/v1/platform/domain/${domain}`}`}
      onSubmit={() => remove.mutate()}
    >
      <p>
        The domain goes from the organisation, and the records that are kept here with it. Nothing brings them back.
      </p>
    </ConfirmByName>
  )
}
