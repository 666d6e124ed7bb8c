import { money } from '@strongroom/contract'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import {
  type Buyer,
  buy,
  giveCredit,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
} from '../../../test/provider/license-buyer.ts'
import { deadlocksIn } from '../../../test/races/races.ts'
import { inOrg } from '../../context.ts'
import { openWindows } from './open-windows.ts'
import { budgetDifferences } from './reserve.ts'

// A window that opens is told of. Catches: one that nobody spends in and that nobody hears of; one told twice; a window of a budget that is
// archived, has not begun or rolls; somebody of another tenant told; those who buy and those who open waiting for each other.
// Seen red: windows not opened by the clock; told again; archived ones opened; no scope.

const DAY_MS = 86_400_000
const LIMIT = money(1_000_000_000n)

let h: Harness
let org: LicenseOrg
let buyer: Buyer
/** The session of a person would end with the days. */
let manager: TestAgent
beforeAll(async () => {
  h = await startHarness()
  org = await makeLicenseOrg(h, 'acme')
  buyer = await makeBuyer(h, org)
  manager = await h.agent(org, ['machine.budget.all'], ['TENANT_BUDGET_MANAGER'])
  await giveCredit(h, org.orgId, 1_000_000_000_000n)
})
afterAll(() => h.close())

type Window = Parameters<typeof manager.client.budgets.create>[0]['body']['windows'][number]
const make = async (...windows: Window[]): Promise<string> => {
  const body = { subjectType: 'agent', subjectId: buyer.agentId, windows } as const
  return (await manager.client.budgets.create({ body })).budgetId
}

interface Told {
  readonly data: { readonly object: Readonly<Record<string, unknown>> }
}
const told = (budgetId: string) =>
  inOrg(h.deps, org.orgId, async (db) => {
    const rows = await db
      .selectFrom('outbox_event')
      .select(['body', 'tenant_id as tenantId'])
      .where('type', '=', 'budget.window_opened')
      .orderBy('seq')
      .execute()
    return rows
      .map(({ body, tenantId }) => ({ ...(JSON.parse(body) as Told).data.object, tenantId }) as Record<string, unknown>)
      .filter(({ id }) => id === budgetId)
  })

it('tells of each window once, whether somebody spends in it or only the clock has opened it', async () => {
  const budgetId = await make({ kind: 'daily', limit: LIMIT }, { kind: 'total', limit: LIMIT })
  await buy(buyer)
  await openWindows(h.deps, h.worker)
  await openWindows(h.deps, h.worker)
  const day = Math.floor(h.deps.now().getTime() / DAY_MS) * DAY_MS
  const opened = (at: number) => ({
    ...{ type: 'budget', id: budgetId, ruleNo: 0, kind: 'daily', limit: LIMIT, tenantId: org.tenantId },
    ...{ subjectType: 'agent', subjectId: buyer.agentId },
    ...{ startsAt: new Date(at).toISOString(), endsAt: new Date(at + DAY_MS).toISOString() },
  })
  const first = await told(budgetId)
  expect(first.filter(({ kind }) => kind === 'daily')).toEqual([opened(day)])
  expect(first.filter(({ kind }) => kind === 'total')).toMatchObject([{ ruleNo: 1, endsAt: null }])
  h.advance(DAY_MS)
  await Promise.all([1, 2].map(() => openWindows(h.deps, h.worker)))
  expect((await told(budgetId)).slice(2)).toEqual([opened(day + DAY_MS)])
  await buy(buyer)
  await openWindows(h.deps, h.worker)
  expect(await told(budgetId)).toHaveLength(3)
})

it('tells of none that rolls, has not begun or is of a budget that was archived', async () => {
  const startsAt = new Date(h.deps.now().getTime() + 3 * DAY_MS).toISOString()
  const rolling = await make({ kind: 'rolling', duration: 'P1D', limit: LIMIT })
  const later = await make({ kind: 'total', limit: LIMIT, startsAt })
  const archived = await make({ kind: 'daily', limit: LIMIT })
  await manager.client.budgets.update({ params: { id: archived }, body: { status: 'archived' } })
  await buy(buyer)
  await openWindows(h.deps, h.worker)
  expect(await Promise.all([rolling, later, archived].map(told))).toEqual([[], [], []])
  h.advance(4 * DAY_MS)
  await openWindows(h.deps, h.worker)
  expect(await Promise.all([rolling, archived].map(told))).toEqual([[], []])
  expect(await told(later)).toHaveLength(1)
})

it('opens windows while others buy in them, and nobody waits for ever', async () => {
  for (let no = 0; no < 4; no++) await make({ kind: 'daily', limit: LIMIT }, { kind: 'weekly', limit: LIMIT })
  for (let day = 0; day < 4; day++) {
    h.advance(DAY_MS)
    const buying = Array.from({ length: 12 }, () => buy(buyer))
    await Promise.all([...buying, openWindows(h.deps, h.worker), openWindows(h.deps, h.worker)])
  }
  expect(await deadlocksIn(inject('postgres').superuser, String(h.worker.pool.options.database))).toBe(0)
  expect(await inOrg(h.deps, org.orgId, (db) => budgetDifferences(db, org.orgId))).toEqual([])
})
