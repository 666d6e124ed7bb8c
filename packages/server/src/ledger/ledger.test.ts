import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'
import { playLedger, steps } from '../../test/money/ledger-model.ts'
import { inOrg } from '../context.ts'
import { applyTransfers, creditOf, ledgerDifferences, type Transfer } from './ledger.ts'

// Catches: a hold that ends twice, a balance below zero, a transfer that counts twice when it is asked for again, money that is nowhere.
// Seen red: accounts not locked (the race), no look at the credit (model, race, all or none), a repeated transfer applied again (model,
// same name), a hold released in part on one side (model, ends once).

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

const named = (id: string, code: Transfer['code']) => ({ id, group: id, code, refType: 'test', refId: 'r' })
const fund = (id: string, amount: bigint): Transfer => ({
  ...named(id, 'funding'),
  phase: 'single',
  dr: 'clearing:test',
  cr: 'credit',
  amount,
})
const hold = (id: string, amount: bigint): Transfer => ({
  ...named(id, 'purchase'),
  phase: 'pending',
  dr: 'credit',
  cr: 'payable:test',
  amount,
})

const bookOf = async () => {
  const { orgId } = await h.org('book')
  return {
    orgId,
    apply: (...transfers: Transfer[]) =>
      inOrg(h.deps, orgId, (db) => applyTransfers(db, orgId, transfers, h.deps.now())),
    credit: () => inOrg(h.deps, orgId, (db) => creditOf(db, orgId)),
    differences: () => inOrg(h.deps, orgId, (db) => ledgerDifferences(db, orgId)),
    balances: () =>
      inOrg(h.deps, orgId, async (db) => {
        const { rows } = await sql<{ posted: string; pending: string }>`
          select (sum(dr_posted) - sum(cr_posted))::text as posted, (sum(dr_pending) - sum(cr_pending))::text as pending
          from ledger_account where org_id = ${orgId}`.execute(db)
        return rows[0]
      }),
  }
}

it('agrees with a model of itself after any sequence of moves', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(steps, (sequence) => playLedger(h, sequence)),
    { numRuns: 60, endOnFailure: true },
  )
})

it('gives ten holds of ten to two hundred who ask at once, and the book balances', async () => {
  const book = await bookOf()
  await book.apply(fund('f:1', 1000n))
  const asked = await Promise.allSettled(Array.from({ length: 200 }, (_, i) => book.apply(hold(`h:${i}`, 100n))))
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  for (const one of asked)
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'insufficient_credit' })
  expect(await book.credit()).toEqual({ posted: 1000n, held: 1000n, available: 0n })
  expect(await book.balances()).toEqual({ posted: '0', pending: '0' })
  expect(await book.differences()).toEqual([])
})

it('applies all transfers of a call or none', async () => {
  const book = await bookOf()
  await expect(book.apply(fund('f:1', 50n), hold('h:1', 40n), hold('h:2', 20n))).rejects.toMatchObject({
    code: 'insufficient_credit',
    details: { available: '10', required: '20', shortfall: '10' },
  })
  expect(await book.credit()).toEqual({ posted: 0n, held: 0n, available: 0n })
})

it('takes the same name for another transfer as a mistake, and for the same one as said before', async () => {
  const book = await bookOf()
  expect(await book.apply(fund('f:1', 50n))).toEqual({ applied: 1 })
  expect(await book.apply(fund('f:1', 50n))).toEqual({ applied: 0 })
  await expect(book.apply(fund('f:1', 51n))).rejects.toThrow('another_transfer')
  expect((await book.credit()).posted).toBe(50n)
})

it('ends a hold once, whoever of many is first', async () => {
  const book = await bookOf()
  await book.apply(fund('f:1', 100n), hold('h:1', 80n))
  const ends = Array.from({ length: 16 }, (_, i): Transfer => {
    const of = { ...named(`e:${i}`, 'purchase'), pendingId: 'h:1' }
    return i % 2 === 0 ? { ...of, phase: 'post', amount: 30n } : { ...of, phase: 'void' }
  })
  const ended = await Promise.allSettled(ends.map((end) => book.apply(end)))
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const { held, posted } = await book.credit()
  expect(held).toBe(0n)
  expect([70n, 100n]).toContain(posted)
  expect(await book.differences()).toEqual([])
})

it('is never changed afterwards, and belongs to one organisation', async () => {
  const [book, other] = [await bookOf(), await bookOf()]
  await book.apply(fund('f:1', 100n))
  const change = (statement: ReturnType<typeof sql>) => inOrg(h.deps, book.orgId, (db) => statement.execute(db))
  await expect(change(sql`update ledger_transfer set amount = 1`)).rejects.toThrow(/permission denied/)
  await expect(change(sql`delete from ledger_transfer`)).rejects.toThrow(/permission denied/)
  await expect(h.worker.pool.query('update strongroom.ledger_transfer set amount = 1')).rejects.toThrow(
    /permission denied/,
  )
  expect((await other.credit()).posted).toBe(0n)
  const { rows } = await inOrg(h.deps, other.orgId, (db) => sql`select 1 from ledger_transfer`.execute(db))
  expect(rows).toEqual([])
})

it('says which account is not the sum of its transfers', async () => {
  const book = await bookOf()
  await book.apply(fund('f:1', 100n))
  await inOrg(h.deps, book.orgId, (db) =>
    sql`update ledger_account set cr_posted = cr_posted + 1 where account = 'credit'`.execute(db),
  )
  expect(await book.differences()).toEqual(['credit'])
})
