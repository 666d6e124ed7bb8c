import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { type Scene, startScene, verified } from '../../../server/test/webhook-scene.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import type { ListenOptions, WebhookMessage } from '../../src/strongroom/webhooks.ts'
import { verifyWebhook } from '../../src/webhooks.ts'
import { errorOf } from './world.ts'

// Webhooks in the SDK, on a real server with a real receiver. Catches: a secret that prints itself or is taken from an answer that has none,
// an endpoint of another key, a stream that skips or repeats what happened while it was broken, one that goes on after a refusal.
// Seen red: the place not sent with the next stream, no place where nothing was told yet, a refusal tried again for ever, a stream that is
// let in while the server stops, a new key of a vault told as any change.

let scene: Scene
let client: Strongroom
beforeAll(async () => {
  scene = await startScene()
  client = connect(scene.agent.apiKey)
})
afterAll(() => scene.close())
beforeEach(() => scene.clear())

const connect = (apiKey: string, more: StrongroomOptions = {}): Strongroom =>
  new Strongroom({ server: scene.h.url, apiKey, ...more })

it('makes an endpoint whose secret verifies its deliveries and does not print itself', async () => {
  const url = `${scene.receiver.url}/hook`
  const { endpoint, signingSecret } = await client.webhooks.create({ url, eventTypes: ['budget.*'] })
  const id = endpoint.webhookId
  const secret = signingSecret?.reveal() ?? ''
  expect(JSON.stringify({ endpoint, signingSecret })).not.toContain(secret)
  const eventId = await scene.happen('budget.created')
  await scene.deliver()
  const [received] = scene.receiver.received
  if (!received) throw new Error('nothing was received')
  expect(verified(secret, received).id).toBe(eventId)
  expect((await verifyWebhook(received.body, received.headers, secret)).id).toBe(eventId)
  const [sent] = await client.webhooks.deliveries(id, { state: 'delivered' }).all()
  expect(sent).toMatchObject({ eventId, eventType: 'budget.created' })
  const { body, attempts } = await client.webhooks.delivery(id, sent?.deliveryId ?? '')
  expect([body, attempts[0]?.request?.headers]).toEqual([received.body.toString(), received.headers])
  expect(await client.webhooks.redeliver(id, sent?.deliveryId ?? '')).toMatchObject({ eventId })
  expect(await client.webhooks.test(id, { eventType: 'budget.exceeded' })).toMatchObject({ state: 'delivered' })
  const rotated = await client.webhooks.rotateSecret(id)
  expect(rotated.signingSecret?.equals(secret)).toBe(false)
  expect(await client.webhooks.update(id, { status: 'disabled' })).toMatchObject({ status: 'disabled' })
  expect((await client.webhooks.get(id)).status).toBe('disabled')
  const signed = await client.webhooks.create({ url, eventTypes: ['*'], signing: 'ed25519' })
  expect(signed).toMatchObject({ signingSecret: undefined, endpoint: { publicKey: expect.stringMatching(/^whpk_/) } })
  expect(await errorOf(client.webhooks.rotateSecret(signed.endpoint.webhookId))).toMatchObject({
    name: 'ConflictError',
    code: 'webhook_has_no_secret',
  })
  await client.webhooks.delete(id)
  expect(await errorOf(client.webhooks.get(id))).toMatchObject({ name: 'NotFoundError', code: 'webhook_not_found' })
  expect((await client.webhooks.list()).data).toHaveLength(1)
})

it('sees nothing of the endpoints of another key, and gives a secret out once', async () => {
  const url = `${scene.receiver.url}/hook`
  const idempotencyKey = crypto.randomUUID()
  const { endpoint } = await client.webhooks.create({ url, eventTypes: ['*'] }, { idempotencyKey })
  expect(await errorOf(client.webhooks.create({ url, eventTypes: ['*'] }, { idempotencyKey }))).toMatchObject({
    code: 'secret_already_shown',
  })
  const { apiKey } = await scene.h.agent(scene.alice, ['machine.webhook.all'])
  const other = connect(apiKey).webhooks
  expect(await other.list().all()).toEqual([])
  for (const call of [other.get, other.rotateSecret, other.delete, other.test])
    expect(await errorOf(call(endpoint.webhookId))).toMatchObject({ code: 'webhook_not_found' })
  expect((await client.webhooks.eventTypes()).map(({ type }) => type)).toContain('vault_item.created')
})

interface Heard {
  next(): Promise<WebhookMessage | undefined>
  stop(): void
}

/** Resolves when the stream stands. */
async function listen(strongroom: Strongroom, options: ListenOptions = {}): Promise<Heard> {
  const ended = new AbortController()
  onTestFinished(() => ended.abort())
  let iterator: AsyncIterator<WebhookMessage> | undefined
  let first: Promise<IteratorResult<WebhookMessage>> | undefined
  await new Promise<void>((resolve, reject) => {
    const stream = strongroom.webhooks.listen({ signal: ended.signal, onOpen: resolve, ...options })
    iterator = stream[Symbol.asyncIterator]()
    first = iterator.next()
    first.catch(reject)
  })
  return {
    next: async () => {
      const next = first ?? iterator?.next()
      first = undefined
      return (await next)?.value as WebhookMessage | undefined
    },
    stop: () => ended.abort(),
  }
}

