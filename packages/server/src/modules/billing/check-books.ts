import { sql } from 'kysely'
import { recordSystem } from '../../audit/record.ts'
import { type Deps, inOrg } from '../../context.ts'
import type { Database, Db } from '../../db/database.ts'
import { budgetDifferences } from '../budgets/reserve.ts'

// Every book is added up anew from its transfers each day, and every window of a budget from what counts in it. They are the same on every day;
// on the day they are not, the operator hears of it before an auditor does. Nothing is corrected here: a human has to find out why.

const DAY_MS = 86_400_000
/** A part of a book; a few milliseconds of the database. */
const PART = 5000

async function dueBook({ kysely }: Database, at: Date): Promise<string | undefined> {
  const { rows } = await sql<{ orgId: string }>`
    select org_id as "orgId" from ledger_check where next_at <= ${at} order by next_at limit 1`.execute(kysely)
  return rows[0]?.orgId
}

/** Books that came since; the first look at each is soon. */
async function enterNewBooks({ kysely }: Database, at: Date): Promise<void> {
  await sql`
    insert into ledger_check (org_id, next_at)
    select a.org_id, ${at} from ledger_account a
    where a.account = 'credit' and not exists (select 1 from ledger_check c where c.org_id = a.org_id)
    on conflict do nothing`.execute(kysely)
}

/** Nobody else is at it. */
async function takeBook(db: Db, orgId: string, at: Date): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ledger_check where org_id = ${orgId} and next_at <= ${at} for update skip locked`.execute(db)
  return rows.length > 0
}

async function report(deps: Deps, db: Db, orgId: string, differing: readonly string[]): Promise<void> {
  deps.log.error({ event: 'books_differ', orgId, differing })
  const targets = [{ type: 'org', id: orgId }]
  await recordSystem(deps, db, orgId, 'billing', { action: 'billing.books.differ', targets, metadata: { differing } })
}

/** A part of one book, in one snapshot; what follows from it at its end. */
async function checkPart(deps: Deps, db: Db, orgId: string, part: number): Promise<void> {
  const at = deps.now()
  if (!(await takeBook(db, orgId, at))) return
  const { rows } = await sql<{ differing: string[] | null }>`
    select ledger_fold_on(${orgId}, ${part}) as differing`.execute(db)
  const accounts = rows[0]?.differing
  if (!accounts) return
  const differing = [
    ...accounts.map((account) => `account ${account}`),
    ...(await budgetDifferences(db, orgId)).map((id) => `budget ${id}`),
  ]
  await sql`
    update ledger_check set checked_at = ${at}, next_at = ${new Date(at.getTime() + DAY_MS)}, differing = ${differing}::text[]
    where org_id = ${orgId}`.execute(db)
  if (differing.length > 0) await report(deps, db, orgId, differing)
}

/** A part of the book that has waited longest; false if none is due. */
export async function takeBookTurn(deps: Deps, worker: Database, part = PART): Promise<boolean> {
  const at = deps.now()
  await enterNewBooks(worker, at)
  const orgId = await dueBook(worker, at)
  if (orgId === undefined) return false
  await inOrg({ database: worker }, orgId, (db) => checkPart(deps, db, orgId, part), true)
  return true
}
