import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WebhookDelivery, WebhookDeliveryDetail, WebhookEndpoint } from '@strongroom/sdk'
import { Webhook } from 'standardwebhooks'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { happen, tellAll } from '../../server/test/operator.ts'
import { freePort } from '../../server/test/process.ts'
import { type Received, type Receiver, startReceiver, toLoopback } from '../../server/test/webhook-receiver.ts'
import { listenShape } from '../src/schemas/webhook.ts'
import { startCommand } from './running.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Webhooks at the command line, received for real and verified by an independent library. Catches: a secret that is not the one that
// signs, one that is shown to a coding agent or twice, a forwarded request that differs from what the server would send, events outside of
// the filter, a listener that does not end, a delivery that shows another request than was made.
// Seen red: a signature over the body alone, the filter not sent, an answer of 500 taken for taken, Ctrl-C that ends with 130, a secret
// printed for an agent, a step left out of a delivery, the text without its time shown as what is signed.

let world: World
let machine: Machine
let receiver: Receiver
let url: string
beforeAll(async () => {
  receiver = await startReceiver()
  url = `${receiver.url}/hook`
  world = await startWorld({ egress: toLoopback() })
  machine = await world.founderMachine()
})
afterAll(async () => {
  await world.close()
  receiver.close()
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer((response) => response.writeHead(204).end())
})

const refused = async (args: readonly string[], code: string, exitCode: number, env: Record<string, string> = {}) => {
  const ended = await machine.call([...args, '--json'], { env })
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
}

const lastOf = (received: readonly Received[]): Received => {
  const last = received.at(-1)
  if (!last) throw new Error('nothing was received')
  return last
}

/** By the independent verifier; throws if it refuses. */
const verified = (secret: string, { headers, body }: Received): { readonly id: string; readonly type: string } =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as never

interface Made {
  readonly endpoint: WebhookEndpoint
  readonly secret: string
}

/** What one delivery shows is what its receiver got, in words and for programs. */
async function looksAt(id: string, deliveryId: string, { headers, body }: Received): Promise<void> {
  const args = ['webhook', 'delivery', id, deliveryId]
  const shown = await jsonOf<WebhookDeliveryDetail>(machine, args)
  const { timing, request } = shown.attempts[0] ?? {}
  const { connectMs, waitMs } = timing ?? {}
  expect(timing).toEqual({ lookupMs: null, connectMs: expect.any(Number), tlsMs: null, waitMs: expect.any(Number) })
  expect([shown.body, request?.headers]).toEqual([body.toString(), headers])
  const { stdout } = await machine.call(args)
  expect(stdout).toMatch(new RegExp(`204 +\\d+  connect ${connectMs} ms, wait ${waitMs} ms\\n`))
  expect(stdout).toContain(`webhook-signature: ${headers['webhook-signature']}\n`)
  expect(stdout).toContain(`\n\n${body}\n\nsigned  ${shown.eventId}.${headers['webhook-timestamp']}.${body}`)
}

it('makes an endpoint whose deliveries its secret verifies, and shows, sends again, rotates and deletes', async () => {
  const { endpoint, secret } = await jsonOf<Made>(machine, ['webhook', 'create', url, '--events', 'budget.*,vault.*'])
  const id = endpoint.webhookId
  expect(endpoint).toMatchObject({ url, eventTypes: ['budget.*', 'vault.*'], signing: 'hmac', status: 'active' })
  expect(await jsonOf<WebhookDelivery>(machine, ['webhook', 'test', url])).toMatchObject({ state: 'delivered' })
  expect(verified(secret, lastOf(receiver.received))).toMatchObject({ type: 'webhook.test', synthetic: true })
  const eventId = await happen(world.h, world.founder.orgId, 'budget.created')
  await tellAll(world.h)
  expect(verified(secret, lastOf(receiver.received))).toMatchObject({ id: eventId, type: 'budget.created' })
  const [sent, ...earlier] = await jsonOf<WebhookDelivery[]>(machine, ['webhook', 'deliveries', id])
  expect(sent).toMatchObject({ eventId, state: 'delivered', synthetic: false })
  expect(earlier).toHaveLength(1)
  expect((await machine.call(['webhook', 'deliveries', id])).stdout).toMatch(/budget\.created +delivered +1 +204 in/)
  expect(await jsonOf(machine, ['webhook', 'deliveries', id, '--state', 'exhausted'])).toEqual([])
  await looksAt(id, sent?.deliveryId ?? '', lastOf(receiver.received))
  const again = await jsonOf<WebhookDelivery>(machine, ['webhook', 'resend', id, sent?.deliveryId ?? ''])
  expect(again.eventId).toBe(eventId)
  const rotated = await jsonOf<Made>(machine, ['webhook', 'rotate', id])
  expect(rotated.secret).not.toBe(secret)
  await tellAll(world.h)
  for (const known of [secret, rotated.secret])
    expect(verified(known, lastOf(receiver.received))).toMatchObject({ id: eventId })
  expect((await machine.call(['webhook', 'show', id])).stdout).not.toContain('whsec_')
  await refused(['webhook', 'delivery', id, 'whd_nothing'], 'webhook_delivery_not_found', 5)
  await refused(['webhook', 'rm', id], 'confirmation_required', 2)
  expect(await jsonOf(machine, ['webhook', 'rm', id, '--yes'])).toEqual({ webhookId: id })
  expect(await jsonOf(machine, ['webhook', 'list'])).toEqual([])
})

