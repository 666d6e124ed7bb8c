import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'

export interface CreditRow {
  readonly id: string
  readonly seq: number
  readonly code: string
  readonly phase: 'single' | 'pending' | 'post' | 'void'
  readonly isDebit: boolean
  readonly amount: string
  readonly postedAfter: string
  readonly availableAfter: string
  readonly refType: string
  readonly refId: string
  readonly occurredAt: Date
}

/** Of the credit, in no order. */
export const movements = (db: Db, orgId: string) =>
  db
    .selectFrom('ledger_transfer as t')
    .select([
      't.transfer_id as id',
      't.seq',
      't.code',
      sql<CreditRow['phase']>`t.phase`.as('phase'),
      sql<boolean>`t.dr = 'credit'`.as('isDebit'),
      't.amount',
      't.posted_after as postedAfter',
      't.available_after as availableAfter',
      't.ref_type as refType',
      't.ref_id as refId',
      't.created_at as occurredAt',
    ])
    .where('t.org_id', '=', orgId)
    .where((eb) => eb.or([eb('t.dr', '=', 'credit'), eb('t.cr', '=', 'credit')]))

const DEFAULT_LIMIT = 25

/** A page is a range of numbers, so that it costs the same however many there are and wherever it lies. One statement: one snapshot. */
async function creditPage(db: Db, orgId: string, page: number, limit: number): Promise<Listed<CreditRow>> {
  const { rows } = await sql<{ total: number; id: string | null }>`
    select * from credit_page(${orgId}, ${page}, ${limit})`.execute(db)
  const total = rows[0]?.total ?? 0
  const onPage = rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row as unknown as CreditRow]))
  return { rows: onPage, meta: { total, page, limit, totalPages: Math.ceil(total / limit) } }
}

export const creditTransactions = (db: Db, orgId: string, query: PageQuery): Promise<Listed<CreditRow>> => {
  const { page, limit = DEFAULT_LIMIT } = query
  if (page !== undefined) return creditPage(db, orgId, page, limit)
  const select: Expression<CreditRow> = movements(db, orgId)
  return listRows(db, select, { time: 'seq', id: 'id' }, query)
}
