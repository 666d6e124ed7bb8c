import { shellLine } from '@strongroom/contract'
import type { WebhookEndpoint } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { SigningSecret, useShownOnce } from './signing-secret.tsx'

export function RotateSecretForm({ endpoint, onClose }: { readonly endpoint: WebhookEndpoint; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [secret, setSecret] = useShownOnce()
  const rotate = useMutation({
    mutationFn: async () => {
      const { signingSecret } = await strongroom.webhooks.rotateSecret(endpoint.webhookId)
      setSecret(signingSecret?.reveal())
      await queries.invalidateQueries({ queryKey: ['webhook', endpoint.webhookId] })
    },
    gcTime: 0,
  })
  if (secret !== undefined)
    return (
      <Dialog title="The new secret" open onClose={onClose} closesBy="buttons">
        <SigningSecret
          secret={secret}
          says="For 24 hours deliveries carry signatures of both, so that nothing is lost meanwhile."
          onDone={onClose}
        />
      </Dialog>
    )
  return (
    <FormDialog
      title="Rotate the signing secret"
      open
      onClose={onClose}
      action="Make a new secret"
      busy={rotate.isPending}
      problem={rotate.error}
      cli={shellLine`strongroom webhook rotate ${endpoint.webhookId}`}
      onSubmit={() => rotate.mutate()}
    >
      <p>
        The old one stays good for 24 hours: each delivery carries a signature of both. Give the new one to your
        receiver in that time.
      </p>
    </FormDialog>
  )
}
