import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../test/harness.ts'
import { inOrg, outsideOrgs } from '../context.ts'
import { listRows, MAX_ALL_ROWS } from './pagination.ts'

// On the list of agents, for all lists. Catches: a total counted in a statement of its own, a limit that is clamped instead of
// refused, an order without the id, `meta` without a page.

let h: Harness
let org: { orgId: string; tenantId: string }
let manager: TestAgent
const TOTAL = 57

beforeAll(async () => {
  h = await startHarness()
  org = await h.org('acme')
  manager = await h.agent(org, ['machine.agent.all'], ['TENANT_AGENT_MANAGER'])
  const other = await h.org('globex')
  for (let i = 0; i < 5; i++) await h.agent(other, [])
  // All of one instant, so that only the id can order them.
  const at = new Date('2026-01-01T00:00:00Z')
  await inOrg(h.deps, org.orgId, (db) =>
    db
      .insertInto('agent')
      .values(
        Array.from({ length: TOTAL - 1 }, (_, i) => ({
          org_id: org.orgId,
          agent_id: h.deps.newId('agt'),
          tenant_id: org.tenantId,
          name: `row ${i}`,
          status: 'active',
          permissions: [],
          vault_id: null,
          vault_item_id: null,
          created_by: 'test',
          created_at: at,
          archived_at: null,
        })),
      )
      .execute(),
  )
})
afterAll(() => h.close())

it('answers all rows without meta when no page is asked for, whatever the limit', async () => {
  const all = await manager.client.agents.list()
  expect(Object.keys(all)).toEqual(['agents'])
  expect(all.agents).toHaveLength(TOTAL)
  expect(await manager.client.agents.list({ query: { limit: 3 } })).toEqual(all)
})

it('answers pages that together are all rows, newest first and by id, each with the same meta', async () => {
  const { agents: all } = await manager.client.agents.list()
  const sorted = all.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt) || (a.agentId < b.agentId ? 1 : -1))
  expect(all).toEqual(sorted)
  const pages = await Promise.all(
    [1, 2, 3, 4, 5, 6].map((page) => manager.client.agents.list({ query: { page, limit: 10 } })),
  )
  expect(pages.flatMap(({ agents }) => agents)).toEqual(all)
  expect(pages.map(({ meta }) => meta)).toEqual(
    [1, 2, 3, 4, 5, 6].map((page) => ({ total: TOTAL, page, limit: 10, totalPages: 6 })),
  )
})

it('orders rows of one instant by id, also where no index does', async () => {
  const ids = ['k', 'a', 'x', 'c', 'z', 'b']
  const rows = sql.join(ids.map((id) => sql`(${id}, '2026-01-01T00:00:00Z'::timestamptz)`))
  const select = sql<{ id: string; at: Date }>`(select v.id, v.at from (values ${rows}) as v(id, at))`
  const order = { time: 'at', id: 'id' } as const
  const all = await outsideOrgs(h.deps, (db) => listRows(db, select, order, {}))
  const paged = await outsideOrgs(h.deps, (db) => listRows(db, select, order, { page: 2, limit: 2 }))
  expect(all).toEqual({
    rows: ids
      .toSorted()
      .toReversed()
      .map((id) => ({ id, at: expect.any(Date) })),
  })
  expect(paged).toEqual({
    rows: [expect.objectContaining({ id: 'k' }), expect.objectContaining({ id: 'c' })],
    meta: { total: 6, page: 2, limit: 2, totalPages: 3 },
  })
})

it('takes 25 as the limit when only the page is given', async () => {
  const { agents, meta } = await manager.client.agents.list({ query: { page: 3 } })
  expect(agents).toHaveLength(7)
  expect(meta).toEqual({ total: TOTAL, page: 3, limit: 25, totalPages: 3 })
})

it('answers an empty page with a truthful meta beyond the end', async () => {
  expect(await manager.client.agents.list({ query: { page: 1000, limit: 100 } })).toEqual({
    agents: [],
    meta: { total: TOTAL, page: 1000, limit: 100, totalPages: 1 },
  })
  expect(await manager.client.agents.list({ query: { page: 2, status: 'archived' } })).toEqual({
    agents: [],
    meta: { total: 0, page: 2, limit: 25, totalPages: 0 },
  })
})

it('refuses pages and limits that are none, instead of bending them', async () => {
  for (const query of [
    'page=0',
    'page=-1',
    'page=1.5',
    'page=x',
    'page=',
    'page=1&limit=0',
    'page=1&limit=101',
    'page=1&limit=x',
    'page=1&page=2',
    'page=1&offset=3',
    'page=1e9',
    'page=1e1',
    'page=0x1',
    'page=01',
    'page=%201',
    'page=true',
  ]) {
    const response = await fetch(`${h.url}/api/v1/machine/agent?${query}`, { headers: { 'x-api-key': manager.apiKey } })
    expect([query, response.status, (await response.json()).error.code]).toEqual([query, 400, 'validation_failed'])
  }
})

it('answers all rows or refuses to, and never only some of them', async () => {
  const order = { time: 'at', id: 'id' } as const
  const rows = (count: number) =>
    sql<{
      id: number
      at: Date
    }>`(select i as id, '2026-01-01T00:00:00Z'::timestamptz as at from generate_series(1, ${sql.lit(count)}) as i)`
  const all = (count: number, maxRows?: number) =>
    outsideOrgs(h.deps, (db) => listRows(db, rows(count), order, {}, maxRows))
  expect((await all(7, 7)).rows).toHaveLength(7)
  await expect(all(8, 7)).rejects.toMatchObject({ code: 'list_too_long', status: 422, details: { maxRows: 7 } })
  expect((await all(MAX_ALL_ROWS)).rows).toHaveLength(MAX_ALL_ROWS)
  await expect(all(MAX_ALL_ROWS + 1)).rejects.toMatchObject({ code: 'list_too_long' })
  const page = await outsideOrgs(h.deps, (db) => listRows(db, rows(20_000), order, { page: 200, limit: 100 }))
  expect(page.meta).toEqual({ total: 20_000, page: 200, limit: 100, totalPages: 200 })
})

it('counts and reads one state, also while others write', async () => {
  let writing = true
  const writer = (async () => {
    for (let i = 0; writing; i++)
      await manager.client.agents.create({ body: { name: `meanwhile ${i}`, permissions: [] } })
  })()
  for (let i = 0; i < 60; i++) {
    const { agents, meta } = await manager.client.agents.list({ query: { page: 2, limit: 50 } })
    expect(agents).toHaveLength(Math.min(50, (meta?.total ?? 0) - 50))
  }
  writing = false
  await writer
})
