import { randomUUID } from 'node:crypto'
import { verifyWebhook } from '@strongroom/sdk'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { codeOf, outcomes, refusal, seedUser } from '../../../test/people.ts'
import { only, type Scene, startScene, verified } from '../../../test/webhook-scene.ts'
import { inOrg } from '../../context.ts'

// Endpoints, their secrets and their signatures. Catches: signatures that an independent verifier refuses, a body that is not what was
// committed, a secret that is kept or shown again, addresses inside, history that shows what is behind an address, endpoints of others.
// Seen red: a body that is written anew, no old secret and one for ever, one that a second rotation ends, names not looked up at creation,
// endpoints of everybody shown, a limit that is counted without a lock: of endpoints, of tests.

let scene: Scene
let { h, receiver, agent, alice, make, deliver, happen, historyOf } = {} as Scene
beforeAll(async () => {
  scene = await startScene()
  ;({ h, receiver, agent, alice, make, deliver, happen, historyOf } = scene)
})
afterAll(() => scene.close())
beforeEach(() => scene.clear())

it('signs what was committed, byte for byte, so that an independent verifier takes it', async () => {
  const hook = await make(['budget.*'])
  expect(hook).toMatchObject({ status: 'active', signing: 'hmac', publicKey: null, disabledReason: null })
  expect(hook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const eventId = await happen()
  await happen('billing.balance.low')
  await deliver()
  const [request] = receiver.received
  expect(receiver.received).toHaveLength(1)
  if (!request) throw new Error('nothing was sent')
  expect(verified(hook.secret, request)).toMatchObject({ id: eventId, type: 'budget.created' })
  expect(await verifyWebhook(request.body, request.headers, hook.secret ?? '')).toMatchObject({ id: eventId })
  const kept = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('outbox_event').select('body').where('event_id', '=', eventId).executeTakeFirstOrThrow(),
  )
  expect(request.body.toString()).toBe(kept.body)
  expect(request.headers['content-type']).toBe('application/json')
  await expect(verifyWebhook(Buffer.from(`${request.body} `), request.headers, hook.secret ?? '')).rejects.toThrow(
    'no signature fits',
  )
  await expect(
    verifyWebhook(request.body, request.headers, hook.secret ?? '', { now: new Date(Date.now() + 400_000) }),
  ).rejects.toThrow('too far')
  expect(await historyOf(hook)).toMatchObject([
    { eventId, state: 'delivered', synthetic: false, attempts: [{ attempt: 1, responseStatus: 204, error: null }] },
  ])
})

it('signs for those who hold no secret with the key of the organisation', async () => {
  const [hook, second] = [
    await make(['budget.*'], { signing: 'ed25519' }),
    await make(['budget.*'], { signing: 'ed25519' }),
  ]
  expect([hook.secret, hook.publicKey]).toEqual([null, expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/)])
  expect(second.publicKey).toBe(hook.publicKey)
  const eventId = await happen()
  await deliver()
  for (const request of receiver.received) {
    expect(request.headers['webhook-signature']).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/)
    expect(await verifyWebhook(request.body, request.headers, hook.publicKey ?? '')).toMatchObject({ id: eventId })
    await expect(verifyWebhook(Buffer.from('{}'), request.headers, hook.publicKey ?? '')).rejects.toThrow(
      'no signature fits',
    )
  }
  expect(receiver.received).toHaveLength(2)
  expect(await codeOf(agent.client.webhooks.rotateSecret({ params: { id: hook.webhookId } }))).toBe(
    'webhook_has_no_secret',
  )
})

