import {
  EVENT_TYPES,
  unknownPatterns,
  type WebhookDelivery,
  type WebhookEndpoint,
  type webhooks,
} from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { type Ctx, type Refused, refused, type TxCtx, transact, unlessAnswered } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { checkDestination, EgressRefused } from '../../outside/egress.ts'
import * as deliveryStore from './delivery-store.ts'
import { tellOfEndpoint } from './disable.ts'
import { makeSecret, provideSigningKey, sealerOf, sealSecret, showPublicKey, showSecret } from './signing.ts'
import * as store from './store.ts'

// Endpoints of the calling key. What they hear is decided anew for each delivery, from what the key may read then.

const MAX_ENDPOINTS = 50
const OLD_SECRET_MS = 86_400_000
/** As many signatures a delivery carries at most, besides that of the newest secret. */
const MOST_OLD_SECRETS = 8

const sightOf = ({ principal }: Ctx): store.Sight => ({
  orgId: principal.orgId,
  principal: principal.id,
  keyId: principal.keyId,
})

const iso = (time: Date | null): string | null => time?.toISOString() ?? null

const show = ({ tenantId: _, publicKey, createdAt, ...row }: store.EndpointRow): WebhookEndpoint => ({
  ...row,
  publicKey: publicKey === null ? null : showPublicKey(publicKey),
  disabledAt: iso(row.disabledAt),
  failingSince: iso(row.failingSince),
  oldSecretUntil: iso(row.oldSecretUntil),
  createdAt: createdAt.toISOString(),
})

export const showAttempt = ({ signedAt: _, signature: __, ...row }: store.AttemptRow) => ({
  ...row,
  startedAt: new Date(row.startedAt).toISOString(),
})

export const showDelivery = (row: store.DeliveryRow): WebhookDelivery => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
  nextAttemptAt: iso(row.nextAttemptAt),
  finishedAt: iso(row.finishedAt),
  attempts: row.attempts.map(showAttempt),
})

export const openEndpoint = async (ctx: TxCtx, id: string): Promise<store.EndpointRow> =>
  found(await store.endpoint(ctx.db, sightOf(ctx), id), 'webhook_not_found')

const recordChange = (ctx: TxCtx, action: string, id: string, metadata: Record<string, unknown> = {}): Promise<void> =>
  record(ctx, { action: `webhook.${action}`, targets: [{ type: 'webhook', id }], metadata })

/** What speaks against sending to this address. Asked again for every connection. */
const destinationRefused = ({ config }: Ctx, url: string): Promise<Refused | undefined> =>
  checkDestination(url, config.egress).then(
    () => undefined,
    (error: unknown) => {
      if (!(error instanceof EgressRefused)) throw error
      const code = error.reason === 'url' ? 'webhook_url_invalid' : 'webhook_url_forbidden'
      return refused(new ApiError(code, { details: { reason: error.reason } }))
    },
  )

function ensureKnown(patterns: readonly string[]): void {
  const unknown = unknownPatterns(patterns)
  if (unknown.length > 0) throw new ApiError('webhook_event_type_unknown', { details: { eventTypes: unknown } })
}

