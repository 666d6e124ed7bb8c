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
  /** Of the hold that ended with this, if one did. */
  readonly held: string | null
  readonly postedAfter: string
  readonly availableAfter: string
  readonly refType: string
  readonly refId: string
  readonly occurredAt: Date
}

const movements = (db: Db, orgId: string) =>
  db
    .selectFrom('ledger_transfer as t')
    .leftJoin('ledger_transfer as h', (join) =>
      join.onRef('h.org_id', '=', 't.org_id').onRef('h.transfer_id', '=', 't.pending_id'),
    )
    .select([
      't.transfer_id as id',
      't.seq',
      't.code',
      sql<CreditRow['phase']>`t.phase`.as('phase'),
      sql<boolean>`t.dr = 'credit'`.as('isDebit'),
      't.amount',
      'h.amount as held',
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
  const inRange = movements(db, orgId)
    .where(sql<boolean>`t.credit_no > head.total - ${page * limit}`)
    .where(sql<boolean>`t.credit_no <= head.total - ${(page - 1) * limit}`)
    // The numbers say so already; without it the planner expects a third of all rows and reads all of them.
    .orderBy('t.credit_no', 'desc')
    .limit(limit)
  const { rows } = await sql<{ total: number; id: string | null }>`
    select head.total, listed.*
    from (select coalesce(max(credit_no), 0) as total from ledger_transfer where org_id = ${orgId}) as head
    left join lateral ${inRange} as listed on true
    order by listed.seq desc`.execute(db)
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