it('keeps no secret in the clear, and shows it once', async () => {
  const key = randomUUID()
  const body = { url: `${receiver.url}/hook`, eventTypes: ['*'] }
  const first = await agent.client.webhooks.create({ body }, { idempotencyKey: key })
  expect(await agent.client.webhooks.create({ body }, { idempotencyKey: key })).toMatchObject({
    webhookId: first.webhookId,
    secret: null,
    secretRedacted: true,
  })
  const raw = Buffer.from((first.secret ?? '').slice(6), 'base64')
  const { rows } = await h.worker.pool.query<{ secret: Buffer }>(
    'select secret from webhook_endpoint where endpoint_id = $1',
    [first.webhookId],
  )
  expect(rows[0]?.secret.includes(raw)).toBe(false)
  expect(JSON.stringify(await agent.client.webhooks.list())).not.toContain('whsec_')
})

const URLS: readonly (readonly [string, string])[] = [
  ['not a url', 'webhook_url_invalid'],
  ['https://acme.dev\\@127.0.0.1/', 'webhook_url_invalid'],
  ['ftp://acme.dev/', 'webhook_url_forbidden'],
  ['http://acme.dev/', 'webhook_url_forbidden'],
  ['https://localhost/', 'webhook_url_forbidden'],
  ['https://user:pass@acme.dev/', 'webhook_url_forbidden'],
  ['https://acme.dev:22/', 'webhook_url_forbidden'],
  ['https://10.0.0.1/', 'webhook_url_forbidden'],
  ['https://169.254.169.254/latest/meta-data', 'webhook_url_forbidden'],
  ['https://[::1]/', 'webhook_url_forbidden'],
  ['https://inside.acme.dev/', 'webhook_url_forbidden'],
  ['https://mixed.acme.dev/', 'webhook_url_forbidden'],
]

it('refuses addresses inside when an endpoint is made or changed, and makes none', async () => {
  scene.names.tell('inside.acme.dev', ['169.254.169.254'])
  scene.names.tell('mixed.acme.dev', ['93.184.216.34', '10.0.0.1'])
  const hook = await make(['*'])
  for (const [url, code] of URLS) {
    expect(await refusal(make(['*'], { url }))).toMatchObject({ status: 422, code })
    expect(await codeOf(agent.client.webhooks.update({ params: { id: hook.webhookId }, body: { url } }))).toBe(code)
  }
  expect((await agent.client.webhooks.list()).data).toMatchObject([{ webhookId: hook.webhookId, url: hook.url }])
  expect(await refusal(make(['license.nothing', 'budget.*', 'x.*']))).toMatchObject({
    code: 'webhook_event_type_unknown',
    details: { eventTypes: ['license.nothing', 'x.*'] },
  })
  expect(await codeOf(make(['budget.*.created']))).toBe('validation_failed')
})

it('answers a repeated request as the first one, also where its name leads inside by now', async () => {
  scene.names.tell('moving.acme.dev', [])
  const body = { url: 'https://moving.acme.dev/hook', eventTypes: ['budget.*'] }
  const [made, changed] = [randomUUID(), randomUUID()]
  const { webhookId } = await agent.client.webhooks.create({ body }, { idempotencyKey: made })
  const update = (idempotencyKey: string) =>
    agent.client.webhooks.update({ params: { id: webhookId }, body: { url: body.url } }, { idempotencyKey })
  const first = await update(changed)
  scene.names.tell('moving.acme.dev', ['10.20.30.40'])
  expect(await agent.client.webhooks.create({ body }, { idempotencyKey: made })).toMatchObject({ webhookId })
  expect(await update(changed)).toEqual(first)
  expect(await codeOf(update(randomUUID()))).toBe('webhook_url_forbidden')
})

it('does not go inside at a test or a delivery either, whatever a name has come to mean', async () => {
  scene.names.tell('rebind.acme.dev', [])
  const hook = await make(['budget.*'], { url: 'https://rebind.acme.dev/hook' })
  scene.names.tell('rebind.acme.dev', ['10.20.30.40'])
  const tested = await agent.client.webhooks.test({ params: { id: hook.webhookId }, body: {} })
  expect(tested).toMatchObject({ state: 'exhausted', synthetic: true, attempts: [{ error: 'address_forbidden' }] })
  await happen()
  await deliver()
  const history = await historyOf(hook)
  expect(history.map(({ attempts }) => attempts.at(-1)?.error)).toEqual(['address_forbidden', 'address_forbidden'])
  // Not less of it: a time can have the first two numbers.
  expect(JSON.stringify(history)).not.toContain('10.20.30')
})