/** What is written down of an address: its path may hold what only the receiver should know. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? ''

export const list: Handler<typeof webhooks.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => listAnswer('data', await store.list(ctx.db, sightOf(ctx), query), show))

export const create: Handler<typeof webhooks.create> = async (ctx, { body }) => {
  const { url, description = '', eventTypes, signing = 'hmac' } = body
  ensureKnown(eventTypes)
  const against = await destinationRefused(ctx, url)
  if (against) return unlessAnswered(ctx, against)
  const sealer = await sealerOf(ctx)
  return transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const { orgId, tenantId } = principal
    const sight = sightOf(ctx)
    if ((await store.countOfKey(db, sight)) >= MAX_ENDPOINTS)
      throw new ApiError('webhook_limit_reached', { details: { limit: MAX_ENDPOINTS } })
    const webhookId = ctx.newId('whk')
    const secret = signing === 'hmac' ? makeSecret() : null
    if (signing === 'ed25519') await provideSigningKey(sealer, ctx, db, orgId)
    await store.insertEndpoint(db, {
      ...sight,
      webhookId,
      tenantId,
      url,
      description,
      eventTypes,
      signing,
      secret: secret && sealSecret(sealer, webhookId, secret),
      at: ctx.now(),
    })
    await store.beginFeed(db, orgId)
    await recordChange(ctx, 'create', webhookId, { host: hostOf(url), eventTypes, signing })
    return { ...show(await openEndpoint(ctx, webhookId)), secret: secret && showSecret(secret) }
  })
}

export const eventTypes: Handler<typeof webhooks.eventTypes> = async () => ({
  data: Object.entries(EVENT_TYPES).map(([type, { permission }]) => ({ type, permission })),
})

export const update: Handler<typeof webhooks.update> = async (ctx, { params, body }) => {
  if (body.eventTypes) ensureKnown(body.eventTypes)
  const against = body.url === undefined ? undefined : await destinationRefused(ctx, body.url)
  if (against) return unlessAnswered(ctx, against)
  return transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const { status, ...change } = body
    const before = await openEndpoint(ctx, params.id)
    await store.changeEndpoint(db, principal.orgId, params.id, change)
    const { url, eventTypes } = await openEndpoint(ctx, params.id)
    await recordChange(ctx, 'update', params.id, { host: hostOf(url), eventTypes })
    if (status === 'active') await enable(ctx, before)
    if (status === 'disabled') await disable(ctx, before)
    return show(await openEndpoint(ctx, params.id))
  })
}

async function enable(ctx: TxCtx, endpoint: store.EndpointRow): Promise<void> {
  const { db, principal } = ctx
  if (!(await store.enableEndpoint(db, sightOf(ctx), endpoint.webhookId))) return
  await store.beginFeed(db, principal.orgId)
  await recordChange(ctx, 'enable', endpoint.webhookId)
  await tellOfEndpoint(ctx, db, principal.orgId, endpoint, 'enabled')
}

async function disable(ctx: TxCtx, endpoint: store.EndpointRow): Promise<void> {
  const { db, principal } = ctx
  if (!(await store.disableEndpoint(db, principal.orgId, endpoint.webhookId, 'manual', ctx.now()))) return
  await recordChange(ctx, 'disable', endpoint.webhookId, { reason: 'manual' })
  await tellOfEndpoint(ctx, db, principal.orgId, endpoint, 'disabled', 'manual')
}

export const remove: Handler<typeof webhooks.remove> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { webhookId, url } = await openEndpoint(ctx, params.id)
    await store.deleteEndpoint(ctx.db, ctx.principal.orgId, webhookId)
    await recordChange(ctx, 'delete', webhookId, { host: hostOf(url) })
    return { webhookId }
  })

export const rotateSecret: Handler<typeof webhooks.rotateSecret> = async (ctx, { params }) => {
  const sealer = await sealerOf(ctx)
  return transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const endpoint = await openEndpoint(ctx, params.id)
    if (endpoint.signing !== 'hmac') throw new ApiError('webhook_has_no_secret')
    const secret = makeSecret()
    const at = ctx.now()
    const isPut = await store.putSecret(db, principal.orgId, params.id, {
      ...{ secret: sealSecret(sealer, params.id, secret), at, mostOld: MOST_OLD_SECRETS },
      oldUntil: new Date(at.getTime() + OLD_SECRET_MS),
    })
    // Each was promised its day.
    if (!isPut) throw new ApiError('rate_limited', { headers: { 'retry-after': '3600' } })
    await recordChange(ctx, 'rotate-secret', params.id)
    await tellOfEndpoint(ctx, db, principal.orgId, endpoint, 'secret_rotated')
    return { ...show(await openEndpoint(ctx, params.id)), secret: showSecret(secret) }
  })
}

export const deliveries: Handler<typeof webhooks.deliveries> = (ctx, { params, query }) =>
  transact(ctx, async (ctx) => {
    const { webhookId } = await openEndpoint(ctx, params.id)
    return listAnswer('data', await store.deliveries(ctx.db, ctx.principal.orgId, webhookId, query), showDelivery)
  })

export const redeliver: Handler<typeof webhooks.redeliver> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const { webhookId, status } = await openEndpoint(ctx, params.id)
    const open = async () =>
      found(await store.delivery(ctx.db, orgId, webhookId, params.deliveryId), 'webhook_delivery_not_found')
    const { deliveryId } = await open()
    if (status !== 'active') throw new ApiError('webhook_disabled')
    await deliveryStore.startAgain(ctx.db, orgId, deliveryId, ctx.now())
    await recordChange(ctx, 'redeliver', webhookId, { deliveryId })
    return showDelivery(await open())
  })
