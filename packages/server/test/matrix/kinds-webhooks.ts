import { inOrg } from '../../src/context.ts'
import { sealerOf, sealSecret } from '../../src/modules/webhooks/signing.ts'
import type { Kind } from './kinds.ts'
import type { Caller } from './relations.ts'
import type { World } from './world.ts'

/** The key somebody calls with; none for a person who is logged in. */
async function keyOf({ h: { deps } }: World, { id, credential, home }: Caller): Promise<string | null> {
  const [type, name = ''] = id.split(':')
  if (type === 'operator' || credential === 'token') return type === 'operator' ? name : null
  const row = await inOrg(deps, home.orgId, (db) =>
    db
      .selectFrom('api_key')
      .select('key_id as keyId')
      .where(type === 'agent' ? 'agent_id' : 'user_id', '=', name)
      .where('status', '=', 'active')
      .executeTakeFirst(),
  )
  return row?.keyId ?? null
}

/** Nobody takes anything here: requests to it are refused before they leave. */
const NOWHERE = 'https://127.0.0.1/hook'

/** Something was sent to every endpoint. */
export const deliveryOf = (webhookId: string): string => webhookId.replace('whk_', 'whd_')

/** Of whoever asks, of a colleague, of somebody next door and of somebody else altogether. */
const webhook: Kind = {
  relations: ['own', 'no-access', 'other-tenant', 'other-org', 'archived'],
  make: async (world, { place, relation, caller, label }) => {
    const { deps } = world.h
    const isOwn = relation === 'own' || relation === 'archived'
    const webhookId = deps.newId('whk')
    const secret = sealSecret(await sealerOf(deps), webhookId, new Uint8Array(32))
    const keyId = isOwn ? await keyOf(world, caller) : null
    const ended =
      relation === 'archived' ? { status: 'disabled', disabled_reason: 'manual', disabled_at: deps.now() } : {}
    await inOrg(deps, place.orgId, async (db) => {
      await db
        .insertInto('webhook_endpoint')
        .values({
          org_id: place.orgId,
          endpoint_id: webhookId,
          principal: isOwn ? caller.id : 'user:usr_somebody',
          key_id: keyId,
          tenant_id: place.tenantId,
          url: NOWHERE,
          description: label,
          event_types: ['*'],
          signing: 'hmac',
          secret,
          old_secret: null,
          old_secret_until: null,
          disabled_reason: null,
          disabled_at: null,
          failing_since: null,
          throttled_until: null,
          created_at: deps.now(),
          ...ended,
        })
        .execute()
      await db
        .insertInto('webhook_delivery')
        .values({
          org_id: place.orgId,
          delivery_id: deliveryOf(webhookId),
          endpoint_id: webhookId,
          event_id: deps.newId('evt'),
          type: 'webhook.test',
          body: '{}',
          synthetic: true,
          state: 'exhausted',
          due_at: null,
          created_at: deps.now(),
          finished_at: deps.now(),
        })
        .execute()
    })
    return webhookId
  },
  absent: ({ h }) => h.deps.newId('whk'),
  personal: ['own', 'archived'],
}

export const WEBHOOK_KINDS = { webhook } as const satisfies Record<string, Kind>