it('tests an endpoint with one signed synthetic event, also a disabled one, and holds nothing against it', async () => {
  const hook = await make(['budget.*'])
  const params = { id: hook.webhookId }
  await agent.client.webhooks.update({ params, body: { status: 'disabled' } })
  const key = randomUUID()
  const send = () => agent.client.webhooks.test({ params, body: {} }, { idempotencyKey: key })
  const tested = await send()
  expect(tested).toMatchObject({ state: 'delivered', synthetic: true, eventType: 'webhook.test' })
  expect(await send()).toEqual(tested)
  expect(receiver.received).toHaveLength(1)
  expect(verified(hook.secret, only(receiver.received)).synthetic).toBe(true)
  receiver.answer((response) => response.writeHead(500).end('secret of the receiver'))
  const bare = await fetch(`${h.url}/api/v1/machine/webhook/${hook.webhookId}/test`, {
    method: 'POST',
    headers: { 'x-api-key': agent.apiKey },
  })
  expect(await bare.json()).toMatchObject({
    state: 'exhausted',
    attempts: [{ responseStatus: 500, error: 'http_status' }],
  })
  expect(JSON.stringify(await historyOf(hook))).not.toContain('secret of the receiver')
  expect(await codeOf(agent.client.webhooks.test({ params, body: { eventType: 'nothing' } }))).toBe(
    'webhook_event_type_unknown',
  )
  const [now] = (await agent.client.webhooks.list()).data
  expect(now).toMatchObject({ status: 'disabled', disabledReason: 'manual', failingSince: null })
  for (let i = 0; i < 8; i++) await agent.client.webhooks.test({ params, body: {} })
  expect(await refusal(agent.client.webhooks.test({ params, body: {} }))).toMatchObject({ status: 429, retryAfter: 60 })
})

it('sends ten tests a minute, also to twenty-five who ask at once, and then ten more', async () => {
  const hook = await make(['budget.*'])
  const test = () => agent.client.webhooks.test({ params: { id: hook.webhookId }, body: {} })
  for (const sent of [10, 20]) {
    const ends = await outcomes(Array.from({ length: 25 }, test))
    expect(ends.sort()).toEqual([...Array(10).fill('ok'), ...Array(15).fill('rate_limited')])
    expect([receiver.received.length, (await historyOf(hook)).length]).toEqual([sent, sent])
    h.advance(60_001)
  }
})

it('shows an endpoint to nobody but the key that made it', async () => {
  const hook = await make(['budget.*'])
  await happen()
  await deliver()
  const delivery = (await historyOf(hook))[0]?.deliveryId ?? ''
  const colleague = await h.agent(alice, ['machine.webhook.all', 'machine.budget.read'])
  const foreign = await h.agent(await h.org('other'), ['machine.all'])
  const owner = await seedUser(h, alice, { orgRoles: ['ORG_OWNER'] })
  for (const { client } of [colleague, foreign, owner]) {
    const params = { id: hook.webhookId }
    expect((await client.webhooks.list()).data).toEqual([])
    const tried = [
      () => client.webhooks.update({ params, body: { url: `${receiver.url}/theirs` } }),
      () => client.webhooks.remove({ params }),
      () => client.webhooks.test({ params, body: {} }),
      () => client.webhooks.rotateSecret({ params }),
      () => client.webhooks.deliveries({ params }),
      () => client.webhooks.redeliver({ params: { ...params, deliveryId: delivery } }),
    ]
    for (const one of tried) expect(await refusal(one())).toMatchObject({ status: 404, code: 'webhook_not_found' })
  }
  const { secret: _, ...shown } = hook
  expect((await agent.client.webhooks.list({ query: { page: 1 } })).data).toEqual([shown])
})

