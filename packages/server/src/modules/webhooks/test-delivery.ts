import { isEventType, type webhooks } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { EVENT_API_VERSION } from '../../outbox/outbox.ts'
import * as deliveryStore from './delivery-store.ts'
import { finish } from './finish.ts'
import { attempt } from './send.ts'
import { openEndpoint, showDelivery } from './service.ts'
import { sealerOf } from './signing.ts'
import * as store from './store.ts'

// One synthetic event, sent while the caller waits: signed and guarded like every other, in history, and never held against the endpoint.

const LEASE_MS = 30_000
/** Shorter than a request may take. */
const TIMEOUT_MS = 7_000
const PER_MINUTE = 10

interface Started {
  readonly deliveryId: string
  /** Undefined for a repeated request: it was sent then. */
  readonly claimed?: deliveryStore.Claimed
}

/** The same members as a real one; what it is about does not exist. */
function syntheticBody(ctx: TxCtx, eventId: string, type: string): string {
  const { orgId, tenantId } = ctx.principal
  return JSON.stringify({
    id: eventId,
    type,
    timestamp: ctx.now().toISOString(),
    apiVersion: EVENT_API_VERSION,
    sequence: 1,
    synthetic: true,
    org: orgId,
    ...(tenantId !== null && { tenant: tenantId }),
    data: { object: { type: 'synthetic', id: eventId } },
  })
}

async function begin(ctx: TxCtx, webhookId: string, type: string): Promise<Started> {
  const { orgId } = ctx.principal
  const at = ctx.now()
  const minuteAgo = new Date(at.getTime() - 60_000)
  if ((await deliveryStore.countSynthetic(ctx.db, orgId, webhookId, minuteAgo)) >= PER_MINUTE)
    throw new ApiError('rate_limited', { headers: { 'retry-after': '60' } })
  const [deliveryId, eventId] = [ctx.newId('whd'), ctx.newId('evt')]
  const claimed = await deliveryStore.startSynthetic(ctx.db, {
    orgId,
    endpointId: webhookId,
    deliveryId,
    eventId,
    type,
    body: syntheticBody(ctx, eventId, type),
    at,
    until: new Date(at.getTime() + LEASE_MS),
  })
  await deliveryStore.startAttempts(ctx.db, orgId, [claimed], at)
  await record(ctx, {
    action: 'webhook.test',
    targets: [{ type: 'webhook', id: webhookId }],
    metadata: { deliveryId, type },
  })
  return { deliveryId, claimed }
}

/** Not for the idempotency key of the request: what that one keeps is written already. */
const withoutKey = (ctx: Ctx): Ctx => ({ ...ctx, idempotent: undefined })

export const test: Handler<typeof webhooks.test> = async (ctx, { params, body }) => {
  const { eventType = 'webhook.test' } = body
  if (!isEventType(eventType))
    throw new ApiError('webhook_event_type_unknown', { details: { eventTypes: [eventType] } })
  const sealer = await sealerOf(ctx)
  const { deliveryId, claimed } = await transact<Started>(
    ctx,
    async (ctx) => begin(ctx, (await openEndpoint(ctx, params.id)).webhookId, eventType),
    {
      replay: {
        kept: ({ deliveryId }) => ({ deliveryId }),
        again: async (_, kept) => kept as { deliveryId: string },
      },
    },
  )
  if (claimed) {
    const message = { ...claimed, body: claimed.body ?? '', signer: claimed }
    await finish(ctx, ctx.database, claimed, await attempt(ctx, sealer, message, { timeoutMs: TIMEOUT_MS }))
  }
  return transact(withoutKey(ctx), async ({ db, principal }) =>
    showDelivery(found(await store.delivery(db, principal.orgId, params.id, deliveryId), 'webhook_delivery_not_found')),
  )
}
