import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { codeOf } from '../../../test/people.ts'
import { idsOf, type Scene, startScene } from '../../../test/webhook-scene.ts'
import { inOrg } from '../../context.ts'

// When an event is sent, again and no more. Catches: retries that come too early, never end or change the id; endpoints that are given up too
// soon or never, or without a word.
// Seen red: Retry-After left out, 429 that slows nobody, 410 tried again, an endpoint that is never given up, a delivery locked before its
// endpoint.

let scene: Scene
let { h, receiver, agent, alice, make, deliver, happen, historyOf } = {} as Scene
beforeAll(async () => {
  scene = await startScene()
  ;({ h, receiver, agent, alice, make, deliver, happen, historyOf } = scene)
})
afterAll(() => scene.close())
beforeEach(() => scene.clear())

it('tries again on its schedule, as late as it is asked to, and then no more', async () => {
  const hook = await make(['budget.*'])
  receiver.answer((response) => response.writeHead(500).end())
  const eventId = await happen()
  const hours = [5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24]
  await deliver()
  for (const [i, hour] of hours.entries()) {
    const [delivery] = await historyOf(hook)
    expect(delivery).toMatchObject({ state: 'retrying', eventId })
    const waitMs = Date.parse(delivery?.nextAttemptAt ?? '') - Date.parse(delivery?.attempts.at(-1)?.startedAt ?? '')
    expect(waitMs / 3_600_000 / hour).toBeGreaterThan(0.79)
    expect(waitMs / 3_600_000 / hour).toBeLessThan(i === 0 ? 1.6 : 1.22)
    await deliver()
    expect(receiver.received).toHaveLength(i + 1)
    h.advance(waitMs + 1000)
    await deliver()
  }
  expect(await historyOf(hook)).toMatchObject([{ state: 'exhausted', nextAttemptAt: null }])
  expect(new Set(idsOf(receiver.received))).toEqual(new Set([eventId]))
  expect(receiver.received).toHaveLength(10)
  const redelivered = await agent.client.webhooks.redeliver({
    params: { id: hook.webhookId, deliveryId: (await historyOf(hook))[0]?.deliveryId ?? '' },
  })
  expect(redelivered.state).toBe('pending')
  receiver.answer((response) => response.writeHead(200).end())
  await deliver()
  expect(await historyOf(hook)).toMatchObject([{ state: 'delivered', eventId }])
  expect(idsOf(receiver.received).at(-1)).toBe(eventId)
  receiver.answer((response) => response.writeHead(429, { 'retry-after': '7200' }).end())
  await happen()
  await deliver()
  const [asked] = await historyOf(hook)
  expect(Date.parse(asked?.nextAttemptAt ?? '') - h.deps.now().getTime()).toBeGreaterThan(7_190_000)
  // Too many for one are too many for the next.
  await happen()
  await deliver()
  expect(receiver.received).toHaveLength(12)
})

it('ends an endpoint that is gone or has failed for days, and tells the others of it', async () => {
  const [gone, failing] = [
    await make(['budget.*'], { url: `${receiver.url}/gone` }),
    await make(['budget.*'], { url: `${receiver.url}/failing` }),
    await make(['webhook_endpoint.*'], { url: `${receiver.url}/other` }),
  ]
  receiver.answer((response, { path }) => response.writeHead({ '/gone': 410, '/failing': 500 }[path] ?? 204).end())
  await happen()
  await deliver()
  for (let day = 0; day < 5; day++) {
    h.advance(86_400_000)
    await happen()
    await deliver()
  }
  const told = receiver.received
    .filter(({ path }) => path === '/other')
    .map(({ body }) => JSON.parse(body.toString()).data.object)
  expect(told).toEqual([
    { type: 'webhook_endpoint', id: gone.webhookId, status: 'disabled', reason: 'gone' },
    { type: 'webhook_endpoint', id: failing.webhookId, status: 'disabled', reason: 'failing' },
  ])
  expect(receiver.received.filter(({ path }) => path === '/gone')).toHaveLength(1)
  const { data } = await agent.client.webhooks.list()
  expect(data.map(({ status }) => status).sort()).toEqual(['active', 'disabled', 'disabled'])
  expect((await historyOf(failing)).every(({ nextAttemptAt }) => nextAttemptAt === null)).toBe(true)
  const { rows } = await inOrg(h.deps, alice.orgId, (db) =>
    sql<{ reason: string }>`
      select metadata ->> 'reason' as reason from audit_event
      where action = 'webhook.disable' and actor_type = 'system' order by seq`.execute(db),
  )
  expect(rows.map(({ reason }) => reason)).toEqual(['gone', 'failing'])
  const before = receiver.received.length
  const [exhausted] = await historyOf(failing)
  expect(
    await codeOf(
      agent.client.webhooks.redeliver({
        params: { id: failing.webhookId, deliveryId: exhausted?.deliveryId ?? '' },
      }),
    ),
  ).toBe('webhook_disabled')
  await agent.client.webhooks.update({ params: { id: failing.webhookId }, body: { status: 'active' } })
  receiver.answer((response) => response.writeHead(204).end())
  await deliver()
  expect(receiver.received.slice(before).map(({ path }) => path)).toEqual(['/other'])
})

it('records how every attempt ended when an endpoint says to several at once that it is gone', async () => {
  const hook = await make(['budget.*'])
  const answers: (() => void)[] = []
  receiver.answer((response) => answers.push(() => response.writeHead(410).end()))
  await happen()
  await happen()
  const delivering = deliver()
  await expect.poll(() => answers.length).toBe(2)
  const blocked = async (): Promise<unknown> => {
    const waits = `datname = current_database() and wait_event_type = 'Lock'`
    const { rows } = await h.worker.pool.query(`select count(*) as count from pg_stat_activity where ${waits}`)
    return rows[0]?.count
  }
  // Both come to where they need the endpoint before one of them has it.
  await inOrg(h.deps, alice.orgId, async (db) => {
    await sql`select 1 from webhook_endpoint where endpoint_id = ${hook.webhookId} for update`.execute(db)
    for (const answer of answers) answer()
    await expect.poll(blocked).toBe(2)
  })
  await delivering
  const history = await historyOf(hook)
  expect(history.map(({ state, attempts }) => [state, attempts[0]?.responseStatus])).toEqual([
    ['discarded', 410],
    ['discarded', 410],
  ])
})