it('loses no change of two that are made at once: what is left out stays as it is then', async () => {
  const hook = await make(['budget.*'])
  const change = (body: { description?: string; eventTypes?: string[]; url?: string }) =>
    agent.client.webhooks.update({ params: { id: hook.webhookId }, body })
  for (let i = 0; i < 10; i++) {
    const [description, eventTypes, url] = [
      `round ${i}`,
      [`vault.${i % 2 ? 'created' : 'archived'}`],
      `${hook.url}/${i}`,
    ]
    await Promise.all([change({ description }), change({ eventTypes }), change({ url })])
    expect((await agent.client.webhooks.list()).data).toMatchObject([{ description, eventTypes, url }])
  }
})

it('gives each key a limited number of endpoints, however many ask at once', async () => {
  const own = await h.agent(alice, ['machine.webhook.all'])
  const many = (length: number) =>
    Promise.allSettled(Array.from({ length }, () => make(['vault.archived'], { by: own })))
  for (let i = 0; i < 5; i++) await many(9)
  expect((await many(9)).filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  expect(await codeOf(make(['vault.archived'], { by: own }))).toBe('webhook_limit_reached')
})

it('keeps an old secret valid for a day after a rotation, and not longer', async () => {
  const hook = await make(['budget.*'])
  const key = randomUUID()
  const rotate = () => agent.client.webhooks.rotateSecret({ params: { id: hook.webhookId } }, { idempotencyKey: key })
  const rotated = await rotate()
  expect(await rotate()).toMatchObject({ secret: null, secretRedacted: true })
  await happen()
  await deliver()
  const [during] = receiver.received
  if (!during) throw new Error('nothing was sent')
  for (const secret of [hook.secret, rotated.secret]) expect(verified(secret, during).type).toBe('budget.created')
  h.advance(86_400_000)
  await happen()
  await deliver()
  const after = receiver.received[1]
  if (!after) throw new Error('nothing was sent')
  const now = h.deps.now()
  await verifyWebhook(after.body, after.headers, rotated.secret ?? '', { now })
  await expect(verifyWebhook(after.body, after.headers, hook.secret ?? '', { now })).rejects.toThrow(
    'no signature fits',
  )
})

it('keeps each secret valid for its day, however often it is rotated meanwhile, and refuses to when there are too many', async () => {
  const hook = await make(['budget.*'])
  const { client } = agent
  const rotate = () => client.webhooks.rotateSecret({ params: { id: hook.webhookId } })
  const secrets = [hook.secret]
  const good = async () => {
    const at = receiver.received.length
    await happen()
    await deliver()
    const sent = receiver.received[at]
    if (!sent) throw new Error('nothing was sent')
    const now = h.deps.now()
    const verdicts = secrets.map((secret) =>
      verifyWebhook(sent.body, sent.headers, secret ?? '', { now }).then(
        () => true,
        () => false,
      ),
    )
    return Promise.all(verdicts)
  }
  for (let i = 0; i < 2; i++) {
    h.advance(3_600_000)
    secrets.push((await rotate()).secret)
  }
  expect(await good()).toEqual([true, true, true])
  // The first one ends a day after it was rotated, and an hour before the second.
  h.advance(23 * 3_600_000)
  expect(await good()).toEqual([false, true, true])
  h.advance(3_600_000)
  expect(await good()).toEqual([false, false, true])
  const many = await Promise.allSettled(Array.from({ length: 12 }, rotate))
  const made = many.flatMap((one) => (one.status === 'fulfilled' ? [one.value.secret] : []))
  expect(made).toHaveLength(8)
  expect(await refusal(rotate())).toMatchObject({ status: 429, code: 'rate_limited' })
  secrets.splice(0, 2)
  secrets.push(...made)
  expect(await good()).toEqual(Array(9).fill(true))
})
