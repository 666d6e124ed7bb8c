import { once } from 'node:events'
import { createServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Permission, WebhookDeliveryDetail } from '@strongroom/contract'
import { verifyWebhook } from '@strongroom/sdk'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { selfSigned } from '../../../test/certificate.ts'
import { codeOf, refusal, seedUser } from '../../../test/people.ts'
import { edit, makeVault, writeItems } from '../../../test/vault-writer.ts'
import { startReceiver } from '../../../test/webhook-receiver.ts'
import { type Caller, type Made, only, type Scene, startScene } from '../../../test/webhook-scene.ts'
import { inOrg } from '../../context.ts'
import { fanOut } from '../../outbox/fan-out.ts'
import { makeSender } from './deliver.ts'

// What one delivery shows: how the time of an attempt was spent, and the request as its receiver got it. Catches: a step that is taken for
// another or said of a request that never came to it, headers, body or signed text that are not those that were sent, a body for somebody who
// may no longer read it, deliveries of others, anything of an answer.
// Seen red: the wait counted from the start, a handshake counted to the connection, figures for a connection that was refused and for the
// name of an address without one, headers of the claim's time instead of the signature's, headers without what the connection adds, a body
// without a look at who asks, a delivery of another endpoint shown.

let scene: Scene
let { h, receiver, agent, alice, names, make, deliver, happen, historyOf } = {} as Scene
beforeAll(async () => {
  scene = await startScene()
  ;({ h, receiver, agent, alice, names, make, deliver, happen, historyOf } = scene)
})
afterAll(() => scene.close())
beforeEach(() => scene.clear())

const read = (hook: Made, deliveryId: string, { client }: Caller = agent): Promise<WebhookDeliveryDetail> =>
  client.webhooks.delivery({ params: { id: hook.webhookId, deliveryId } })

/** The only delivery of an endpoint. */
const readOnly = async (hook: Made, caller: Caller = agent): Promise<WebhookDeliveryDetail> =>
  read(hook, only(await historyOf(hook, caller)).deliveryId, caller)

const DELAY_MS = 120

it('says how long the receiver was waited for, and nothing of steps that there are not', async () => {
  const took: number[] = []
  receiver.answer((response) => {
    const since = performance.now()
    setTimeout(() => {
      took.push(Math.floor(performance.now() - since))
      response.writeHead(204).end()
    }, DELAY_MS)
  })
  const hook = await make(['budget.*'])
  for (let i = 0; i < 2; i++) await happen()
  await deliver()
  const history = await historyOf(hook)
  expect(history).toHaveLength(2)
  // Each with a connection of its own.
  for (const { attempts } of history) {
    const { timing, durationMs } = only(attempts)
    expect(timing).toEqual({ lookupMs: null, connectMs: expect.any(Number), tlsMs: null, waitMs: expect.any(Number) })
    const { connectMs, waitMs } = timing
    expect(waitMs).toBeGreaterThanOrEqual(Math.min(...took))
    expect((connectMs ?? 0) + (waitMs ?? 0)).toBeLessThanOrEqual(durationMs ?? 0)
  }
})

const NAME = 'hooks.acme.dev'

/** Over TLS, behind a name. Takes its time for the handshake as well. */
async function startSecure() {
  const certificate = selfSigned(NAME)
  names.tell(NAME, ['127.0.0.1'])
  const secure = await startReceiver({
    ...certificate,
    name: NAME,
    SNICallback: (_, done) => void setTimeout(done, DELAY_MS, null),
  })
  onTestFinished(() => secure.close())
  return { ...secure, certificate: certificate.cert }
}

const timingOf = async (hook: Made) => only(only(await historyOf(hook)).attempts)

