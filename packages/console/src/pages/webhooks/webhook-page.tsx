import type { WebhookDelivery, WebhookEndpoint } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { MonoId } from '../../ui/copy.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { Answer, ProblemNote } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { When } from '../../ui/when.tsx'
import { DeleteWebhookForm } from './delete-webhook-form.tsx'
import { DeliveryDrawer } from './delivery-drawer.tsx'
import { DeliveryTimeline } from './delivery-timeline.tsx'
import { EditWebhookForm } from './edit-webhook-form.tsx'
import { deliveriesQuery, webhookQuery } from './queries.ts'
import { RotateSecretForm } from './rotate-secret-form.tsx'
import { TestWebhookForm } from './test-webhook-form.tsx'
import { answerText, DeliveryStatus, EndpointStatus, healthOf } from './webhook-words.tsx'

function useSetStatus({ webhookId }: WebhookEndpoint) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: async (status: WebhookEndpoint['status']) => strongroom.webhooks.update(webhookId, { status }),
    onSuccess: async (_, status) => {
      await queries.invalidateQueries({ queryKey: ['webhook', webhookId] })
      await queries.invalidateQueries({ queryKey: ['webhooks'] })
      if (status === 'disabled') toast('Disabled: nothing is sent to it', () => change.mutate('active'))
    },
  })
  return change
}

type Open = 'edit' | 'rotate' | 'delete' | 'test'

function Actions({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const [open, setOpen] = useState<Open>()
  const setStatus = useSetStatus(endpoint)
  const close = (): void => setOpen(undefined)
  const isActive = endpoint.status === 'active'
  return (
    <>
      <Menu
        trigger={
          <button type="button" className={buttonClasses()}>
            Endpoint <span aria-hidden="true">▾</span>
          </button>
        }
        choices={[
          { label: 'Change', onChoose: () => setOpen('edit') },
          ...(endpoint.signing === 'hmac'
            ? [{ label: 'Rotate the signing secret', onChoose: () => setOpen('rotate') }]
            : []),
          {
            label: isActive ? 'Disable' : 'Enable',
            onChoose: () => setStatus.mutate(isActive ? 'disabled' : 'active'),
          },
          { label: 'Delete', isDanger: true, onChoose: () => setOpen('delete') },
        ]}
      />
      <Button kind="primary" onClick={() => setOpen('test')}>
        Send a test
      </Button>
      {setStatus.error && <ProblemNote error={setStatus.error} />}
      {open === 'edit' && <EditWebhookForm endpoint={endpoint} onClose={close} />}
      {open === 'rotate' && <RotateSecretForm endpoint={endpoint} onClose={close} />}
      {open === 'delete' && <DeleteWebhookForm endpoint={endpoint} onClose={close} />}
      {open === 'test' && <TestWebhookForm endpoint={endpoint} onClose={close} />}
    </>
  )
}

function About({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { eventTypes, description, signing, publicKey, failingSince, oldSecretUntil, createdAt, webhookId } = endpoint
  return (
    <Facts
      of={[
        ...(description === '' ? [] : [['For', description] as const]),
        ['Events', <code key="events">{eventTypes.join(', ')}</code>],
        [
          'Signed with',
          publicKey === null ? (
            `a secret of its own (${signing})`
          ) : (
            <span key="key">
              the key of the organisation <MonoId id={publicKey} keep={8} />
            </span>
          ),
        ],
        ...(oldSecretUntil === null
          ? []
          : [
              [
                'Old secret',
                <span key="old">
                  good until <When at={oldSecretUntil} />
                </span>,
              ] as const,
            ]),
        ...(failingSince === null ? [] : [['Failing since', <When key="failing" at={failingSince} />] as const]),
        ['Made', <When key="made" at={createdAt} />],
        ['Id', <MonoId key="id" id={webhookId} keep={8} />],
      ]}
    />
  )
}

const useColumns = (webhookId: string): readonly Column<WebhookDelivery>[] =>
  useMemo(
    () => [
      {
        id: 'event',
        header: 'Event',
        grows: true,
        cell: ({ deliveryId, eventType, synthetic }) => (
          <span>
            <Link to="/webhooks/$webhookId" params={{ webhookId }} search={{ delivery: deliveryId }}>
              {eventType}
            </Link>
            {synthetic && <span className="text-ink-3"> test</span>}
          </span>
        ),
      },
      {
        id: 'when',
        header: 'Happened',
        sort: ({ createdAt }) => createdAt,
        cell: ({ createdAt }) => <When at={createdAt} />,
      },
      { id: 'state', header: 'State', cell: (delivery) => <DeliveryStatus of={delivery} /> },
      { id: 'tries', header: 'Attempts', align: 'right', cell: ({ attempts }) => attempts.length },
      {
        id: 'answer',
        header: 'Last answer',
        cell: ({ attempts }) => {
          const last = attempts.at(-1)
          return last ? answerText(last) : <span className="text-ink-3">none yet</span>
        },
      },
      {
        id: 'next',
        header: 'Next attempt',
        cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? '' : <When at={nextAttemptAt} />),
      },
    ],
    [webhookId],
  )

const DRAWN = 10

function summaryOf(deliveries: readonly WebhookDelivery[]): string {
  const { settled, taken } = healthOf(deliveries)
  const retrying = deliveries.filter(({ state }) => state === 'retrying').length
  if (settled === 0) return 'Only tests were sent so far.'
  return `${taken} of ${settled} were taken${retrying === 0 ? '.' : `; ${retrying} will be tried again.`}`
}

function Deliveries({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { webhookId } = endpoint
  const deliveries = useQuery(deliveriesQuery(useStrongroom(), webhookId))
  const { delivery: open } = useSearch({ from: '/webhooks/$webhookId' })
  const navigate = useNavigate()
  const columns = useColumns(webhookId)
  const opened = deliveries.data?.find(({ deliveryId }) => deliveryId === open)
  return (
    <>
      <Answer of={deliveries} what="deliveries">
        {(all) =>
          all.length === 0 ? (
            <p className="px-6 py-5 text-ink-2">
              Nothing was sent yet. Send a test, or wait until something happens that it hears of.
            </p>
          ) : (
            <>
              <Section title="Latest deliveries">
                <DeliveryTimeline
                  deliveries={all.filter(({ attempts }) => attempts.length > 0).slice(0, DRAWN)}
                  name="Latest deliveries on a time axis"
                  summary={summaryOf(all)}
                />
              </Section>
              <Table
                label="Deliveries"
                rows={all}
                columns={columns}
                keyOf={({ deliveryId }) => deliveryId}
                current={open}
              />
            </>
          )
        }
      </Answer>
      {opened && (
        <DeliveryDrawer
          endpoint={endpoint}
          delivery={opened}
          onClose={() => void navigate({ to: '/webhooks/$webhookId', params: { webhookId }, search: {} })}
        />
      )}
    </>
  )
}

export function WebhookPage() {
  const { webhookId } = useParams({ from: '/webhooks/$webhookId' })
  const webhook = useQuery(webhookQuery(useStrongroom(), webhookId))
  const endpoint = webhook.data
  return (
    <Page
      title={endpoint?.url ?? 'Webhook'}
      beside={endpoint && <EndpointStatus of={endpoint} />}
      actions={endpoint && <Actions endpoint={endpoint} />}
    >
      <Answer of={webhook} what="this endpoint">
        {(found) => (
          <>
            <Section title="About it">
              <About endpoint={found} />
            </Section>
            <Deliveries endpoint={found} />
          </>
        )}
      </Answer>
    </Page>
  )
}
