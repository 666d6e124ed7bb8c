import { shellLine } from '@strongroom/contract'
import type { WebhookEndpoint } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useStrongroom } from '../../session/session.ts'
import { ConfirmByName } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'

export function DeleteWebhookForm({ endpoint, onClose }: { readonly endpoint: WebhookEndpoint; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { webhookId, url } = endpoint
  const remove = useMutation({
    mutationFn: async () => strongroom.webhooks.delete(webhookId),
    onSuccess: async () => {
      toast(`Nothing more is sent to ${url}`)
      onClose()
      await navigate({ to: '/webhooks' })
      queries.removeQueries({ queryKey: ['webhook', webhookId] })
      await queries.invalidateQueries({ queryKey: ['webhooks'] })
    },
  })
  return (
    <ConfirmByName
      title="Delete the endpoint"
      name={url}
      open
      onClose={onClose}
      action="Delete"
      busy={remove.isPending}
      problem={remove.error}
      cli={shellLine`strongroom webhook rm ${webhookId}`}
      onSubmit={() => remove.mutate()}
    >
      <p>
        It goes with its history and what waits to be sent to it. To stop it for a while, disable it instead: that can
        be undone.
      </p>
    </ConfirmByName>
  )
}
