import { shellLine } from '@strongroom/contract'
import type { WebhookDelivery, WebhookEndpoint } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyBlock, CopyLine, MonoId } from '../../ui/copy.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/page.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import { AttemptDetails } from './attempt-details.tsx'
import { DeliveryTimeline } from './delivery-timeline.tsx'
import { deliveryQuery } from './queries.ts'
import { VerifySnippet } from './signing-secret.tsx'
import { DeliveryStatus } from './webhook-words.tsx'

function Resend({ endpoint, delivery }: { readonly endpoint: WebhookEndpoint; readonly delivery: WebhookDelivery }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const resend = useMutation({
    mutationFn: async () => strongroom.webhooks.redeliver(endpoint.webhookId, delivery.deliveryId),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['webhook', endpoint.webhookId] }),
  })
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button kind="primary" busy={resend.isPending} onClick={() => resend.mutate()}>
          Resend
        </Button>
        <span className="text-label text-ink-3">With the id it has always had: a receiver that has it knows it.</span>
      </div>
      {resend.error && <ProblemNote error={resend.error} />}
      <CopyLine
        label="Copy as CLI"
        text={shellLine`strongroom webhook resend ${endpoint.webhookId} ${delivery.deliveryId}`}
      />
      <CopyLine
        label="Hear such events on your own machine"
        text={shellLine`strongroom webhook listen --events ${delivery.eventType} --forward-to localhost:3000/hooks`}
      />
    </div>
  )
}

interface Members {
  readonly endpoint: WebhookEndpoint
  readonly delivery: WebhookDelivery
  onClose(): void
}

export function DeliveryDrawer({ endpoint, delivery, onClose }: Members) {
  const { eventId, eventType, synthetic, createdAt, nextAttemptAt, attempts } = delivery
  const detail = useQuery(deliveryQuery(useStrongroom(), endpoint.webhookId, delivery))
  const requestOf = (attempt: number) => detail.data?.attempts.find((one) => one.attempt === attempt)?.request
  const tries = attempts.length === 1 ? 'One attempt' : `${attempts.length} attempts`
  return (
    <Drawer title={`${eventType}${synthetic ? ' (test)' : ''}`} open onClose={onClose}>
      <div className="grid gap-5 p-5">
        <Facts
          of={[
            ['State', <DeliveryStatus key="state" of={delivery} />],
            ['Happened', <When key="when" at={createdAt} />],
            ...(nextAttemptAt === null ? [] : [['Next attempt', <When key="next" at={nextAttemptAt} />] as const]),
            ['Event', <MonoId key="event" id={eventId} keep={8} />],
            [
              'To',
              <span key="to" className="break-all">
                {endpoint.url}
              </span>,
            ],
          ]}
        />
        {attempts.length > 0 && (
          <DeliveryTimeline
            deliveries={[delivery]}
            name={`Attempts of ${eventId}`}
            summary={`${tries}${nextAttemptAt === null ? '' : ', and one to come'}.`}
          />
        )}
        <section aria-label="Attempts" className="min-w-0">
          {attempts.map((attempt, at) => (
            <AttemptDetails
              key={attempt.attempt}
              attempt={attempt}
              before={attempts[at - 1]}
              delivery={delivery}
              request={requestOf(attempt.attempt)}
            />
          ))}
          {nextAttemptAt !== null && attempts.length > 0 && (
            <p className="flex min-h-8 flex-wrap items-center gap-x-3 py-1 pl-5">
              <strong>Next attempt</strong> <When at={nextAttemptAt} />
            </p>
          )}
          {attempts.length === 0 && <p className="text-ink-2">It was not tried yet.</p>}
        </section>
        <Resend endpoint={endpoint} delivery={delivery} />
        <VerifySnippet publicKey={endpoint.publicKey} />
        {/* Last, since it comes last: nothing to press is moved by it. */}
        {detail.error && <ProblemNote error={detail.error} />}
        {detail.data?.body === null && (
          <p className="text-ink-2">
            The body and the headers are not shown: you may no longer read what this event is about.
          </p>
        )}
        {typeof detail.data?.body === 'string' && <CopyBlock label="Body, as it is sent" text={detail.data.body} />}
      </div>
    </Drawer>
  )
}
