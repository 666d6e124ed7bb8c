import { type Static, Type } from 'typebox'
import { EVENT_TYPES, type EventType } from './event-types.ts'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, Nullable, OneOf, Page, Text, Time } from './shapes.ts'

// Telling others what happens, at addresses they name. An endpoint belongs to the key that made it, and hears exactly what that key
// could read at the moment of each delivery. Signed as Standard Webhooks say it.

const reading = { kind: 'permission', permission: 'machine.webhook.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.webhook.write' } as const satisfies Access

export const DELIVERY_STATES = ['pending', 'delivering', 'retrying', 'delivered', 'exhausted', 'discarded'] as const
export const DISABLED_REASONS = ['manual', 'gone', 'failing', 'key_ended'] as const
export const ATTEMPT_ERRORS = [
  'http_status',
  'timeout',
  'connection_failed',
  'tls_failed',
  'name_not_found',
  'address_forbidden',
  'unknown',
] as const

const EventPattern = Type.String({
  maxLength: 64,
  pattern: '^(?:\\*|[a-z_]+(?:\\.[a-z_]+)*(?:\\.\\*)?)$',
  description: 'A type of GET /webhook/event-types, all that begin alike (`license.purchase.*`), or `*`',
})

const EndpointMembers = {
  webhookId: Id,
  url: Type.String(),
  description: Type.String(),
  eventTypes: Type.Array(Type.String()),
  signing: OneOf(['hmac', 'ed25519']),
  publicKey: Nullable(
    Type.String({ description: '`whpk_`: what deliveries are verified with, where signing is ed25519' }),
  ),
  status: OneOf(['active', 'disabled']),
  disabledReason: Nullable(OneOf(DISABLED_REASONS)),
  disabledAt: Nullable(Time),
  failingSince: Nullable(Time),
  oldSecretUntil: Nullable(Time),
  createdAt: Time,
}
export const WebhookEndpoint = closed(EndpointMembers)
export type WebhookEndpoint = Static<typeof WebhookEndpoint>

const WithSecret = closed({
  ...EndpointMembers,
  secret: Nullable(Type.String({ description: '`whsec_`: shown once; null where signing is ed25519' })),
  secretRedacted: Type.Optional(Type.Boolean()),
})

const Ms = (description: string) => Nullable(Type.Integer({ description }))
const Timing = Type.Object(
  {
    lookupMs: Ms('Until the name had its addresses; null where the address is written out'),
    connectMs: Ms('Until the connection stood'),
    tlsMs: Ms('Until its keys were agreed; null without TLS'),
    waitMs: Ms('From then until the answer began'),
  },
  { additionalProperties: false, description: 'How long each step took; null for one that did not come to its end' },
)

const AttemptMembers = {
  attempt: Type.Integer(),
  startedAt: Time,
  durationMs: Nullable(Type.Integer()),
  timing: Timing,
  url: Type.String(),
  responseStatus: Nullable(Type.Integer()),
  error: Nullable(OneOf(ATTEMPT_ERRORS)),
}

const DeliveryMembers = {
  deliveryId: Id,
  eventId: Id,
  eventType: Type.String(),
  state: OneOf(DELIVERY_STATES),
  synthetic: Type.Boolean(),
  createdAt: Time,
  nextAttemptAt: Nullable(Time),
  finishedAt: Nullable(Time),
}
export const WebhookDelivery = closed({ ...DeliveryMembers, attempts: Type.Array(closed(AttemptMembers)) })
export type WebhookDelivery = Static<typeof WebhookDelivery>

const SENT_HEADERS = [
  'host',
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'content-length',
  'connection',
] as const
const SentHeaders = Type.Record(OneOf(SENT_HEADERS), Type.String(), { additionalProperties: false })

const SentRequest = closed({
  headers: SentHeaders,
  baseString: Type.String({ description: 'What the signatures are of: `id.timestamp.body`, byte for byte' }),
})

export const WebhookDeliveryDetail = closed({
  ...DeliveryMembers,
  body: Nullable(
    Type.String({ description: 'As it is sent; null where the caller may no longer read what the event is about' }),
  ),
  attempts: Type.Array(
    closed({
      ...AttemptMembers,
      request: Nullable(SentRequest),
    }),
  ),
})
export type WebhookDeliveryDetail = Static<typeof WebhookDeliveryDetail>

const EventTypes = Type.Array(EventPattern, { minItems: 1, maxItems: 64, uniqueItems: true })
const Url = Type.String({ minLength: 1, maxLength: 2000 })
const params = closed({ id: Id })
const urlErrors = ['webhook_url_invalid', 'webhook_url_forbidden', 'webhook_event_type_unknown'] as const

