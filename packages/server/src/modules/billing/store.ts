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

export const creditTransactions = (db: Db, orgId: string, page: PageQuery): Promise<Listed<CreditRow>> => {
  const select: Expression<CreditRow> = movements(db, orgId)
  return listRows(db, select, { time: 'seq', id: 'id' }, page)
}
