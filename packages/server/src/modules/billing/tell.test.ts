import { money } from '@strongroom/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { inOrg } from '../../context.ts'
import { applyTransfers, type Transfer } from '../../ledger/ledger.ts'
import { tellCredit } from './tell.ts'

// What moved the credit is told, from the book. Catches: a movement that is left out or told twice, by several at once or after a batch that
// was full; one that was rolled back or is between others; credit of another organisation; low told at every movement below, or not again.
// Seen red: the place not kept; the place not locked; the movement before a batch not looked at; low told whatever was before.

const LOW = 10_000_000n

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

const about = (id: string) => ({ id, group: id, refType: 'test', refId: id })
const paidIn = (no: number, amount: bigint): Transfer => ({
  ...about(`fund:${no}`),
  ...{ code: 'funding', phase: 'single', dr: 'clearing:test', cr: 'credit', amount },
})
const held = (no: number, amount: bigint): Transfer => ({
  ...about(`hold:${no}`),
  ...{ code: 'purchase', phase: 'pending', dr: 'credit', cr: 'payable:x', amount },
})
const released = (no: number): Transfer => ({
  ...about(`void:${no}`),
  ...{ code: 'purchase', phase: 'void', pendingId: `hold:${no}` },
})
const move = (orgId: string, ...transfers: Transfer[]) =>
  inOrg(h.deps, orgId, (db) => applyTransfers(db, orgId, transfers, h.deps.now()))

interface Told {
  readonly type: string
  readonly sequence: number
  readonly data: { readonly object: { readonly id: string; readonly [member: string]: unknown } }
}
const told = (orgId: string): Promise<Told[]> =>
  inOrg(h.deps, orgId, async (db) => {
    const rows = await db.selectFrom('outbox_event').select('body').orderBy('seq').execute()
    return rows.map(({ body }) => JSON.parse(body) as Told)
  })
const names = async (orgId: string) => (await told(orgId)).map(({ type, data }) => `${type} ${data.object.id}`)
const created = (id: string) => `billing.credit_transaction.created ${id}`

it('tells of each movement of the credit once, with what is left, and of none between others', async () => {
  const { orgId } = await h.org('once')
  const other = await h.org('other')
  await move(orgId, paidIn(1, 50_000_000n), held(1, 400n), {
    ...about('inner:1'),
    ...{ code: 'adjustment', phase: 'single', dr: 'payable:x', cr: 'margin', amount: 5n },
  })
  await move(other.orgId, paidIn(7, 20_000_000n))
  await tellCredit(h.deps, h.worker)
  await tellCredit(h.deps, h.worker)
  expect(await names(orgId)).toEqual([created('fund:1'), created('hold:1')])
  expect((await told(orgId))[1]).toMatchObject({
    sequence: 1,
    data: {
      object: {
        ...{ type: 'credit_transaction', id: 'hold:1', kind: 'hold', amount: money(-400n) },
        ...{
          balanceAfter: money(50_000_000n),
          availableAfter: money(49_999_600n),
          ref: { type: 'test', id: 'hold:1' },
        },
      },
    },
  })
  expect(await names(other.orgId)).toEqual([created('fund:7')])
})

it('tells each time the credit falls below what is low, and when nothing is left', async () => {
  const { orgId } = await h.org('low')
  await move(orgId, paidIn(1, LOW), held(1, 1n), held(2, 1n))
  await tellCredit(h.deps, h.worker)
  // Released in another batch: what was before it is in the one that was told.
  await move(orgId, released(1), released(2))
  await tellCredit(h.deps, h.worker)
  await move(orgId, held(3, LOW))
  await tellCredit(h.deps, h.worker)
  const low = `billing.balance.low ${orgId}`
  expect(await names(orgId)).toEqual([
    ...[created('fund:1'), created('hold:1'), low, created('hold:2')],
    ...[created('void:1'), created('void:2')],
    ...[created('hold:3'), low, `billing.balance.depleted ${orgId}`],
  ])
  expect((await told(orgId)).at(-1)?.data.object).toEqual({
    ...{ type: 'balance', id: orgId, available: money(0n), below: money(1n) },
  })
})

it('tells of everything once, in order, however much there is and however many tell at once', async () => {
  const { orgId } = await h.org('many')
  const all = Array.from({ length: 450 }, (_, no) => paidIn(no, LOW))
  await move(orgId, ...all)
  await Promise.all([1, 2, 3].map(() => tellCredit(h.deps, h.worker)))
  expect(await names(orgId)).toEqual(all.map(({ id }) => created(id)))
})

it('tells of nothing that was rolled back', async () => {
  const { orgId } = await h.org('undone')
  await move(orgId, paidIn(1, LOW))
  const undone = inOrg(h.deps, orgId, async (db) => {
    await applyTransfers(db, orgId, [held(1, 1n)], h.deps.now())
    await tellCredit(h.deps, h.worker)
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  await tellCredit(h.deps, h.worker)
  expect(await names(orgId)).toEqual([created('fund:1')])
})
