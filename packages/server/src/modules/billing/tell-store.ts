import { sql } from 'kysely'
import type { Database, Db } from '../../db/database.ts'
import { type CreditRow, movements } from './store.ts'

/** Organisations whose credit has moved since others were told of it. */
export async function untoldOrgs({ kysely }: Database, most: number): Promise<readonly string[]> {
  const { rows } = await sql<{ orgId: string }>`
    select a.org_id as "orgId" from ledger_account a
    left join credit_told c on c.org_id = a.org_id
    cross join lateral (
      select t.credit_no from ledger_transfer t where t.org_id = a.org_id and t.credit_no is not null
      order by t.credit_no desc limit 1) last
    where a.account = 'credit' and last.credit_no > coalesce(c.told_no, 0)
    limit ${most}`.execute(kysely)
  return rows.map(({ orgId }) => orgId)
}

/** Who holds it is the only one to tell of this credit. Undefined if that is somebody else now. */
export async function takeTold(db: Db, orgId: string): Promise<number | undefined> {
  await sql`insert into credit_told (org_id, told_no) values (${orgId}, 0) on conflict do nothing`.execute(db)
  const { rows } = await sql<{ told: number }>`
    select told_no as told from credit_told where org_id = ${orgId} for update skip locked`.execute(db)
  return rows[0]?.told
}

export async function moveTold(db: Db, orgId: string, told: number): Promise<void> {
  await sql`update credit_told set told_no = ${told} where org_id = ${orgId}`.execute(db)
}

export interface NumberedCredit extends CreditRow {
  readonly no: number
}

/** From this number on, in order. */
export const movementsFrom = (db: Db, orgId: string, no: number, most: number): Promise<NumberedCredit[]> =>
  movements(db, orgId)
    .select(sql<number>`t.credit_no`.as('no'))
    .where('t.credit_no', '>=', no)
    .orderBy('t.credit_no')
    .limit(most)
    .execute()
