import type { Strongroom, WebhookDelivery } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'

export const webhooksQuery = (strongroom: Strongroom) =>
  queryOptions({ queryKey: ['webhooks'], queryFn: ({ signal }) => strongroom.webhooks.list({}, { signal }).all() })

export const webhookQuery = (strongroom: Strongroom, webhookId: string) =>
  queryOptions({
    queryKey: ['webhook', webhookId],
    queryFn: ({ signal }) => strongroom.webhooks.get(webhookId, { signal }),
  })

export const eventTypesQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['webhook event types'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => strongroom.webhooks.eventTypes({ signal }),
  })

export const LATEST = 100
const LOOK_MS = 1000
const LOOK_RARELY_MS = 5000

export const isUnderWay = ({ state }: Pick<WebhookDelivery, 'state'>): boolean =>
  state === 'pending' || state === 'delivering'

/** The newest deliveries. Looked at again soon while one is on its way. */
export const deliveriesQuery = (strongroom: Strongroom, webhookId: string) =>
  queryOptions({
    queryKey: ['webhook', webhookId, 'deliveries'],
    queryFn: ({ signal }) => strongroom.webhooks.deliveries(webhookId, {}, { signal }).all({ max: LATEST }),
    refetchInterval: ({ state }) => (state.data?.some(isUnderWay) ? LOOK_MS : LOOK_RARELY_MS),
  })

/** One delivery with its requests. Asked again when another of its attempts has ended. */
export const deliveryQuery = (
  strongroom: Strongroom,
  webhookId: string,
  { deliveryId, attempts }: Pick<WebhookDelivery, 'deliveryId' | 'attempts'>,
) => {
  const ended = attempts.filter(({ durationMs }) => durationMs !== null).length
  return queryOptions({
    queryKey: ['webhook', webhookId, 'delivery', deliveryId, ended],
    queryFn: ({ signal }) => strongroom.webhooks.delivery(webhookId, deliveryId, { signal }),
    // What was read of it before stays in sight; never that of another one.
    placeholderData: (before) => (before?.deliveryId === deliveryId ? before : undefined),
  })
}
