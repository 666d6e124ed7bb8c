import { randomUUID } from 'node:crypto'
import type { EventType, WebhookDelivery, WebhookEndpoint } from '@strongroom/contract'
import { type Client, createClient, type FirstPerson } from '@strongroom/sdk'
import { Webhook } from 'standardwebhooks'
import { inOrg } from '../src/context.ts'
import { deliverAll } from '../src/modules/webhooks/background.ts'
import { type DomainEvent, emit } from '../src/outbox/outbox.ts'
import { type Harness, startHarness, type TestAgent } from './harness.ts'
import { type NameServer, startNameServer } from './name-server.ts'
import { foundOrg } from './people.ts'
import { type Received, type Receiver, startReceiver, toLoopback } from './webhook-receiver.ts'

// A server that may reach this machine, somebody to be told, and an agent with endpoints.

export type Caller = Pick<TestAgent, 'client'>
export interface Made extends WebhookEndpoint {
  readonly secret: string | null
}
export interface More {
  readonly by?: Caller
  readonly url?: string
  readonly signing?: 'hmac' | 'ed25519'
}

export interface Scene {
  readonly h: Harness
  readonly names: NameServer
  readonly receiver: Receiver
  readonly alice: FirstPerson
  readonly agent: TestAgent
  make(eventTypes: string[], more?: More): Promise<Made>
  /** Fans out and sends until nothing is due. */
  deliver(): Promise<void>
  /** Something happens in the organisation; the id of the event. */
  happen(type?: EventType, more?: Partial<DomainEvent>): Promise<string>
  historyOf(hook: { readonly webhookId: string }, caller?: Caller): Promise<WebhookDelivery[]>
  clientOf(apiKey: string): Client
  /** Between two tests: no endpoint, nothing received, everything taken. */
  clear(): Promise<void>
  close(): Promise<void>
}

export async function startScene(): Promise<Scene> {
  const names = await startNameServer()
  const h = await startHarness({ egress: toLoopback([names.address]) })
  const receiver = await startReceiver()
  const alice = await foundOrg(h)
  const agent = await h.agent(alice, ['machine.webhook.all', 'machine.budget.read', 'machine.vault.read'])
  return {
    h,
    names,
    receiver,
    alice,
    agent,
    make: (eventTypes, { by = agent, url = `${receiver.url}/hook`, ...more } = {}) =>
      by.client.webhooks.create({ body: { url, eventTypes, ...more } }),
    deliver: () => deliverAll(h.deps, h.worker),
    happen: (type = 'budget.created', more = {}) =>
      inOrg(h.deps, alice.orgId, (db) =>
        emit(h.deps, db, alice.orgId, {
          type,
          object: { type: 'budget', id: randomUUID(), status: 'active' },
          ...more,
        }),
      ),
    historyOf: async ({ webhookId }, { client } = agent) =>
      (await client.webhooks.deliveries({ params: { id: webhookId } })).data,
    clientOf: (apiKey) => createClient({ baseUrl: h.url, apiKey }),
    clear: async () => {
      await h.worker.pool.query('delete from webhook_endpoint')
      receiver.received.length = 0
      receiver.answer((response) => response.writeHead(204).end())
    },
    close: async () => {
      await h.close()
      receiver.close()
      names.close()
    },
  }
}

export const idsOf = (received: readonly Received[]): unknown[] => received.map(({ headers }) => headers['webhook-id'])

/** By the independent verifier; throws if it refuses. */
export const verified = (
  secret: string | null,
  { headers, body }: Received,
): { readonly id: string; readonly type: string; readonly synthetic: boolean } =>
  new Webhook(secret ?? '').verify(body, headers as Record<string, string>) as never

export const only = <T>(values: readonly T[]): T => {
  const [value] = values
  if (value === undefined || values.length !== 1) throw new Error(`${values.length} instead of one`)
  return value
}
