import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Place, seedSession } from '../../../test/agent-seed.ts'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { inOrg } from '../../context.ts'
import { makeApiKey } from '../../secrets/credentials.ts'

// Catches: a scan that looks at one member only, a refused body that is kept anywhere, duplicates that get ids of their own, a
// count that concurrent requests can pass together. Seen red with the scan, the look for duplicates and the turn left out.

let h: Harness
let acme: Place
beforeAll(async () => {
  h = await startHarness()
  acme = await h.org('acme')
})
afterAll(() => h.close())

const body = {
  category: 'missing_capability',
  summary: 'No way to rename a group',
  details: 'PATCH /vault-group/:id answers 404.',
} as const
const sender = () => h.agent(acme, ['machine.feedback.write'])
const rows = (place = acme) =>
  inOrg(h.deps, place.orgId, (db) => db.selectFrom('feedback').selectAll().orderBy('feedback_id').execute())

it('stores what an agent misses, and records it without the words', async () => {
  const { client, agentId } = await sender()
  const { feedbackId } = await client.feedback.send({
    body: { ...body, route: '/vault-group/:id', requestId: h.deps.newId('req') },
  })
  expect((await rows()).find(({ feedback_id }) => feedback_id === feedbackId)).toMatchObject({
    ...body,
    agent_id: agentId,
    route: '/vault-group/:id',
    request_id: expect.stringMatching(/^req_/),
  })
  const events = await inOrg(h.deps, acme.orgId, (db) =>
    db.selectFrom('audit_event').selectAll().where('action', '=', 'feedback.send').execute(),
  )
  expect(events).toHaveLength(1)
  expect(JSON.stringify(events)).not.toContain('rename a group')
})

it('is for agents with the permission only', async () => {
  const before = await rows()
  const person = await seedSession(h, acme, ['ORG_OWNER'])
  await expect(person.client.feedback.send({ body })).rejects.toMatchObject({
    code: 'agent_principal_required',
    status: 403,
  })
  const { client } = await h.agent(acme, ['machine.vault.all'])
  await expect(client.feedback.send({ body })).rejects.toMatchObject({
    code: 'machine_permission_denied',
    details: { permission: 'machine.feedback.write' },
  })
  expect(await rows()).toEqual(before)
})

it('refuses what is too long, unknown or missing', async () => {
  const { client } = await sender()
  const before = await rows()
  for (const wrong of [
    { ...body, summary: 'x'.repeat(201) },
    { ...body, details: 'x '.repeat(2001) },
    { ...body, category: 'praise' },
    { ...body, requestId: 'anything' },
    { ...body, extra: 1 },
    { category: 'bug', summary: 'no details' },
  ]) {
    await expect(client.feedback.send({ body: wrong as never })).rejects.toMatchObject({
      code: 'validation_failed',
      status: 400,
    })
  }
  expect(await rows()).toEqual(before)
})

it('refuses a secret in any member and keeps it nowhere', async () => {
  const { client } = await sender()
  const before = await rows()
  const { apiKey } = makeApiKey(h.deps.pepper)
  for (const member of ['summary', 'details', 'route'] as const) {
    const refusal = await client.feedback
      .send({ body: { ...body, [member]: `it said ${apiKey} there` } })
      .catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      code: 'feedback_contains_secret',
      status: 422,
      details: { member, kind: 'strongroom_credential' },
    })
    expect(JSON.stringify(refusal)).not.toContain(apiKey.slice(4, 20))
  }
  expect(await rows()).toEqual(before)
  const kept = await inOrg(h.deps, acme.orgId, async (db) => [
    await db.selectFrom('audit_event').selectAll().execute(),
    await db.selectFrom('idempotency').selectAll().execute(),
  ])
  expect(JSON.stringify(kept)).toContain('feedback_contains_secret')
  expect(JSON.stringify(kept)).not.toContain(apiKey.slice(4, 20))
})

it('answers the same id for the same words of an agent on one day, and another on the next', async () => {
  const { client } = await sender()
  const other = await sender()
  const first = await client.feedback.send({ body })
  const again = await Promise.all(
    Array.from({ length: 25 }, () => client.feedback.send({ body: { ...body, requestId: h.deps.newId('req') } })),
  )
  expect(new Set(again.map(({ feedbackId }) => feedbackId))).toEqual(new Set([first.feedbackId]))
  expect(await other.client.feedback.send({ body })).not.toEqual(first)
  expect(await client.feedback.send({ body: { ...body, category: 'bug' } })).not.toEqual(first)
  h.advance(24 * 3_600_000)
  expect(await client.feedback.send({ body })).not.toEqual(first)
})

it('takes twenty an hour from an agent, exactly twenty of sixty at once, and more when the hour is over', async () => {
  const { client, agentId } = await sender()
  const other = await sender()
  const results = await Promise.allSettled(
    Array.from({ length: 60 }, (_, i) => client.feedback.send({ body: { ...body, summary: `wish number ${i}` } })),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(['rate_limited']))
  expect(refusals.every(({ retryAfter }) => retryAfter > 3500 && retryAfter <= 3600)).toBe(true)
  expect((await rows()).filter(({ agent_id }) => agent_id === agentId)).toHaveLength(20)
  await other.client.feedback.send({ body: { ...body, summary: 'others are not slowed' } })
  h.advance(3_601_000)
  await client.feedback.send({ body: { ...body, summary: 'an hour later' } })
})

it('keeps the feedback of two organisations apart', async () => {
  const globex = await h.org('globex')
  const { client } = await h.agent(globex, ['machine.feedback.all'])
  await client.feedback.send({ body })
  expect(await rows(globex)).toHaveLength(1)
})