it('says that the receiver did not take a test, with an exit code', async () => {
  const { endpoint } = await jsonOf<Made>(machine, ['webhook', 'create', url, '--description', 'the shop'])
  receiver.answer((response) => response.writeHead(500).end())
  const ended = await machine.call(['webhook', 'test', 'the shop'])
  expect(ended).toMatchObject({ code: 12, stdout: expect.stringMatching(/did not take it +500/) })
  expect(await jsonOf(machine, ['webhook', 'update', 'the shop', '--disable'])).toMatchObject({ status: 'disabled' })
  expect((await machine.call(['webhook', 'list'])).stdout).toContain('disabled (manual)')
  const changes = ['--enable', '--url', `${url}/2`, '--events', 'vault.*', '--events', 'agent.*']
  expect(await jsonOf(machine, ['webhook', 'update', endpoint.webhookId, ...changes])).toMatchObject({
    status: 'active',
    url: `${url}/2`,
    eventTypes: ['vault.*', 'agent.*'],
  })
  await jsonOf(machine, ['webhook', 'rm', 'the shop', '--yes'])
})

it('keeps the secret from a coding agent, and writes it to a file that only its owner reads', async () => {
  const env = { STRONGROOM_AGENT_MODE: '1' }
  await refused(['webhook', 'create', url], 'plaintext_refused_for_agent', 4, env)
  expect(await jsonOf(machine, ['webhook', 'list'])).toEqual([])
  const ended = await machine.call(['webhook', 'create', url, '--out', 'hook.secret'], { env })
  expect(ended).toMatchObject({ code: 0, stdout: expect.not.stringContaining('whsec_') })
  const file = join(machine.home, 'hook.secret')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await refused(['webhook', 'rotate', url], 'plaintext_refused_for_agent', 4, env)
  await jsonOf(machine, ['webhook', 'test', url])
  verified(readFileSync(file, 'utf8').trim(), lastOf(receiver.received))
  const { endpoint, secret } = await jsonOf<Made>(machine, ['webhook', 'create', `${url}/2`, '--ed25519'])
  expect({ secret, key: endpoint.publicKey?.slice(0, 5) }).toEqual({ secret: null, key: 'whpk_' })
  for (const one of [url, `${url}/2`]) await jsonOf(machine, ['webhook', 'rm', one, '--yes'])
})

it('refuses what cannot be, and makes nothing of it', async () => {
  await refused(['webhook', 'create', 'http://169.254.169.254/latest'], 'webhook_url_forbidden', 6)
  await refused(['webhook', 'create', url, '--events', 'buget.*'], 'webhook_event_type_unknown', 6)
  await refused(['webhook', 'show', 'nobody'], 'webhook_not_found', 5)
  await refused(['webhook', 'delivery', 'nobody', 'whd_nothing'], 'webhook_not_found', 5)
  await refused(['webhook', 'update', url], 'usage', 2)
  await refused(['webhook', 'listen', '--events', 'buget.*'], 'webhook_event_type_unknown', 6)
  await refused(['webhook', 'listen', '--forward-to', 'ftp://localhost'], 'usage', 2)
  await refused(['webhook', 'listen'], 'usage', 2, { STRONGROOM_WEBHOOK_SECRET: 'hunter2' })
  expect(await jsonOf(machine, ['webhook', 'list'])).toEqual([])
  expect((await jsonOf<{ type: string }[]>(machine, ['webhook', 'types'])).map(({ type }) => type)).toContain(
    'budget.exceeded',
  )
})

