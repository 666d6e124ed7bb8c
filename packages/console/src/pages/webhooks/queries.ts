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
