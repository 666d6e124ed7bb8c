import { money } from '@strongroom/contract'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { asSuperuser } from '../../../test/principals.ts'
import { buy, giveCredit, makeBuyer, makeLicenseOrg } from '../../../test/provider/license-buyer.ts'
import { inOrg } from '../../context.ts'
import { applyTransfers, type Transfer } from '../../ledger/ledger.ts'
import { takeBookTurn } from './check-books.ts'

// Every book is added up anew each day. Catches: an account or a window of a budget that is not the sum of what moved it and that nobody hears
// of; a book that is said to differ because money moves while it is looked at, or because it is looked at in parts; one that is never looked
// at again. Seen red: balances not compared; holds that have ended still counted; parts not kept; each statement with a snapshot of its own;
// budgets not looked at.

const DAY_MS = 86_400_000

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

const about = (id: string) => ({ id, group: id, refType: 'test', refId: id })
const round = (no: number): Transfer[] => [
  { ...about(`fund:${no}`), code: 'funding', phase: 'single', dr: 'clearing:test', cr: 'credit', amount: 1000n },
  { ...about(`hold:${no}`), code: 'purchase', phase: 'pending', dr: 'credit', cr: 'payable:x', amount: 400n },
  { ...about(`keep:${no}`), code: 'purchase', phase: 'pending', dr: 'credit', cr: 'payable:y', amount: 10n },
  { ...about(`part:${no}`), code: 'purchase', phase: 'pending', dr: 'credit', cr: 'payable:x', amount: 100n },
  { ...about(`post:${no}`), code: 'purchase', phase: 'post', pendingId: `hold:${no}`, amount: 350n },
  { ...about(`void:${no}`), code: 'purchase', phase: 'void', pendingId: `part:${no}` },
]
const move = (orgId: string, transfers: Transfer[]) =>
  inOrg(h.deps, orgId, (db) => applyTransfers(db, orgId, transfers, h.deps.now()))

const checkAll = async (part?: number): Promise<number> => {
  let turns = 0
  while (await takeBookTurn(h.deps, h.worker, part)) turns++
  return turns
}
const stateOf = async (orgId: string) => {
  const { checked_at: checkedAt, differing } = await inOrg({ database: h.worker }, orgId, (db) =>
    db
      .selectFrom('ledger_check')
      .select(['checked_at', 'differing'])
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow(),
  )
  return { checkedAt, differing }
}
const recorded = (orgId: string) =>
  inOrg(h.deps, orgId, (db) =>
    db.selectFrom('audit_event').select('metadata').where('action', '=', 'billing.books.differ').execute(),
  )

beforeEach(async () => {
  h.advance(2 * DAY_MS)
  await checkAll()
})

it('finds every book as it must be, once a day, in parts of any size', async () => {
  const { orgId } = await h.org('sound')
  for (let no = 0; no < 5; no++) await move(orgId, round(no))
  for (const part of [1, 3, 30, 31]) {
    h.advance(DAY_MS)
    const since = h.deps.now()
    await checkAll(part)
    const { checkedAt, differing } = await stateOf(orgId)
    expect(differing).toEqual([])
    expect(checkedAt?.getTime()).toBeGreaterThanOrEqual(since.getTime())
  }
  h.advance(DAY_MS / 2)
  expect(await checkAll()).toBe(0)
  h.advance(DAY_MS / 2)
  expect(await checkAll()).toBeGreaterThan(0)
  expect(await recorded(orgId)).toEqual([])
})

it('says which account is not the sum of what moved it, in the audit log and to the operator, until it is', async () => {
  const { orgId } = await h.org('wrong')
  const sound = await h.org('right')
  await move(orgId, round(1))
  await move(sound.orgId, round(1))
  const shift = (by: number) =>
    asSuperuser(h, (client) =>
      client.query(`update ledger_account set cr_posted = cr_posted + $2 where org_id = $1 and account = 'credit'`, [
        orgId,
        by,
      ]),
    )
  await shift(1)
  await checkAll(2)
  expect((await stateOf(orgId)).differing).toEqual(['account credit'])
  expect(await recorded(orgId)).toEqual([{ metadata: { differing: ['account credit'] } }])
  expect((await stateOf(sound.orgId)).differing).toEqual([])
  await shift(-1)
  h.advance(DAY_MS)
  await checkAll()
  expect((await stateOf(orgId)).differing).toEqual([])
})

it('says which budget counts something else than was promised in it', async () => {
  const org = await makeLicenseOrg(h, 'budgets')
  const buyer = await makeBuyer(h, org)
  await giveCredit(h, org.orgId, 1_000_000_000n)
  const { budgetId } = await org.founder.client.budgets.create({
    body: {
      ...{ subjectType: 'agent', subjectId: buyer.agentId },
      windows: [{ kind: 'monthly', limit: money(900_000_000n) }],
    },
  })
  await buy(buyer)
  await checkAll()
  expect((await stateOf(org.orgId)).differing).toEqual([])
  await asSuperuser(h, (client) =>
    client.query('update budget_window set reserved = reserved + 1 where org_id = $1', [org.orgId]),
  )
  h.advance(DAY_MS)
  await checkAll()
  expect((await stateOf(org.orgId)).differing).toEqual([`budget ${budgetId}`])
})

it('finds no difference while money moves', async () => {
  const { orgId } = await h.org('busy')
  // A book that takes a while to add up, so that somebody writes meanwhile.
  await move(orgId, Array.from({ length: 300 }, (_, no) => round(no)).flat())
  let isOver = false
  const writer = async (first: number): Promise<void> => {
    for (let no = first; !isOver; no++) await move(orgId, round(no))
  }
  const moving = Promise.all([writer(1e6), writer(2e6), writer(3e6)])
  for (let turn = 0; turn < 10; turn++) {
    h.advance(DAY_MS)
    await checkAll()
  }
  isOver = true
  await moving
  expect(await recorded(orgId)).toEqual([])
  expect((await stateOf(orgId)).differing).toEqual([])
})
