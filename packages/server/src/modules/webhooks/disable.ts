import type { WebhookEndpoint } from '@strongroom/contract'
import { recordFor } from '../../audit/record.ts'
import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { emit } from '../../outbox/outbox.ts'
import * as store from './store.ts'

type Reason = NonNullable<WebhookEndpoint['disabledReason']>

/** Tells the other endpoints of the tenant what became of this one: whoever listens at it cannot hear that it is no longer told. */
export const tellOfEndpoint = (
  deps: Pick<Deps, 'now' | 'newId'>,
  db: Db,
  orgId: string,
  endpoint: { readonly webhookId: string; readonly tenantId: string | null },
  change: 'disabled' | 'enabled' | 'secret_rotated',
  reason?: Reason,
): Promise<string> =>
  emit(deps, db, orgId, {
    type: `webhook_endpoint.${change}`,
    object: {
      type: 'webhook_endpoint',
      id: endpoint.webhookId,
      status: change === 'disabled' ? 'disabled' : 'active',
      ...(reason !== undefined && { reason }),
    },
    tenantId: endpoint.tenantId,
    self: '/api/v1/machine/webhook',
  })

/** Ends an endpoint by itself: with an audit event, and told to the others. */
export async function disableByItself(
  deps: Deps,
  db: Db,
  orgId: string,
  webhookId: string,
  reason: Exclude<Reason, 'manual'>,
): Promise<void> {
  const disabled = await store.disableEndpoint(db, orgId, webhookId, reason, deps.now())
  if (!disabled) return
  const action = 'webhook.disable'
  const request = { requestId: deps.newId('req'), ip: '', userAgent: 'strongroom webhooks', routeName: action }
  await recordFor(
    { ...deps, request },
    db,
    orgId,
    { type: 'system', id: 'system:webhooks' },
    {
      action,
      targets: [{ type: 'webhook', id: webhookId }],
      metadata: { reason },
    },
  )
  await tellOfEndpoint(deps, db, orgId, { webhookId, tenantId: disabled.tenantId }, 'disabled', reason)
}