it('hears what an endpoint of the same key would be sent, byte for byte', async () => {
  const { apiKey } = await scene.h.agent(scene.alice, ['machine.all'])
  const own = connect(apiKey)
  const { signingSecret } = await own.webhooks.create({ url: `${scene.receiver.url}/hook`, eventTypes: ['budget.*'] })
  const heard = await listen(own, { eventTypes: ['budget.*'] })
  await scene.happen('billing.balance.low')
  await scene.happen('budget.created')
  await scene.deliver()
  const message = await heard.next()
  const [received] = scene.receiver.received
  expect(message?.body).toBe(received?.body.toString())
  const headers = received?.headers as Record<string, string>
  expect(new Webhook(signingSecret?.reveal() ?? '').verify(message?.body ?? '', headers)).toEqual(message?.event)
  heard.stop()
  expect(await heard.next()).toBeUndefined()
})

it('hears that a vault has another key', async () => {
  const { accessToken, identity: privateKey, trustAnchor } = scene.alice
  const alice = new Strongroom({ server: scene.h.url, accessToken, privateKey, trustAnchor })
  const { vaultId } = await alice.vaults.create({ name: 'rotated' })
  const heard = await listen(alice, { eventTypes: ['vault.key_rotated'] })
  await alice.vaults.rotateKey(vaultId)
  expect((await heard.next())?.event.data.object).toMatchObject({ type: 'vault', id: vaultId })
})

/** A network that breaks each stream behind its first event, and refuses the first attempt to take it up again. */
function brokenNetwork(): { readonly fetch: typeof fetch; readonly places: (string | null)[] } {
  const places: (string | null)[] = []
  const through: typeof fetch = async (input, init) => {
    places.push(new Headers(init?.headers).get('last-event-id'))
    if (places.length === 2) throw new TypeError('fetch failed')
    const response = await fetch(input, init)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { value, done } = await reader.read()
        if (value) controller.enqueue(value)
        if (done) return controller.close()
        if (new TextDecoder().decode(value).includes('data: ')) controller.error(new TypeError('terminated'))
      },
      cancel: () => reader.cancel(),
    })
    return new Response(body, { status: response.status, headers: response.headers })
  }
  return { fetch: through, places }
}

it('goes on where a stream broke off: nothing twice, nothing skipped', async () => {
  const { apiKey } = await scene.h.agent(scene.alice, ['machine.all'])
  const { fetch: network, places } = brokenNetwork()
  const told: string[] = []
  const heard = await listen(connect(apiKey, { fetch: network }), {
    eventTypes: ['budget.created'],
    onLost: () => told.push('lost'),
  })
  const ids: (string | undefined)[] = []
  const expected: string[] = []
  for (let i = 0; i < 3; i++) {
    expected.push(await scene.happen('budget.created'))
    await scene.deliver()
    ids.push((await heard.next())?.event.id)
  }
  heard.stop()
  expect(ids).toEqual(expected)
  expect(places[0]).toBeNull()
  expect(places.slice(1).every((place) => /^\d+-\d+$/.test(place ?? ''))).toBe(true)
  expect(told.length).toBeGreaterThanOrEqual(2)
})

it('ends with the refusal when the server refuses, at the beginning and later', async () => {
  const { apiKey } = await scene.h.agent(scene.alice, ['machine.budget.read'])
  const first = (strongroom: Strongroom, options: ListenOptions = {}): Promise<unknown> =>
    strongroom.webhooks.listen(options)[Symbol.asyncIterator]().next()
  expect(await errorOf(first(connect(apiKey)))).toMatchObject({ name: 'PermissionDeniedError' })
  const own = await scene.h.agent(scene.alice, ['machine.monitoring.read'])
  expect(await errorOf(first(connect(own.apiKey), { eventTypes: ['buget.*'] }))).toMatchObject({
    code: 'webhook_event_type_unknown',
  })
  const heard = await listen(connect(own.apiKey))
  await scene.alice.client.agents.archive({ params: { id: own.agentId } })
  expect(await errorOf(heard.next())).toMatchObject({ name: 'AuthenticationError' })
})

it('does not keep a server from stopping, and finds it again', async () => {
  const sibling = await scene.h.sibling()
  const { apiKey } = await scene.h.agent(scene.alice, ['machine.all'])
  let isGone = false
  const network: typeof fetch = (input, init) =>
    fetch(isGone ? String(input).replace(sibling.url, scene.h.url) : input, init)
  const client = new Strongroom({ server: sibling.url, apiKey, fetch: network })
  const heard = await listen(client, { eventTypes: ['budget.created'] })
  await sibling.close()
  isGone = true
  const eventId = await scene.happen('budget.created')
  await scene.deliver()
  expect((await heard.next())?.event.id).toBe(eventId)
})