/** Whether a type is among those that the patterns name. */
export const matchesEventType = (patterns: readonly string[], type: string): boolean =>
  patterns.some(
    (pattern) =>
      pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))),
  )

/** Those of the patterns that name no type there is. */
export const unknownPatterns = (patterns: readonly string[]): readonly string[] =>
  patterns.filter((pattern) => !Object.keys(EVENT_TYPES).some((type) => matchesEventType([pattern], type)))

export const isEventType = (text: string): text is EventType => Object.hasOwn(EVENT_TYPES, text)

export const webhooks = {
  list: {
    api: 'machine',
    method: 'GET',
    path: '/webhook',
    summary: 'The webhook endpoints of the calling key',
    access: reading,
    query: closed(Page),
    response: listOf('data', WebhookEndpoint),
  },
  create: {
    api: 'machine',
    method: 'POST',
    path: '/webhook',
    summary: 'Make an endpoint; the answer carries its signing secret exactly once',
    access: writing,
    body: closed({
      url: Url,
      description: Type.Optional(Text(500)),
      eventTypes: EventTypes,
      signing: Type.Optional(OneOf(['hmac', 'ed25519'])),
    }),
    status: 201,
    response: WithSecret,
    errors: [...urlErrors, 'webhook_limit_reached'],
    onceOnly: ['secret'],
  },
  eventTypes: {
    api: 'machine',
    method: 'GET',
    path: '/webhook/event-types',
    summary: 'Every type of event, and the permission that is needed to hear of it',
    access: reading,
    response: closed({ data: Type.Array(closed({ type: Type.String(), permission: Type.String() })) }),
  },
  update: {
    api: 'machine',
    method: 'PATCH',
    path: '/webhook/:id',
    summary: 'Change an endpoint, disable it, or enable it again for the calling key',
    access: writing,
    params,
    body: Type.Object(
      {
        url: Type.Optional(Url),
        description: Type.Optional(Text(500)),
        eventTypes: Type.Optional(EventTypes),
        status: Type.Optional(OneOf(['active', 'disabled'])),
      },
      { additionalProperties: false, minProperties: 1 },
    ),
    response: WebhookEndpoint,
    errors: ['webhook_not_found', ...urlErrors],
  },
  remove: {
    api: 'machine',
    method: 'DELETE',
    path: '/webhook/:id',
    summary: 'Delete an endpoint with its history; nothing more is sent to it',
    access: writing,
    params,
    response: closed({ webhookId: Id }),
    errors: ['webhook_not_found'],
  },
  test: {
    api: 'machine',
    method: 'POST',
    path: '/webhook/:id/test',
    summary: 'Send one signed synthetic event now, also to a disabled endpoint; the answer says how it went',
    access: writing,
    params,
    body: Type.Object(
      { eventType: Type.Optional(Type.String({ maxLength: 64 })) },
      { additionalProperties: false, default: {} },
    ),
    response: WebhookDelivery,
    errors: ['webhook_not_found', 'webhook_event_type_unknown', 'rate_limited'],
  },
  rotateSecret: {
    api: 'machine',
    method: 'POST',
    path: '/webhook/:id/rotate-secret',
    summary:
      'A new signing secret, shown once. For 24 hours deliveries carry a signature of the old one as well, however often it is rotated meanwhile',
    access: writing,
    params,
    response: WithSecret,
    errors: ['webhook_not_found', 'webhook_has_no_secret', 'rate_limited'],
    onceOnly: ['secret'],
  },
  deliveries: {
    api: 'machine',
    method: 'GET',
    path: '/webhook/:id/deliveries',
    summary: 'What was sent to one endpoint, with every attempt. Kept for 30 days',
    access: reading,
    params,
    query: closed({ ...Page, state: Type.Optional(OneOf(DELIVERY_STATES)) }),
    response: listOf('data', WebhookDelivery),
    errors: ['webhook_not_found'],
  },
  delivery: {
    api: 'machine',
    method: 'GET',
    path: '/webhook/:id/deliveries/:deliveryId',
    summary: 'One delivery, with the requests that were made: headers, body, and what was signed',
    access: reading,
    params: closed({ id: Id, deliveryId: Id }),
    response: WebhookDeliveryDetail,
    errors: ['webhook_not_found', 'webhook_delivery_not_found'],
  },
  redeliver: {
    api: 'machine',
    method: 'POST',
    path: '/webhook/:id/deliveries/:deliveryId/redeliver',
    summary: 'Send an event again, with the id it has always had',
    access: writing,
    params: closed({ id: Id, deliveryId: Id }),
    status: 202,
    response: WebhookDelivery,
    errors: ['webhook_not_found', 'webhook_delivery_not_found', 'webhook_disabled'],
  },
} as const satisfies Routes
