import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import { recordSystem } from '../../audit/record.ts'
import type { Deps } from '../../context.ts'
import type { Database, Db } from '../../db/database.ts'
import { emit } from '../../outbox/outbox.ts'
import { insertTransition } from '../licenses/transition-store.ts'
import { claimPeriod } from './period-store.ts'
import { closesAt } from './rules.ts'
import { claimMonth, hasDueLines, type MonthRow, moveMonth, postponeMonth, totalOfMonth } from './store.ts'
import { chargePeriod } from './write.ts'

// Lines and months by themselves. A turn is one transaction: whoever dies in the middle has done nothing, and two that work at once take
// different rows.

/** Claims and works in one transaction, in the organisation of what was claimed. False if nothing is due. */
const taking = <Row extends { readonly orgId: string }>(
  worker: Database,
  claim: (db: Db) => Promise<Row | undefined>,
  work: (db: Db, row: Row) => Promise<void>,
): Promise<boolean> =>
  worker.kysely.transaction().execute(async (db) => {
    const row = await claim(db)
    if (!row) return false
    await sql`select set_config('app.org', ${row.orgId}, true)`.execute(db)
    await work(db, row)
    return true
  })

/** Lines of one period. */
export const takeLineTurn = (deps: Deps, worker: Database): Promise<boolean> =>
  taking(
    worker,
    (db) => claimPeriod(db, deps.now()),
    (db, period) => chargePeriod(deps, db, period),
  )

const WAIT_MS = 60_000

const step = (db: Db, { orgId, month, state, version }: MonthRow, to: string, at: Date): Promise<void> =>
  insertTransition(db, orgId, `month:${month}`, {
    seq: version + 1,
    ...{ from: state, to, cause: 'clock', actor: 'strongroom', at },
  })

/** From here on it is what it is: told, written into the audit log, and kept from changing by the database. */
async function close(deps: Deps, db: Db, row: MonthRow): Promise<void> {
  const { orgId, month } = row
  const at = deps.now()
  // What should have been written by now is written first.
  if (await hasDueLines(db, row)) return postponeMonth(db, row, new Date(at.getTime() + WAIT_MS))
  if (!(await moveMonth(db, row, 'final', { nextAt: null, at }))) return
  await step(db, row, 'final', at)
  const total = (await totalOfMonth(db, orgId, month)).toString()
  await emit(deps, db, orgId, {
    type: 'billing.month.closed',
    object: { type: 'charge_month', id: month, status: 'final', total: money(total) },
    self: `/api/v1/machine/billing/distributor-charges?month=${month}`,
  })
  const targets = [{ type: 'charge_month', id: month }]
  await recordSystem(deps, db, orgId, 'charges', { action: 'billing.month.close', targets, metadata: { total } })
}

async function endMonth(deps: Deps, db: Db, row: MonthRow): Promise<void> {
  if (row.state === 'closing') return close(deps, db, row)
  const at = deps.now()
  if (await moveMonth(db, row, 'closing', { nextAt: closesAt(row.month), at })) await step(db, row, 'closing', at)
}

/** One month that has ended, or whose last day for late lines has passed. */
export const takeMonthTurn = (deps: Deps, worker: Database): Promise<boolean> =>
  taking(
    worker,
    (db) => claimMonth(db, deps.now()),
    (db, row) => endMonth(deps, db, row),
  )
