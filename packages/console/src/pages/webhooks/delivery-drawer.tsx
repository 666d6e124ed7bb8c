import type { WebhookDelivery, WebhookEndpoint } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/page.tsx'
import { shellWord } from '../../ui/shell-word.ts'
import { ProblemNote } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import { DeliveryTimeline } from './delivery-timeline.tsx'
import { VerifySnippet } from './signing-secret.tsx'
import { gapText } from './timeline-scale.ts'
import { type Attempt, answerText, DeliveryStatus, isTaken } from './webhook-words.tsx'

const secondsOf = (time: string): number => Math.floor(Date.parse(time) / 1000)

/** One request as it went out. The signature and the body are not kept; what they are made of is. */
function AttemptDetails({ attempt, before, delivery, signing }: AttemptMembers) {
  const { startedAt, url } = attempt
  const stamp = secondsOf(startedAt)
  const waited = Date.parse(startedAt) - Date.parse(before?.startedAt ?? delivery.createdAt)
  return (
    <details className="group border-b border-rule py-1">
      <summary className="flex min-h-8 cursor-pointer flex-wrap items-center gap-x-3">
        <span aria-hidden="true" className="group-open:rotate-90">
          ▸
        </span>
        <strong>Attempt {attempt.attempt}</strong>
        <span className={isTaken(attempt) ? 'text-seal' : 'text-danger'}>{answerText(attempt)}</span>
        <When at={startedAt} />
        <span className="text-label text-ink-3">
          {gapText(waited)} after {before ? 'the one before' : 'it happened'}
        </span>
      </summary>
      <div className="grid gap-2 py-2">
        <pre className="overflow-auto rounded-control border border-rule bg-raised px-2.5 py-1.5 break-all whitespace-pre-wrap">
          {[
            `POST ${url}`,
            'content-type: application/json',
            'user-agent: Strongroom-Webhooks/1',
            `webhook-id: ${delivery.eventId}`,
            `webhook-timestamp: ${stamp}`,
            `webhook-signature: ${signing === 'hmac' ? 'v1' : 'v1a'},… (not kept)`,
          ].join('\n')}
        </pre>
        <p className="text-label text-ink-3">
          What is signed: <code>{`${delivery.eventId}.${stamp}.`}</code> and the body, which the history does not keep.
          Of the answer only its status is kept: what stands behind an address is the receiver&rsquo;s.
        </p>
      </div>
    </details>
  )
}

interface AttemptMembers {
  readonly attempt: Attempt
  readonly before: Attempt | undefined
  readonly delivery: WebhookDelivery
  readonly signing: WebhookEndpoint['signing']
}

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
      <CopyLine label="Copy as CLI" text={`strongroom webhook resend ${endpoint.webhookId} ${delivery.deliveryId}`} />
      <CopyLine
        label="Hear such events on your own machine"
        text={`strongroom webhook listen --events ${shellWord(delivery.eventType)} --forward-to localhost:3000/hooks`}
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
        <section aria-label="Attempts">
          {attempts.map((attempt, at) => (
            <AttemptDetails
              key={attempt.attempt}
              attempt={attempt}
              before={attempts[at - 1]}
              delivery={delivery}
              signing={endpoint.signing}
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
      </div>
    </Drawer>
  )
}
