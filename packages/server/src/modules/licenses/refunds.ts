import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { refundOf } from '../../licenses/proration.ts'
import { endPeriod, lockPeriods, type PeriodRow } from '../charges/period-store.ts'
import { chargePeriod } from '../charges/write.ts'
import type { TerminationRow } from './termination-store.ts'

// What is given back when a licence ends early, period by period: each goes back to where it was paid from, and its lines then add up to
// what was really paid.

export interface PeriodRefund {
  readonly period: PeriodRow
  /** What it counts as in budgets. */
  readonly owner: string
  readonly amount: bigint
  readonly transferId: string
}

type Ended = Pick<TerminationRow, 'orgId' | 'instanceId' | 'terminationId' | 'refundable'>

const runsAt = (until: Date) => (period: PeriodRow) => period.endsAt === null || period.endsAt > until

const periodsFor = async (db: Db, { orgId, instanceId }: Ended, until: Date): Promise<readonly PeriodRow[]> =>
  (await lockPeriods(db, orgId, instanceId)).filter(runsAt(until))

/** Nobody is given back more than this on the word of a provider. */
export async function paidFor(db: Db, ended: Ended, until: Date): Promise<bigint> {
  return (await periodsFor(db, ended, until)).reduce((sum, { amount }) => sum + amount, 0n)
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** What the provider says, from the last period on backwards; else what is left of each. Days that have begun were used. */
export async function refundsOf(db: Db, ended: Ended, until: Date): Promise<readonly PeriodRefund[]> {
  const periods = await periodsFor(db, ended, until)
  let left = ended.refundable === null ? null : BigInt(ended.refundable)
  const backs: PeriodRefund[] = []
  for (const period of [...periods].reverse()) {
    const { amount: paid, startsAt, endsAt, owner, periodNo } = period
    const amount = left === null ? refundOf(paid, startsAt, endsAt, until) : smaller(left, paid)
    if (left !== null) left -= amount
    const id = `refund:${ended.terminationId}`
    backs.push({ period, owner, amount, transferId: periodNo === 1 ? id : `${id}:${periodNo}` })
  }
  return backs
}

/** The last lines of each, in the transaction that gives the money back. */
export async function endPeriods(
  deps: Pick<Deps, 'now' | 'newId'>,
  db: Db,
  { orgId, instanceId }: Ended,
  backs: readonly PeriodRefund[],
  until: Date,
): Promise<void> {
  for (const { period, amount, transferId } of backs)
    await endPeriod(db, period, { at: until, refund: amount, refundId: amount > 0n ? transferId : null })
  const ended = new Set(backs.map(({ period }) => period.periodNo))
  for (const period of await lockPeriods(db, orgId, instanceId))
    if (ended.has(period.periodNo)) await chargePeriod(deps, db, period)
}
