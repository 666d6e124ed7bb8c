import { money } from '@strongroom/contract'
import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { applyTransfers } from '../../ledger/ledger.ts'
import { tellReached } from '../../outbox/budget-events.ts'
import { emit } from '../../outbox/outbox.ts'
import { reserve, settle } from '../budgets/reserve.ts'
import { subjectIn } from './money.ts'
import type { RenewalRow } from './renewal-store.ts'
import { endTestCredit } from './test-credit-store.ts'

// The money of a renewal, as that of a purchase: promised in budgets, held, then taken or given back. Budgets first, the ledger last.

type Maker = Pick<Deps, 'now' | 'newId'>

export const renewalOwner = ({ renewalId }: RenewalRow): string => `renewal:${renewalId}`
export const renewalCapture = ({ renewalId }: RenewalRow): string => `capture:${renewalId}`
const holdOf = ({ renewalId }: RenewalRow): string => `hold:${renewalId}`

const about = ({ renewalId }: RenewalRow) => ({
  ...{ group: `renewal:${renewalId}`, code: 'purchase', refType: 'license_renewal', refId: renewalId },
  code: 'purchase' as const,
})

/** In every budget that applies, or refuses. */
export async function promiseRenewal(maker: Maker, db: Db, row: RenewalRow): Promise<void> {
  const { orgId, amount, subjects } = row
  const reservation = { owner: renewalOwner(row), amount: BigInt(amount), subjects: subjects.map(subjectIn) }
  await tellReached(maker, db, orgId, await reserve(db, orgId, reservation, maker.now()))
}

export const settleRenewal = (maker: Maker, db: Db, row: RenewalRow, spent: bigint): Promise<void> =>
  settle(db, row.orgId, renewalOwner(row), spent, maker.now())

/** Of the credit, after everything else of the transaction. */
export async function moveRenewalMoney(
  maker: Maker,
  db: Db,
  row: RenewalRow,
  move: 'hold' | 'capture' | 'release',
): Promise<void> {
  const { orgId, renewalId, provider, tenantId, amount } = row
  if (move !== 'capture')
    await emit(maker, db, orgId, {
      type: move === 'hold' ? 'billing.hold.created' : 'billing.hold.released',
      object: { type: 'hold', id: renewalId, amount: money(amount) },
      tenantId,
    })
  const legs = { dr: 'credit', cr: `payable:${provider}`, amount: BigInt(amount) } as const
  const pendingId = holdOf(row)
  const transfer = {
    hold: { ...about(row), ...legs, id: pendingId, phase: 'pending' },
    capture: { ...about(row), id: renewalCapture(row), phase: 'post', pendingId, amount: BigInt(amount) },
    release: { ...about(row), id: `release:${renewalId}`, phase: 'void', pendingId },
  } as const
  // Nothing comes back of it: licences of the sandbox are not renewed.
  if (move === 'hold') await endTestCredit(db, row, maker.now())
  await applyTransfers(db, orgId, [transfer[move]], maker.now())
}
