import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Scene, startScene } from '../../../test/webhook-scene.ts'
import { inOrg } from '../../context.ts'
import { fanOut } from '../../outbox/fan-out.ts'
import { emit } from '../../outbox/outbox.ts'
import { sweepWebhooks } from './background.ts'
import { makeSender } from './deliver.ts'

// Catches: an endpoint that never answers, or an organisation with many of them, that holds up the others, two processes that send the same, what a process that died held for
// ever, history without end.
// Seen red: claims without a lease, places without a limit, all of them for one organisation, history kept three times as long.

let scene: Scene
let { h, receiver, alice, agent, make, deliver, happen, historyOf } = {} as Scene
beforeAll(async () => {
  scene = await startScene()
  ;({ h, receiver, alice, agent, make, deliver, happen, historyOf } = scene)
})
afterAll(() => scene.close())
beforeEach(() => scene.clear())

const at = (path: string) => receiver.received.filter((one) => one.path === path)

it('does not let an endpoint that never answers hold up another', async () => {
  receiver.answer((response, { path }) => {
    if (path === '/quick') response.writeHead(204).end()
  })
  await make(['budget.*'], { url: `${receiver.url}/dead` })
  await make(['budget.*'], { url: `${receiver.url}/quick` })
  for (let i = 0; i < 30; i++) await happen()
  await fanOut(h.deps, h.worker)
  const sender = makeSender(h.deps, h.worker, { timeoutMs: 60_000 })
  // Not one of the dead ones has come back when all of the others are through.
  while (at('/quick').length < 30) await sender.turn()
  expect(at('/dead').length).toBeLessThanOrEqual(8)
  await sender.stop()
  expect(await sender.turn()).toBe(0)
})

it('does not let an organisation with many slow endpoints hold up the others', async () => {
  receiver.answer((response, { path }) => {
    if (path === '/theirs') response.writeHead(204).end()
  })
  for (let i = 0; i < 20; i++) await make(['budget.*'], { url: `${receiver.url}/slow-${i}` })
  for (let i = 0; i < 8; i++) await happen()
  const other = await h.org('others')
  const theirs = await h.agent(other, ['machine.webhook.all', 'machine.budget.read'])
  await make(['budget.*'], { by: theirs, url: `${receiver.url}/theirs` })
  await fanOut(h.deps, h.worker)
  const sender = makeSender(h.deps, h.worker, { timeoutMs: 100_000 })
  while ((await sender.turn()) > 0);
  await inOrg(h.deps, other.orgId, (db) =>
    emit(h.deps, db, other.orgId, { type: 'budget.created', object: { type: 'budget', id: 'b', status: 'active' } }),
  )
  await fanOut(h.deps, h.worker)
  await sender.turn()
  await expect.poll(() => at('/theirs').length, { timeout: 10_000 }).toBe(1)
  await sender.stop()
})

it('is sent once by two processes at once', async () => {
  await make(['budget.*'])
  for (let i = 0; i < 40; i++) await happen()
  await Promise.all([fanOut(h.deps, h.worker), fanOut(h.deps, h.worker)])
  const senders = [makeSender(h.deps, h.worker), makeSender(h.deps, h.worker)]
  while (receiver.received.length < 40) await Promise.all(senders.map(({ turn }) => turn()))
  await Promise.all(senders.map(({ idle }) => idle()))
  await deliver()
  expect(receiver.received).toHaveLength(40)
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(40)
})

it('is sent again when the lease of who claimed it has ended, and history says that nobody knows how it went', async () => {
  const hook = await make(['budget.*'])
  await happen()
  await fanOut(h.deps, h.worker)
  const { deliveryId } = (await historyOf(hook))[0] ?? { deliveryId: '' }
  // As a process leaves it that died while it was sending.
  await h.worker.pool.query(
    `update webhook_delivery set state = 'delivering', claims = 1, due_at = $2 where delivery_id = $1`,
    [deliveryId, new Date(h.deps.now().getTime() + 30_000)],
  )
  await h.worker.pool.query(
    `insert into webhook_attempt (org_id, delivery_id, attempt, started_at, url) values ($1, $2, 1, now(), 'https://acme.dev')`,
    [alice.orgId, deliveryId],
  )
  await deliver()
  expect(receiver.received).toEqual([])
  h.advance(31_000)
  await deliver()
  expect(await historyOf(hook)).toMatchObject([
    { state: 'delivered', attempts: [{ attempt: 1, durationMs: null, responseStatus: null }, { attempt: 2 }] },
  ])
})

it('keeps history for a month, and what is still to be told for as long as it takes', async () => {
  const hook = await make(['budget.*'])
  const eventId = await happen()
  await deliver()
  const events = () =>
    inOrg(h.deps, alice.orgId, (db) =>
      db.selectFrom('outbox_event').select('event_id').where('event_id', '=', eventId).execute(),
    )
  h.advance(29 * 86_400_000)
  await sweepWebhooks(h.deps, h.worker)
  expect([(await historyOf(hook)).length, (await events()).length]).toEqual([1, 1])
  h.advance(2 * 86_400_000)
  await sweepWebhooks(h.deps, h.worker)
  expect([await historyOf(hook), await events()]).toEqual([[], []])
})

it('pages through history, newest first, by state', async () => {
  const hook = await make(['budget.*'])
  for (let i = 0; i < 3; i++) await happen('budget.created', { object: { type: 'budget', id: randomUUID() } })
  await deliver()
  const params = { id: hook.webhookId }
  const page = await agent.client.webhooks.deliveries({ params, query: { page: 2, limit: 2, state: 'delivered' } })
  expect(page).toMatchObject({ meta: { total: 3, page: 2, limit: 2, totalPages: 2 } })
  expect(page.data).toHaveLength(1)
  expect((await agent.client.webhooks.deliveries({ params, query: { state: 'retrying' } })).data).toEqual([])
})
