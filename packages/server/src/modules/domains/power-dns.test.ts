import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg, refusal } from '../../../test/people.ts'
import { type Door, type DoorAnswer, startDoor } from '../../../test/power-dns/door.ts'
import { inOrg } from '../../context.ts'

// Catches: an answer that is not what PowerDNS says taken for it, and a bug of ours made of what a name server or somebody before it
// answers; a domain that is added over PowerDNS before the idempotency key of the request is looked at. Seen red: a page of HTML, JSON of
// another shape, at the first question and at the last, a refusal in plain text; a repeated request that asks again, and one with a key of
// another that asks at all.

const ZONE = { status: 200, body: JSON.stringify({ serial: 7, account: '', rrsets: [] }) }
const MADE = { status: 204, body: '' }

let door: Door
let h: Harness
let alice: FirstPerson
let agent: TestAgent
beforeAll(async () => {
  // Nobody is behind it: each test says what is answered.
  door = await startDoor({ url: 'http://127.0.0.1:9', key: 'k' })
  h = await startHarness({ powerDns: door.config })
  alice = await foundOrg(h)
  agent = await h.agent(alice, ['machine.domain.read'])
  await alice.client.domains.add({ body: { domain: 'acme.dev', managed: true } })
})
afterAll(async () => {
  await h.close()
  await door.close()
})

/** Answers in this order; gives what was asked. */
function answering(...answers: readonly DoorAnswer[]): readonly string[] {
  const asked: string[] = []
  door.keep(async (method) => answers[asked.push(method) - 1])
  return asked
}
const read = () => agent.client.domains.records({ query: { domain: 'acme.dev' } })
const write = () =>
  alice.client.domains.setRecords({
    params: { domain: 'acme.dev' },
    body: { records: [{ name: 'acme.dev', type: 'A', content: '93.184.216.34' }] },
  })
const noted = () =>
  inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('audit_event').select('event_id').where('action', '=', 'domain.set-records').execute(),
  )

const UNAVAILABLE = { status: 503, code: 'dns_unavailable', retryAfter: 5 }

const set = (more: object) => ({ name: 'acme.dev.', type: 'A', ttl: 60, records: [], ...more })
const zone = (rrsets: unknown, serial: unknown = 7) => JSON.stringify({ serial, rrsets })

it.each([
  ['a page of HTML', '<html>'],
  ['nothing', ''],
  ['an empty object', '{}'],
  ['null', 'null'],
  ['sets that are no list', zone({})],
  ['a serial that is no number', zone([], 'x')],
  ['a set without records', zone([set({ records: undefined })])],
  ['a record without content', zone([set({ records: [{ disabled: false }] })])],
  ['a set without a name', zone([set({ name: null })])],
])('says that the name server cannot be asked when it answers %s, and sends it no change', async (_, body) => {
  answering({ status: 200, body })
  expect(await refusal(read())).toMatchObject(UNAVAILABLE)
  const asked = answering({ status: 200, body })
  expect(await refusal(write())).toMatchObject(UNAVAILABLE)
  expect(asked).toEqual(['GET'])
})

it('says so as well when the answer after a change is another one', async () => {
  const asked = answering(ZONE, MADE, { status: 200, body: '<html>' })
  expect(await refusal(write())).toMatchObject(UNAVAILABLE)
  expect(asked).toEqual(['GET', 'PATCH', 'GET'])
})

it.each([
  ['in JSON', '{"error":"RRset acme.dev. conflicts"}', 'RRset acme.dev. conflicts'],
  ['in plain text', 'RRset acme.dev. conflicts', 'RRset acme.dev. conflicts'],
  ['in JSON of another shape', '{"error":{"code":1}}', 'refused by the name server'],
  ['as null', 'null', 'refused by the name server'],
  ['without a word', '', 'refused by the name server'],
  ['at length', 'x'.repeat(1000), 'x'.repeat(200)],
])('gives what a name server refuses %s as a refusal of the records, and records no change', async (_, body, why) => {
  const before = await noted()
  answering(ZONE, { status: 422, body })
  expect(await refusal(write())).toMatchObject({ status: 422, code: 'invalid_record', details: { why } })
  expect(await noted()).toEqual(before)
})

// The last: from here on there are several organisations.
it('adds a domain once for an idempotency key, and asks nobody about a request that was answered before', async () => {
  await h.org('other')
  const add = (domain: string, idempotencyKey: string) =>
    alice.client.domains.add({ body: { domain, managed: true } }, { idempotencyKey })
  const own = { status: 200, body: JSON.stringify({ serial: 7, account: alice.orgId, rrsets: [] }) }
  const asked = answering(own)
  const added = await add('once.dev', 'once')
  expect(await add('once.dev', 'once')).toEqual(added)
  expect(await codeOf(add('twice.dev', 'once'))).toBe('idempotency_key_reused')
  expect(asked).toEqual(['GET'])
  // A refusal keeps no key, and neither does a name server that is away.
  answering(ZONE, own)
  expect(await codeOf(add('twice.dev', 'twice'))).toBe('domain_not_managed')
  expect((await add('twice.dev', 'twice')).domain).toBe('twice.dev')
  answering()
  expect(await codeOf(add('third.dev', 'third'))).toBe('dns_unavailable')
  expect((await alice.client.domains.list()).data.map(({ domain }) => domain).sort()).toEqual([
    ...['acme.dev', 'once.dev', 'twice.dev'],
  ])
})
