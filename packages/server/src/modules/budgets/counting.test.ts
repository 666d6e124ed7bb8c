import { money } from '@strongroom/contract'
import { createClient } from '@strongroom/sdk'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { outcomes } from '../../../test/people.ts'
import { asSuperuser } from '../../../test/principals.ts'
import {
  type Buyer,
  giveCredit,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
} from '../../../test/provider/license-buyer.ts'
import { deadlocksIn } from '../../../test/races/races.ts'
import { inOrg } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { budgetDifferences, reserve } from './reserve.ts'

// A budget that counts from the start of its windows, made while somebody buys. Catches: what is promised and not yet stored counted by
// nobody, and two that wait for each other. Seen red: the budgets not held in common by who reserves; not held alone by who counts.

const PRICE = 2_000_000n

let h: Harness
let org: LicenseOrg
let buyer: Buyer
beforeAll(async () => {
  h = await startHarness()
  org = await makeLicenseOrg(h, 'acme')
  buyer = await makeBuyer(h, org)
  await giveCredit(h, org.orgId, 1000n * PRICE)
})
afterAll(() => h.close())

const inside = <T>(work: (db: Db) => Promise<T>): Promise<T> => inOrg(h.deps, org.orgId, work)
const body = { licenseId: 'sandbox-once', vault: { mode: 'new', name: 'Licences' } } as const
const buy = (client = buyer.client) => client.licenses.purchase({ body })
const waiting = (): Promise<number> =>
  asSuperuser(h, async (client) => {
    const there = `datname = current_database() and wait_event_type = 'Lock'`
    return (await client.query(`select 1 from pg_stat_activity where ${there}`)).rowCount ?? 0
  })

/** A budget of the agent that is being made; settled or not. */
function making() {
  const windows = [{ kind: 'monthly', limit: money(1000n * PRICE) } as const]
  const subject = { subjectType: 'agent', subjectId: buyer.agentId } as const
  const budget = org.founder.client.budgets.create({ body: { ...subject, windows, countFrom: 'window_start' } })
  const state = { isMade: false, budget }
  const made = () => {
    state.isMade = true
  }
  budget.then(made, made)
  return state
}
const reservedIn = async (id: string): Promise<bigint> => {
  const { data } = await org.founder.client.budgets.list()
  return BigInt(data.find(({ budgetId }) => budgetId === id)?.activeWindows[0]?.reserved.amount ?? -1)
}
const promised = async (): Promise<bigint> => {
  const { rows } = await inside((db) =>
    sql<{
      sum: string
    }>`select coalesce(sum(amount), 0)::text as sum from budget_reservation where state = 'held'`.execute(db),
  )
  return BigInt(rows[0]?.sum ?? -1)
}
async function expectBooksToAddUp(): Promise<void> {
  expect(await inside((db) => budgetDifferences(db, org.orgId))).toEqual([])
  expect(await deadlocksIn(inject('postgres').superuser, String(h.worker.pool.options.database))).toBe(0)
}

it('counts what was promised before it was made and is stored afterwards', async () => {
  const { state } = await inside(async (db) => {
    const subjects = [{ type: 'agent', id: buyer.agentId } as const]
    await reserve(db, org.orgId, { owner: 'purchase:in-flight', amount: PRICE, subjects }, h.deps.now())
    const state = making()
    await expect.poll(async () => state.isMade || (await waiting()) > 0).toBe(true)
    return { state }
  })
  expect(await reservedIn((await state.budget).budgetId)).toBe(PRICE)
  await expectBooksToAddUp()
})

it('counts every purchase, alone or together, that is begun before it and after it', async () => {
  // Who buys is decided at the first purchase; after that they go together.
  await buy()
  const { all, state } = await inside(async (db) => {
    await sql`select 1 from ledger_account where account = 'credit' for update`.execute(db)
    const all = { ends: outcomes(Array.from({ length: 8 }, () => buy())) }
    await expect.poll(waiting).toBeGreaterThan(0)
    const state = making()
    await expect.poll(async () => state.isMade || (await waiting()) > 1).toBe(true)
    return { all, state }
  })
  expect(new Set(await all.ends)).toEqual(new Set(['ok']))
  expect(await reservedIn((await state.budget).budgetId)).toBe(await promised())
  await expectBooksToAddUp()
})

it('waits for nobody for ever: many buy in two processes while budgets are made', async () => {
  const sibling = await h.sibling()
  try {
    const there = createClient({ baseUrl: sibling.url, apiKey: buyer.apiKey })
    const buying = outcomes(Array.from({ length: 60 }, (_, i) => buy(i % 2 ? there : undefined)))
    const made = await Promise.all(Array.from({ length: 8 }, () => making().budget))
    expect(new Set(await buying)).toEqual(new Set(['ok']))
    const all = await promised()
    for (const { budgetId } of made) expect(await reservedIn(budgetId)).toBe(all)
  } finally {
    await sibling.close()
  }
  await expectBooksToAddUp()
})
