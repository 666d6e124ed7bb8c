import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { closesAt, dayOf, monthOf, type PaidPeriod } from './rules.ts'
import { openMonths } from './store.ts'

// Periods that were paid for. Written with the money, and turned into lines day by day.

export interface PeriodRow extends PaidPeriod {
  readonly orgId: string
  readonly instanceId: string
  readonly periodNo: number
  readonly transferId: string
  /** What it counts as in budgets. */
  readonly owner: string
  readonly refundId: string | null
  readonly quantity: number
  readonly tenantId: string
}

type Text<T> = { readonly [K in keyof T]: T[K] extends bigint ? string : T[K] }

const COLUMNS = sql`p.org_id as "orgId", p.instance_id as "instanceId", p.period_no as "periodNo", p.starts_at as "startsAt",
  p.ends_at as "endsAt", p.amount::text as amount, p.transfer_id as "transferId", p.owner, p.ended_at as "endedAt",
  coalesce(p.refund, 0)::text as refund, p.refund_id as "refundId", p.charged_days as "chargedDays", i.quantity, i.tenant_id as "tenantId"`

const read = (row: Text<PeriodRow>): PeriodRow => ({ ...row, amount: BigInt(row.amount), refund: BigInt(row.refund) })

export interface NewPeriod {
  readonly orgId: string
  readonly instanceId: string
  readonly periodNo: number
  readonly startsAt: Date
  readonly endsAt: Date | null
  readonly amount: string
  readonly transferId: string
  readonly owner: string
}

/** In the transaction that takes the money for it. */
export async function insertPeriod(db: Db, period: NewPeriod, at: Date): Promise<void> {
  const month = monthOf(dayOf(period.startsAt))
  if (closesAt(month) > at) await openMonths(db, period.orgId, [month], at)
  await db
    .insertInto('license_period')
    .values({
      org_id: period.orgId,
      instance_id: period.instanceId,
      period_no: period.periodNo,
      starts_at: period.startsAt,
      ends_at: period.endsAt,
      amount: period.amount,
      transfer_id: period.transferId,
      owner: period.owner,
      ended_at: null,
      refund: null,
      refund_id: null,
      next_at: period.startsAt,
    })
    .execute()
}

/** Oldest first, under their locks. */
export async function lockPeriods(db: Db, orgId: string, instanceId: string): Promise<readonly PeriodRow[]> {
  const { rows } = await sql<Text<PeriodRow>>`
    select ${COLUMNS} from license_period p join license_instance i using (org_id, instance_id)
    where p.org_id = ${orgId} and p.instance_id = ${instanceId} order by p.period_no for update of p`.execute(db)
  return rows.map(read)
}

/** The next one that a line is due of; nobody else takes it until the transaction ends. */
export async function claimPeriod(db: Db, at: Date): Promise<PeriodRow | undefined> {
  const { rows } = await sql<Text<PeriodRow>>`
    select ${COLUMNS} from license_period p join license_instance i using (org_id, instance_id)
    where p.next_at <= ${at} order by p.next_at, p.org_id, p.instance_id limit 1 for update of p skip locked`.execute(
    db,
  )
  return rows[0] && read(rows[0])
}

const one = ({ orgId, instanceId, periodNo }: PeriodRow) =>
  sql`org_id = ${orgId} and instance_id = ${instanceId} and period_no = ${periodNo}`

export async function markCharged(db: Db, row: PeriodRow, days: number, nextAt: Date | null): Promise<void> {
  await sql`update license_period set charged_days = ${days}, next_at = ${nextAt} where ${one(row)}`.execute(db)
}

/** It has ended early; what was given back for it, and by which transfer. */
export async function endPeriod(
  db: Db,
  row: PeriodRow,
  { at, refund, refundId }: { readonly at: Date; readonly refund: bigint; readonly refundId: string | null },
): Promise<void> {
  await sql`update license_period set ended_at = ${at}, refund = ${refund.toString()}, refund_id = ${refundId}
    where ${one(row)}`.execute(db)
}