it('says how long the name and the handshake took, and that there was none with a certificate of nobody', async () => {
  const secure = await startSecure()
  const hook = await make(['budget.*'], { url: `${secure.url}/hook` })
  await happen()
  await deliver()
  expect(await timingOf(hook)).toMatchObject({
    error: 'tls_failed',
    timing: { lookupMs: expect.any(Number), connectMs: expect.any(Number), tlsMs: null, waitMs: null },
  })
  expect(secure.received).toEqual([])
  const before = getCACertificates('default')
  onTestFinished(() => setDefaultCACertificates(before))
  setDefaultCACertificates([...before, secure.certificate])
  secure.answer((response) => void setTimeout(() => response.writeHead(204).end(), DELAY_MS))
  const trusting = await make(['webhook.*'], { url: `${secure.url}/hook` })
  const { attempts } = await agent.client.webhooks.test({ params: { id: trusting.webhookId }, body: {} })
  const { timing, durationMs } = only(attempts)
  const { lookupMs, connectMs, tlsMs, waitMs } = timing
  const steps = [lookupMs, connectMs, tlsMs, waitMs].map((ms) => ms ?? Number.NaN)
  // A timer may be early by less than a millisecond. What one step took counts for no other.
  for (const ms of [tlsMs, waitMs]) expect(ms).toBeGreaterThanOrEqual(DELAY_MS - 1)
  expect(steps.reduce((sum, ms) => sum + ms)).toBeLessThanOrEqual(durationMs ?? 0)
  const shown = await read(trusting, only(await historyOf(trusting)).deliveryId)
  expect(shown.attempts[0]?.request?.headers).toEqual(only(secure.received).headers)
})

it('leaves out what did not come about: a refused connection, a name that leads nowhere or inside, an answer that never began', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as { port: number }
  closed.close()
  const nothing = { lookupMs: null, connectMs: null, tlsMs: null, waitMs: null }
  const refused = await make(['budget.*'], { url: `http://127.0.0.1:${port}/` })
  const nowhere = await make(['budget.*'], { url: 'https://nobody.acme.dev/' })
  names.tell('turned.acme.dev', [])
  const inside = await make(['budget.*'], { url: 'https://turned.acme.dev/' })
  names.tell('turned.acme.dev', ['10.20.30.40'])
  const silent = await make(['budget.*'])
  receiver.answer(() => undefined)
  await happen()
  await fanOut(h.deps, h.worker)
  const sender = makeSender(h.deps, h.worker, { timeoutMs: 300 })
  await sender.turn()
  await sender.idle()
  expect(await timingOf(refused)).toMatchObject({ error: 'connection_failed', timing: nothing })
  expect(await timingOf(nowhere)).toMatchObject({ error: 'name_not_found', timing: nothing })
  expect(await timingOf(inside)).toMatchObject({ error: 'address_forbidden', timing: nothing })
  expect(await timingOf(silent)).toMatchObject({
    error: 'timeout',
    timing: { ...nothing, connectMs: expect.any(Number) },
  })
})

it('shows each request as its receiver got it, so that an independent verifier takes it, also after a rotation', async () => {
  const hook = await make(['budget.*'])
  receiver.answer((response) => response.writeHead(500).end('secret of the receiver'))
  const eventId = await happen()
  await fanOut(h.deps, h.worker)
  // What is signed has the time of its sending, which is not the time it was claimed.
  const sender = makeSender({ ...h.deps, now: ticking(h.deps.now()) }, h.worker)
  await sender.turn()
  await sender.idle()
  h.advance(60_000)
  await deliver()
  const rotate = () => agent.client.webhooks.rotateSecret({ params: { id: hook.webhookId } })
  const fresh = [await rotate(), await rotate()]
  const shown = await readOnly(hook)
  expect(shown).toMatchObject({ eventId, eventType: 'budget.created', state: 'retrying', attempts: { length: 2 } })
  expect(shown.body).toBe(receiver.received[0]?.body.toString())
  for (const [at, { request, responseStatus }] of shown.attempts.entries()) {
    const received = receiver.received[at]
    expect([responseStatus, request?.headers]).toEqual([500, received?.headers])
    expect(request?.baseString).toBe(`${eventId}.${received?.headers['webhook-timestamp']}.${received?.body}`)
    const [id = '', seconds = '', ...body] = request?.baseString.split('.') ?? []
    const signature = new Webhook(hook.secret ?? '').sign(id, new Date(Number(seconds) * 1000), body.join('.'))
    expect(request?.headers['webhook-signature']).toBe(signature)
    const now = new Date(Number(seconds) * 1000)
    const bytes = new TextEncoder().encode(shown.body ?? '')
    expect(await verifyWebhook(bytes, request?.headers ?? {}, hook.secret ?? '', { now })).toMatchObject({
      id: eventId,
    })
  }
  const text = JSON.stringify(shown)
  for (const hidden of ['secret of the receiver', 'whsec_', ...fresh.map(({ secret }) => secret ?? '-')])
    expect(text).not.toContain(hidden)
})

