import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'
import { asSuperuser, seedOperator } from '../../test/principals.ts'
import { inOrg } from '../context.ts'
import { emit } from '../outbox/outbox.ts'
import { ageMs, readBacklog } from './backlog.ts'

// What waits behind the answers, for the operator. Catches: a queue that grows, a chain that nobody reads or a book that does not add up, and
// nobody sees it; whose it is told along. Seen red: events of one organisation only; what was told counted; a difference left out of the route
// and of the metrics; a reader that is ahead shown as behind.

let h: Harness
let orgs: readonly { readonly orgId: string; readonly tenantId: string }[]
beforeAll(async () => {
  h = await startHarness()
  orgs = [await h.org('acme'), await h.org('globex')]
})
afterAll(() => h.close())

const look = async () => {
  const seen = await readBacklog(h.worker, h.deps.now())
  h.deps.telemetry.backlog.saw(seen)
  return seen
}
const happen = (orgId: string, at: Date) =>
  inOrg(h.deps, orgId, (db) => emit(h.deps, db, orgId, { type: 'webhook.test', object: { type: 'test', id: 'x' }, at }))

it('says nothing waits where nothing does, and knows of no chain where none is read', async () => {
  await asSuperuser(h, (client) => client.query('delete from outbox_event'))
  expect(await look()).toEqual({
    ...{ eventsWaiting: 0, oldestEvent: null, deliveriesDue: 0, oldestDelivery: null, inReview: 0, booksDiffering: 0 },
    ...{ chainBehindBlocks: null, chainReadAt: null },
  })
  const { client } = await seedOperator(h, orgs[0] as (typeof orgs)[number])
  expect((await client.monitoring.systemStats()).work).toEqual({
    events: { waiting: 0, oldestMs: 0 },
    deliveries: { due: 0, oldestMs: 0 },
    ...{ inReview: 0, booksDiffering: 0, chain: null },
  })
})

it('counts what waits in every organisation, says how old it is, and names nobody', async () => {
  const [acme, globex] = orgs as [(typeof orgs)[number], (typeof orgs)[number]]
  const now = h.deps.now().getTime()
  await happen(acme.orgId, new Date(now - 60_000))
  await happen(globex.orgId, new Date(now - 90_000))
  const told = await happen(globex.orgId, new Date(now - 500_000))
  await asSuperuser(h, async (client) => {
    await client.query('update outbox_event set fanned_out_at = now(), feed_seq = 1 where event_id = $1', [told])
    await client.query(
      `insert into ledger_check (org_id, next_at, differing) values ($1, now(), '{account credit}'), ($2, now(), '{}')`,
      [acme.orgId, globex.orgId],
    )
    await client.query('insert into chain_cursor values (1, 1, 90, 100, 1, $1)', [new Date(now - 5000)])
  })
  expect(await look()).toMatchObject({ eventsWaiting: 2, booksDiffering: 1, chainBehindBlocks: 11 })
  const { client } = await seedOperator(h, acme)
  const { work } = await client.monitoring.systemStats()
  expect(work).toMatchObject({ events: { waiting: 2 }, booksDiffering: 1, chain: { behindBlocks: 11 } })
  expect(work.events.oldestMs).toBeGreaterThanOrEqual(90_000)
  expect(work.events.oldestMs).toBeLessThan(500_000)
  expect(work.chain?.readAgoMs).toBeGreaterThanOrEqual(5000)
  const text = await (await fetch(`${h.url}/metrics`)).text()
  expect(text).toMatch(/^strongroom_events_waiting 2$/m)
  expect(text).toMatch(/^strongroom_books_differing 1$/m)
  expect(text).toMatch(/^strongroom_chain_behind_blocks 11$/m)
  for (const { orgId } of orgs) expect(text + JSON.stringify(work)).not.toContain(orgId)
  await asSuperuser(h, (client) => client.query('update chain_cursor set next_block = 102'))
  expect((await look()).chainBehindBlocks).toBe(0)
})

it('lets ages grow when nobody looks any more', () => {
  const since = h.deps.now()
  expect(ageMs(since, new Date(since.getTime() + 7000))).toBe(7000)
  expect(ageMs(null, since)).toBe(0)
})