interface Line {
  readonly type: string
  readonly secret?: string
  readonly event?: { readonly id: string; readonly type: string }
  readonly forwarded?: { readonly status: number | null; readonly error: string | null }
}

const parsed = (line: string): Line => {
  const value = JSON.parse(line) as Line
  expect([...Value.Errors(listenShape, value)], line).toEqual([])
  return value
}

it('forwards events as the requests that a webhook makes, and says what was answered', async () => {
  const args = ['webhook', 'listen', '--forward-to', url.slice('http://'.length), '--events', 'budget.*,vault_item.*']
  const listening = startCommand(machine, [...args, '--count', '3', '--json'])
  const { secret = '' } = parsed(await listening.line(/"listening"/))
  await happen(world.h, world.founder.orgId, 'billing.balance.low')
  const first = await happen(world.h, world.founder.orgId, 'budget.created')
  await tellAll(world.h)
  const told = parsed(await listening.line(/"event"/))
  expect(told).toMatchObject({ event: { id: first, type: 'budget.created' }, forwarded: { status: 204, error: null } })
  receiver.answer((response) => response.writeHead(500).end())
  await machine.call(['set', 'prod/stripe/STRIPE_SECRET_KEY', '--create-vault'], { input: 'sk_test_a_secret_value' })
  const item = parsed(await listening.line(/"event"/))
  expect(item).toMatchObject({
    event: { type: 'vault_item.created' },
    forwarded: { status: 500, error: 'http_status' },
  })
  receiver.answer((response) => response.socket?.destroy())
  await happen(world.h, world.founder.orgId, 'budget.updated')
  await tellAll(world.h)
  expect(parsed(await listening.line(/"event"/)).forwarded).toMatchObject({ status: null, error: 'connection_failed' })
  expect(await listening.ended).toBe(0)
  const [budget, vaultItem] = receiver.received
  if (!budget || !vaultItem) throw new Error('nothing was forwarded')
  expect(budget).toMatchObject({ path: '/hook', headers: { 'content-type': 'application/json' } })
  expect(verified(secret, budget)).toMatchObject({ id: first, type: 'budget.created', synthetic: false })
  expect(verified(secret, vaultItem)).toMatchObject({ type: 'vault_item.created' })
  expect(vaultItem.body.toString()).not.toMatch(/stripe|secret_value/i)
})

it('signs with a secret of your own, which it does not print, and says in words what happens', async () => {
  const secret = `whsec_${Buffer.from(randomUUID()).toString('base64')}`
  const args = ['webhook', 'listen', '--forward-to', `http://127.0.0.1:${await freePort()}/`, '--count', '1']
  const listening = startCommand(machine, args, { STRONGROOM_WEBHOOK_SECRET: secret })
  await listening.line(/^listening for \*/)
  const id = await happen(world.h, world.founder.orgId, 'budget.created')
  await tellAll(world.h)
  expect(await listening.line(/budget\.created/)).toMatch(new RegExp(`${id}  ✗ connection_failed  \\d+ ms$`))
  expect(await listening.ended).toBe(0)
  expect([...listening.stdout, ...listening.stderr].join('\n')).not.toContain('whsec_')
  expect(listening.stderr.at(-1)).toBe('1 event, 1 not taken')
})

const BIN = fileURLToPath(new URL('../bin/strongroom.mjs', import.meta.url))

it('ends with 0 on Ctrl-C', async () => {
  const child = spawn(process.execPath, [BIN, 'webhook', 'listen'], { env: machine.env, cwd: machine.home })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    if (chunk.includes('Ctrl-C ends it')) child.kill('SIGINT')
  })
  expect(await ended, text).toBe(0)
  expect(text).toContain('0 events')
})

it('ends with 124 when its time is over', async () => {
  const ended = await machine.call(['webhook', 'listen', '--timeout', '1s', '--events', 'agent.created', '--json'])
  expect(ended.error()).toMatchObject({ code: 'timeout', exitCode: 124 })
})
