import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { endOf } from './rules.ts'

// Lines and their months. Lines are only ever added, and a month that is final takes none.

export type LineKind = 'recurring' | 'usage' | 'setup' | 'credit' | 'adjustment'
export type MonthState = 'open' | 'closing' | 'final'

export interface NewLine {
  readonly lineId: string
  readonly instanceId: string
  readonly date: string
  readonly kind: LineKind
  readonly quantity: number
  readonly amount: bigint
  readonly correctsDate: string | null
  readonly source: string
  readonly transferId: string
}

/** Months that lines will come in: from now on they close when those are written, and not with the clock alone. */
export async function openMonths(db: Db, orgId: string, months: readonly string[], at: Date): Promise<void> {
  const wanted = [...new Set(months)].sort()
  const ends = wanted.map((month) => endOf(month).toISOString())
  await sql`
    insert into charge_month (org_id, month, state, next_at, created_at)
    select ${orgId}, m.month, 'open', m.ends, ${at}
    from unnest(${wanted}::text[], ${ends}::timestamptz[]) as m (month, ends) order by m.month
    on conflict do nothing`.execute(db)
}

/** Keeps them from being closed until the transaction ends, and says how they are. */
export async function holdMonths(
  db: Db,
  orgId: string,
  months: readonly string[],
): Promise<ReadonlyMap<string, MonthState>> {
  const { rows } = await sql<{ month: string; state: MonthState }>`
    select month, state from charge_month where org_id = ${orgId} and month = any(${[...months]}::text[]) order by month for share`.execute(
    db,
  )
  return new Map(rows.map(({ month, state }) => [month, state]))
}

export async function knownMonths(
  db: Db,
  orgId: string,
  months: readonly string[],
): Promise<ReadonlyMap<string, MonthState>> {
  const { rows } = await sql<{ month: string; state: MonthState }>`
    select month, state from charge_month where org_id = ${orgId} and month = any(${[...months]}::text[])`.execute(db)
  return new Map(rows.map(({ month, state }) => [month, state]))
}

/** Those that are new: a line that is there already is not written again. */
export async function insertLines(db: Db, orgId: string, lines: readonly NewLine[], at: Date): Promise<string[]> {
  if (lines.length === 0) return []
  const made = await db
    .insertInto('charge_line')
    .values(
      lines.map((line) => ({
        org_id: orgId,
        line_id: line.lineId,
        month: line.date.slice(0, 7),
        date: line.date,
        instance_id: line.instanceId,
        kind: line.kind,
        quantity: line.quantity,
        amount: line.amount.toString(),
        corrects_date: line.correctsDate,
        source: line.source,
        transfer_id: line.transferId,
        created_at: at,
      })),
    )
    .onConflict((conflict) => conflict.columns(['org_id', 'instance_id', 'source']).doNothing())
    .returning('line_id')
    .execute()
  return made.map(({ line_id }) => line_id)
}

export interface MonthRow {
  readonly orgId: string
  readonly month: string
  readonly state: MonthState
  readonly version: number
}

/** The next one that something is due of; nobody else takes it until the transaction ends. */
export async function claimMonth(db: Db, at: Date): Promise<MonthRow | undefined> {
  const { rows } = await sql<MonthRow>`
    select org_id as "orgId", month, state, version from charge_month
    where next_at <= ${at} order by next_at, org_id, month limit 1 for update skip locked`.execute(db)
  return rows[0]
}

/** A day of the month whose line has not been written yet. */
export async function hasDueLines(db: Db, { orgId, month }: MonthRow): Promise<boolean> {
  const { rows } = await sql`
    select 1 from license_period where org_id = ${orgId} and next_at < ${endOf(month)} limit 1`.execute(db)
  return rows.length > 0
}

export async function moveMonth(
  db: Db,
  { orgId, month, state, version }: MonthRow,
  to: MonthState,
  { nextAt, at }: { readonly nextAt: Date | null; readonly at: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('charge_month')
    .set({ state: to, version: version + 1, next_at: nextAt, closed_at: to === 'final' ? at : null })
    .where('org_id', '=', orgId)
    .where('month', '=', month)
    .where('state', '=', state)
    .where('version', '=', version)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function postponeMonth(db: Db, { orgId, month }: MonthRow, nextAt: Date): Promise<void> {
  await sql`update charge_month set next_at = ${nextAt} where org_id = ${orgId} and month = ${month}`.execute(db)
}

export async function totalOfMonth(db: Db, orgId: string, month: string): Promise<bigint> {
  const { rows } = await sql<{ total: string }>`
    select coalesce(sum(amount), 0)::text as total from charge_line where org_id = ${orgId} and month = ${month}`.execute(
    db,
  )
  return BigInt(rows[0]?.total ?? 0)
}
