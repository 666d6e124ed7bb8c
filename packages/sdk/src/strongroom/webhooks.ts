import type {
  Input,
  Output,
  webhooks as routes,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookEndpoint,
} from '@strongroom/contract'
import type { WebhookEvent } from '../webhooks.ts'
import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import { type ListParams, numberedPages, type PagePromise } from './pages.ts'
import type { Secret } from './secret.ts'

// Endpoints that are told what happens. They belong to the key that makes them; `verifyWebhook` is for whoever receives.

export type { WebhookDelivery, WebhookDeliveryDetail, WebhookEndpoint }
export type NewWebhook = Input<typeof routes.create>['body']
export type WebhookChange = Input<typeof routes.update>['body']
export type WebhookEventType = Output<typeof routes.eventTypes>['data'][number]

export interface CreatedWebhook {
  readonly endpoint: WebhookEndpoint
  /** What deliveries are verified with, `whsec_…`; not to be had again. Absent where signing is ed25519: `endpoint.publicKey` is. */
  readonly signingSecret: Secret | undefined
}

export interface ListenOptions {
  /** Types of events, or all that begin alike: `budget.*`. Everything if absent. */
  readonly eventTypes?: readonly string[]
  readonly signal?: AbortSignal
  /** The stream stands: what happens from now on is told. */
  readonly onOpen?: () => void
  /** It broke off, and is taken up again where it did. */
  readonly onLost?: () => void
}

/** An event with the bytes that a webhook would carry. */
export interface WebhookMessage {
  readonly event: WebhookEvent
  readonly body: string
}

export interface Webhooks {
  /** Those of the calling key. */
  list(params?: ListParams, options?: RequestOptions): PagePromise<WebhookEndpoint>
  get(webhookId: string, options?: RequestOptions): ApiPromise<WebhookEndpoint>
  create(webhook: NewWebhook, options?: RequestOptions): ApiPromise<CreatedWebhook>
  /** Another address, other types; `status` disables and enables. */
  update(webhookId: string, change: WebhookChange, options?: RequestOptions): ApiPromise<WebhookEndpoint>
  delete(webhookId: string, options?: RequestOptions): ApiPromise<void>
  /** Sends one synthetic event now and says how it went. */
  test(
    webhookId: string,
    params?: { readonly eventType?: string },
    options?: RequestOptions,
  ): ApiPromise<WebhookDelivery>
  /** What was sent to it in the last 30 days, newest first. */
  deliveries(
    webhookId: string,
    params?: ListParams & { readonly state?: WebhookDelivery['state'] },
    options?: RequestOptions,
  ): PagePromise<WebhookDelivery>
  /** One of them, with the requests that were made: headers, body, and what was signed. */
  delivery(webhookId: string, deliveryId: string, options?: RequestOptions): ApiPromise<WebhookDeliveryDetail>
  redeliver(webhookId: string, deliveryId: string, options?: RequestOptions): ApiPromise<WebhookDelivery>
  /** For 24 hours deliveries carry signatures of both secrets. */
  rotateSecret(webhookId: string, options?: RequestOptions): ApiPromise<CreatedWebhook>
  eventTypes(options?: RequestOptions): ApiPromise<readonly WebhookEventType[]>
  /** What an endpoint of the caller would be sent, without an address that the server could reach. Until `signal` ends it. */
  listen(options?: ListenOptions): AsyncIterable<WebhookMessage>
}

const rows = () => import('./webhook-rows.ts')

export const webhooksOf = (core: Core): Webhooks => ({
  list: (params = {}, options) =>
    numberedPages(core, (query, client, call) => client.webhooks.list({ query }, call), params, options),
  get: (id, options) => core.call(options, async (scope) => (await rows()).findEndpoint(scope, id)),
  create: (body, options) =>
    core.call(options, async ({ client, options: call }) =>
      (await rows()).withSecret(await client.webhooks.create({ body }, call)),
    ),
  update: (id, body, options) =>
    core.call(options, ({ client, options: call }) => client.webhooks.update({ params: { id }, body }, call)),
  delete: (id, options) =>
    core.call(options, async ({ client, options: call }) => {
      await client.webhooks.remove({ params: { id } }, call)
    }),
  test: (id, body = {}, options) =>
    core.call(options, ({ client, options: call }) => client.webhooks.test({ params: { id }, body }, call)),
  deliveries: (id, { state, ...params } = {}, options) =>
    numberedPages(
      core,
      (page, client, call) =>
        client.webhooks.deliveries({ params: { id }, query: { ...page, ...(state && { state }) } }, call),
      params,
      options,
    ),
  delivery: (id, deliveryId, options) =>
    core.call(options, ({ client, options: call }) => client.webhooks.delivery({ params: { id, deliveryId } }, call)),
  redeliver: (id, deliveryId, options) =>
    core.call(options, ({ client, options: call }) => client.webhooks.redeliver({ params: { id, deliveryId } }, call)),
  rotateSecret: (id, options) =>
    core.call(options, async ({ client, options: call }) =>
      (await rows()).withSecret(await client.webhooks.rotateSecret({ params: { id } }, call)),
    ),
  eventTypes: (options) =>
    core.call(options, async ({ client, options: call }) => (await client.webhooks.eventTypes({}, call)).data),
  listen: async function* (options) {
    yield* (await import('./webhook-stream.ts')).listenAsWebhook(core, options)
  },
})
