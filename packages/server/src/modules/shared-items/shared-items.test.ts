import { randomBytes } from 'node:crypto'
import type { Input, sharedItems } from '@strongroom/contract'
import { createClient, type FirstPerson } from '@strongroom/sdk'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg, outcomes, refusal } from '../../../test/people.ts'
import { asSuperuser } from '../../../test/principals.ts'
import { edit, makeVault, writeItems } from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'
import { sweepSharedItems } from './sweep.ts'

// Catches, each seen red: two views of one (the row not locked), a copy that is kept after its last view or shown after it has
// expired, somebody else's listed or withdrawn (the owner not looked at), an item named that the caller does not see, a longer
// life than 30 days, a view that is not recorded, a sweep of what has not expired.

let h: Harness
let alice: FirstPerson
let bot: TestAgent
let anybody: Pick<TestAgent, 'client'>
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await h.agent(alice, ['machine.vault.all'])
  anybody = { client: createClient({ baseUrl: h.url }) }
})
afterAll(() => h.close())

type Body = Input<typeof sharedItems.create>['body']
// Shorter than a session may be idle, since the server's clock is moved by it.
const SOON_MS = 600_000
const DAY_MS = 86_400_000
const inMs = (ms: number): string => new Date(h.deps.now().getTime() + ms).toISOString()
const bodyOf = (change: Partial<Body> = {}): Body => ({
  sealed: randomBytes(48).toString('base64url'),
  expiresAt: inMs(SOON_MS),
  maxViews: 1,
  ...change,
})
const share = async (change: Partial<Body> = {}, who: Pick<TestAgent, 'client'> = bot) => {
  const body = bodyOf(change)
  const { sharedItemId: id } = await who.client.sharedItems.create({ body })
  return { id, ...body }
}
const view = (id: string, { client } = anybody) => client.sharedItems.view({ params: { id } })
const listed = async ({ client }: Pick<TestAgent, 'client'>) => (await client.sharedItems.list()).data
const rows = (orgId = alice.orgId) =>
  inOrg(h.deps, orgId, (db) => db.selectFrom('shared_item').selectAll().orderBy('shared_item_id').execute())
const bodyAt = async (id: string) => {
  const answer = await fetch(`${h.url}/api/v1/machine/shared-item/${id}`)
  const { error } = (await answer.json()) as { error: { requestId: string } }
  return { status: answer.status, ...error, requestId: '' }
}

it('gives a sealed copy to whoever has the link, counts the views, and keeps nothing after the last', async () => {
  const { id, sealed } = await share({ maxViews: 2 })
  expect(await view(id)).toMatchObject({ sealed, viewsLeft: 1 })
  expect((await listed(bot)).find(({ sharedItemId }) => sharedItemId === id)).toMatchObject({
    status: 'active',
    views: 1,
    maxViews: 2,
  })
  expect(await view(id)).toMatchObject({ sealed, viewsLeft: 0 })
  expect(await codeOf(view(id))).toBe('shared_item_not_found')
  expect((await rows()).find((row) => row.shared_item_id === id)).toMatchObject({ sealed: null, views: 2 })
  expect((await listed(bot)).find(({ sharedItemId }) => sharedItemId === id)).toMatchObject({ status: 'used' })
})

it('gives one view to one of fifty readers of two processes, and seven of seven', async () => {
  const other = await h.sibling()
  const elsewhere = { client: createClient({ baseUrl: other.url }) }
  try {
    for (const maxViews of [1, 7]) {
      const { id } = await share({ maxViews })
      const ended = await outcomes(Array.from({ length: 50 }, (_, i) => view(id, i % 2 ? anybody : elsewhere)))
      expect(ended.filter((one) => one === 'ok')).toHaveLength(maxViews)
      expect(new Set(ended)).toEqual(new Set(['ok', 'shared_item_not_found']))
    }
  } finally {
    await other.close()
  }
})

it('answers alike for what never was, has expired, is used up or was withdrawn', async () => {
  const used = await share()
  await view(used.id)
  const withdrawn = await share()
  await bot.client.sharedItems.remove({ params: { id: withdrawn.id } })
  const expired = await share({ expiresAt: inMs(SOON_MS), maxViews: 5 })
  h.advance(SOON_MS)
  expect((await listed(bot)).find(({ sharedItemId }) => sharedItemId === expired.id)).toMatchObject({
    status: 'expired',
    views: 0,
  })
  const bodies = await Promise.all([used.id, withdrawn.id, expired.id, 'shr_0000000000000000000000'].map(bodyAt))
  expect(bodies[0]).toMatchObject({ status: 404, code: 'shared_item_not_found' })
  for (const body of bodies) expect(body).toEqual(bodies[0])
})

