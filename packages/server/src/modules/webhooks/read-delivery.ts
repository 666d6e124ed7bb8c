import type { WebhookDeliveryDetail, webhooks } from '@strongroom/contract'
import { type TxCtx, transact } from '../../context.ts'
import { found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { heardBy } from '../../outbox/listeners.ts'
import { sentHeaders } from './send.ts'
import { openEndpoint, showAttempt, showDelivery } from './service.ts'
import { baseString } from './signing.ts'
import * as store from './store.ts'

// One delivery with the requests that were made for it, so that whoever receives can check a signature by hand. Nothing of it is kept twice: the
// body is the text of the event, which the sender sends as it is, and headers are written from what an attempt was signed with, by the
// code that writes them when it is sent.

/** Null if the caller could not hear of it now, whatever was sent to its endpoint before. */
async function readableBody({ db, principal, now }: TxCtx, deliveryId: string): Promise<string | null> {
  const message = found(await store.message(db, principal.orgId, deliveryId), 'webhook_delivery_not_found')
  if (message.synthetic) return message.body
  const owner = { principal: principal.id, keyId: principal.keyId }
  const [heard] = await heardBy(db, principal.orgId, owner, [message], now())
  return heard?.body ?? null
}

type Attempt = WebhookDeliveryDetail['attempts'][number]

function withRequest(row: store.AttemptRow, eventId: string, body: string | null): Attempt {
  const { url, signedAt, signature } = row
  const attempt = showAttempt(row)
  if (body === null || signedAt === null || signature === null) return { ...attempt, request: null }
  const at = new Date(signedAt)
  const headers = sentHeaders(url, eventId, { at, signature }, body)
  return { ...attempt, request: { headers, baseString: baseString(eventId, at, body) } }
}

export const delivery: Handler<typeof webhooks.delivery> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const { webhookId } = await openEndpoint(ctx, params.id)
    const row = found(
      await store.delivery(db, principal.orgId, webhookId, params.deliveryId),
      'webhook_delivery_not_found',
    )
    const body = await readableBody(ctx, row.deliveryId)
    return {
      ...showDelivery(row),
      body,
      attempts: row.attempts.map((attempt) => withRequest(attempt, row.eventId, body)),
    }
  })
