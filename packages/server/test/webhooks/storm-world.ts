import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { type Config, readConfig } from '../../src/config.ts'
import { type Deps, inOrg } from '../../src/context.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import type { Logins } from '../../src/db/roles.ts'
import { makeSecret, sealerOf, sealSecret } from '../../src/modules/webhooks/signing.ts'
import { makeApiKey } from '../../src/secrets/credentials.ts'
import { openRootKey } from '../../src/secrets/root-key.ts'
import { loadPepper } from '../../src/secrets/server-secrets.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { makeTelemetry } from '../../src/telemetry/telemetry.ts'
import { newTestId as newId } from '../crash/mortal.ts'
import { type Received, toLoopback } from '../webhook-receiver.ts'

// What the storm and the processes it kills have in common: one database, one root key, and a clock that somebody else moves.

export interface StormDatabase {
  readonly app: Logins['app']
  readonly worker: Logins['worker']
}

export interface Clock {
  skewMs: number
}

const ROOT_KEY = new Uint8Array(32).fill(9)

export async function openWorld(
  logins: StormDatabase,
  clock: Clock,
): Promise<{ readonly deps: Deps; readonly worker: Database; close(): Promise<void> }> {
  const config: Config = { ...readConfig({ STRONGROOM_LOG_LEVEL: 'silent' }, []), egress: toLoopback() }
  const database = openDatabase({ connection: logins.app, poolSize: 8 }, () => undefined)
  const worker = openDatabase({ connection: logins.worker, poolSize: 3 }, () => undefined)
  const keeper = { database, rootKey: openRootKey(ROOT_KEY), now: () => new Date(Date.now() + clock.skewMs) }
  const telemetry = makeTelemetry({ exportsSpans: false })
  const deps: Deps = { ...keeper, config, pepper: await loadPepper(keeper), log: makeLog(config), telemetry, newId }
  const close = async (): Promise<void> => {
    telemetry.stop()
    await worker.close()
    await database.close()
  }
  return { deps, worker, close }
}

export interface StormEndpoint {
  readonly endpointId: string
  readonly secret: Buffer
}

/** What is wrong with the signature or the body of what was received, by the word of an independent library. */
export function wrongWithSigning({ secret }: StormEndpoint, { headers, body }: Received): string | undefined {
  const [id, timestamp] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])]
  const signature = new Webhook(`whsec_${secret.toString('base64')}`).sign(
    id,
    new Date(timestamp * 1000),
    body.toString(),
  )
  if (headers['webhook-signature'] !== signature) return `${id} is not signed`
  return (JSON.parse(body.toString()) as { id: string }).id === id ? undefined : `${id} has another body`
}

/** An organisation with an agent that may hear of budgets and of endpoints that ended, and its endpoints. */
export async function plantOrg(
  deps: Deps,
  urls: readonly string[],
): Promise<{ readonly orgId: string; readonly endpoints: readonly StormEndpoint[] }> {
  const [orgId, tenantId, agentId, keyId] = [newId('org'), newId('ten'), newId('agt'), newId('key')]
  const at = deps.now()
  const key = makeApiKey(deps.pepper)
  const sealer = await sealerOf(deps)
  const endpoints = urls.map(() => ({ endpointId: newId('whk'), secret: makeSecret() }))
  await inOrg(deps, orgId, async (db) => {
    const name = `storm ${randomBytes(4).toString('hex')}`
    await db
      .insertInto('org')
      .values({ org_id: orgId, name, genesis_hash: '', log_origin: `test/${orgId}`, created_at: at })
      .execute()
    await db
      .insertInto('tenant')
      .values({ org_id: orgId, tenant_id: tenantId, parent_id: null, name, status: 'active', created_at: at })
      .execute()
    await db
      .insertInto('agent')
      .values({
        org_id: orgId,
        agent_id: agentId,
        tenant_id: tenantId,
        name,
        status: 'active',
        permissions: ['machine.budget.read', 'machine.webhook.read'],
        vault_id: null,
        vault_item_id: null,
        created_by: 'test',
        created_at: at,
        archived_at: null,
      })
      .execute()
    await db
      .insertInto('api_key')
      .values({
        org_id: orgId,
        key_id: keyId,
        access_key: key.accessKey,
        secret_hmac: key.secretHmac,
        agent_id: agentId,
        user_id: null,
        status: 'active',
        created_at: at,
        ended_at: null,
      })
      .execute()
    for (const [i, { endpointId, secret }] of endpoints.entries())
      await db
        .insertInto('webhook_endpoint')
        .values({
          org_id: orgId,
          endpoint_id: endpointId,
          principal: `agent:${agentId}`,
          key_id: keyId,
          tenant_id: tenantId,
          url: urls[i] ?? '',
          description: '',
          event_types: ['budget.*', 'webhook_endpoint.*'],
          signing: 'hmac',
          secret: sealSecret(sealer, endpointId, secret),
          old_secret: null,
          old_secret_until: null,
          disabled_reason: null,
          disabled_at: null,
          failing_since: null,
          throttled_until: null,
          created_at: at,
        })
        .execute()
  })
  return { orgId, endpoints }
}