it('lists and withdraws to each only what they shared themselves, also in another organisation', async () => {
  const other = await h.org('other')
  const foreign = await h.agent(other, ['machine.all'])
  const colleague = await h.agent(alice, ['machine.all'])
  const { id } = await share({ maxViews: 3 }, colleague)
  const ids = async (who: Pick<TestAgent, 'client'>) => (await listed(who)).map(({ sharedItemId }) => sharedItemId)
  expect(await ids(colleague)).toEqual([id])
  expect(await colleague.client.sharedItems.list({ query: { page: 1 } })).toMatchObject({ meta: { total: 1 } })
  for (const who of [alice, bot, foreign]) {
    expect(await ids(who)).not.toContain(id)
    expect(await codeOf(who.client.sharedItems.remove({ params: { id } }))).toBe('shared_item_not_found')
  }
  expect(await foreign.client.sharedItems.list({ query: { page: 1 } })).toMatchObject({ data: [], meta: { total: 0 } })
  expect((await view(id)).viewsLeft).toBe(2)
  const theirs = await share({}, foreign)
  expect((await view(theirs.id)).sealed).toBe(theirs.sealed)
  expect(await rows(other.orgId)).toMatchObject([{ shared_item_id: theirs.id }])
  await colleague.client.sharedItems.remove({ params: { id } })
  expect(await ids(colleague)).toEqual([])
})

it('takes at most 256 KiB, 30 days and 100 views, and nothing that could be a key or a note; nothing is kept of a refusal', async () => {
  const before = await rows()
  const largest = 'A'.repeat(349_526)
  const refused: Record<string, unknown>[] = [
    { sealed: `${largest}AA` },
    { sealed: 'not base64url!' },
    { sealed: 'AAAAA' },
    { sealed: '' },
    { expiresAt: inMs(-1) },
    { expiresAt: inMs(30 * DAY_MS + 60_000) },
    { expiresAt: 'tomorrow' },
    { maxViews: 0 },
    { maxViews: 101 },
    { maxViews: 1.5 },
    { key: 'AAAA' },
    { note: 'for bob' },
  ]
  for (const change of refused)
    expect(await codeOf(bot.client.sharedItems.create({ body: { ...bodyOf(), ...change } as Body }))).toBe(
      'validation_failed',
    )
  expect(await codeOf(share({ sealed: 'A'.repeat(400_000) }))).toBe('payload_too_large')
  expect(await rows()).toEqual(before)
  const { id } = await share({ sealed: largest, expiresAt: inMs(30 * DAY_MS), maxViews: 100 })
  expect((await view(id)).sealed).toBe(largest)
})

it('says of which vault item it is a copy to its owner only, and only of one the owner sees', async () => {
  const vaultId = await makeVault(alice)
  await writeItems(alice, vaultId, [edit('itm_shared', { A: '1' })])
  const before = await rows()
  const bodies = []
  for (const itemId of ['itm_shared', 'itm_absent']) bodies.push(await refusal(share({ itemId })))
  expect(bodies[0]).toMatchObject({ status: 404, code: 'vault_item_not_found' })
  expect(bodies[1]).toEqual(bodies[0])
  expect(await rows()).toEqual(before)
  const { id, sealed } = await share({ itemId: 'itm_shared' }, alice)
  expect(await listed(alice)).toMatchObject([{ sharedItemId: id, itemId: 'itm_shared' }])
  expect(Object.keys(await view(id)).sort()).toEqual(['expiresAt', 'sealed', 'viewsLeft'])
  const { data } = await alice.client.monitoring.auditEvents({})
  const about = data.filter(({ targets }) => targets.some((target) => target.id === id))
  expect(about.map(({ action, actor }) => `${action} ${actor.type}`).sort()).toEqual([
    'shared-item.create user',
    'shared-item.view link',
  ])
  expect(JSON.stringify(data)).not.toContain(sealed)
})

it('counts no view that could not be recorded', async () => {
  const { id } = await share()
  await asSuperuser(h, (client) => client.query('revoke insert on audit_event from strongroom_app'))
  const refused = await refusal(view(id)).finally(() =>
    asSuperuser(h, (client) => client.query('grant insert on audit_event to strongroom_app')),
  )
  expect(refused).toMatchObject({ status: 503, code: 'audit_unavailable' })
  expect((await view(id)).viewsLeft).toBe(0)
})

it('removes what has expired in every organisation, and nothing else; the sweeper cannot read what is sealed', async () => {
  const foreign = await h.agent(await h.org('third'), ['machine.all'])
  const gone = [await share({ expiresAt: inMs(SOON_MS) }), await share({ expiresAt: inMs(SOON_MS) }, foreign)]
  const stays = await share({ expiresAt: inMs(2 * SOON_MS) })
  h.advance(SOON_MS)
  const leftOver = sql<{ n: number }>`
    select count(*)::integer as n from shared_item where shared_item_id = any(${gone.map(({ id }) => id)}::text[])`
  expect((await leftOver.execute(h.worker.kysely)).rows).toEqual([{ n: 2 }])
  await sweepSharedItems(h.deps, h.worker)
  expect((await leftOver.execute(h.worker.kysely)).rows).toEqual([{ n: 0 }])
  expect((await view(stays.id)).sealed).toBe(stays.sealed)
  await expect(sql`select sealed from shared_item`.execute(h.worker.kysely)).rejects.toMatchObject({ code: '42501' })
})