/** A clock that every look moves on by a second. */
function ticking(from: Date): () => Date {
  let looks = 0
  return () => new Date(from.getTime() + 1000 * looks++)
}

it('shows what a test has sent, and nothing of an attempt that nobody knows the end of', async () => {
  const hook = await make(['budget.*'], { signing: 'ed25519' })
  const { deliveryId, eventId } = await agent.client.webhooks.test({ params: { id: hook.webhookId }, body: {} })
  const shown = await read(hook, deliveryId)
  const [sent] = receiver.received
  expect([shown.body, shown.attempts[0]?.request?.headers]).toEqual([sent?.body.toString(), sent?.headers])
  const bytes = new TextEncoder().encode(shown.body ?? '')
  const { headers = {} } = shown.attempts[0]?.request ?? {}
  expect(await verifyWebhook(bytes, headers, hook.publicKey ?? '')).toMatchObject({ id: eventId, synthetic: true })
  await h.worker.pool.query(
    `insert into webhook_attempt (org_id, delivery_id, attempt, started_at, url) values ($1, $2, 2, now(), 'https://acme.dev')`,
    [alice.orgId, deliveryId],
  )
  expect((await read(hook, deliveryId)).attempts[1]).toMatchObject({
    durationMs: null,
    timing: { lookupMs: null, connectMs: null, tlsMs: null, waitMs: null },
    request: null,
  })
})

it('shows no body to a key that may no longer read what the event is about, and the way of the delivery all the same', async () => {
  const hook = await make(['budget.*'])
  await happen()
  await deliver()
  const before = await readOnly(hook)
  expect(before.body).toContain('budget.created')
  const permit = (permissions: Permission[]) =>
    alice.client.agents.update({ params: { id: agent.agentId }, body: { permissions } })
  await permit(['machine.webhook.all'])
  const attempts = before.attempts.map((attempt) => ({ ...attempt, request: null }))
  expect(await readOnly(hook)).toEqual({ ...before, body: null, attempts })
  await permit(['machine.webhook.all', 'machine.budget.read', 'machine.vault.read'])
  expect(await readOnly(hook)).toEqual(before)
})

it('shows nothing of a vault to somebody who is no longer on its list', async () => {
  const bot = await agentWriter(h, alice, 'deploy')
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  const hook = await make(['vault_item.*'], { by: bot })
  await writeItems(alice, vaultId, [edit('itm_seen', { LABEL: '1' })])
  await deliver()
  expect((await readOnly(hook, bot)).body).toContain('itm_seen')
  await inOrg(h.deps, alice.orgId, (db) =>
    db.updateTable('vault_access').set({ role: null }).where('principal', '=', `agent:${bot.agentId}`).execute(),
  )
  const after = await readOnly(hook, bot)
  expect([after.body, after.attempts[0]?.request]).toEqual([null, null])
})

it('answers 404 alike for what is not there, of another endpoint or of somebody else, and needs the permission', async () => {
  const [hook, other] = [await make(['budget.*']), await make(['agent.*'])]
  await happen()
  await deliver()
  const { deliveryId } = only(await historyOf(hook))
  expect(await refusal(read(other, deliveryId))).toMatchObject({ status: 404, code: 'webhook_delivery_not_found' })
  expect(await codeOf(read(hook, 'whd_nothing'))).toBe('webhook_delivery_not_found')
  const colleague = await h.agent(alice, ['machine.all'])
  const foreign = await h.agent(await h.org('other'), ['machine.all'])
  const owner = await seedUser(h, alice, { orgRoles: ['ORG_OWNER'] })
  for (const caller of [colleague, foreign, owner])
    expect(await refusal(read(hook, deliveryId, caller))).toMatchObject({ status: 404, code: 'webhook_not_found' })
  const poor = await h.agent(alice, ['machine.budget.read'])
  expect(await refusal(read(hook, deliveryId, poor))).toMatchObject({ status: 403 })
})
