import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { Reached } from './reserve.ts'

// What was spent before anybody could refuse it. It counts like everything else, in every window that applies, and is refused by none: what is left
// of a budget is true then, and whoever asks next is refused.

export interface Spending {
  /** Counted once, however often it is said. */
  readonly owner: string
  readonly amount: bigint
  /** `agent <id>` and the like. */
  readonly subjects: readonly string[]
}

interface Applying {
  readonly budgetId: string
  readonly ruleNo: number
  /** As the database writes them: nothing of a second is lost on the way. */
  readonly startsAt: string
  readonly endsAt: string | null
}

/** In the order in which everybody takes windows. */
async function applyingTo(db: Db, orgId: string, subjects: readonly string[], at: Date): Promise<readonly Applying[]> {
  const { rows } = await sql<Applying>`
    select b.budget_id as "budgetId", r.rule_no as "ruleNo", n.starts_at::text as "startsAt", n.ends_at::text as "endsAt"
    from budget b join budget_rule r on r.org_id = b.org_id and r.budget_id = b.budget_id and r.is_active
    cross join lateral budget_window_at(r, ${at}) n
    where b.org_id = ${orgId} and b.status = 'active' and b.subject_type || ' ' || b.subject_id = any(${[...subjects]}::text[])
      and (r.starts_at is null or r.starts_at <= ${at}) and (r.ends_at is null or r.ends_at > ${at})
    order by b.budget_id, r.rule_no for share of b`.execute(db)
  return rows
}

async function countIn(
  db: Db,
  orgId: string,
  { owner, amount }: Spending,
  { budgetId, ruleNo, startsAt, endsAt }: Applying,
  at: Date,
): Promise<readonly Reached[]> {
  await sql`
    insert into budget_window (org_id, budget_id, rule_no, starts_at, ends_at)
    values (${orgId}, ${budgetId}, ${ruleNo}, ${startsAt}::timestamptz, ${endsAt}::timestamptz) on conflict do nothing`.execute(
    db,
  )
  const { rows } = await sql<Reached>`
    with counted as (
      update budget_window set spent = spent + ${amount.toString()}::numeric
      where org_id = ${orgId} and budget_id = ${budgetId} and rule_no = ${ruleNo} and starts_at = ${startsAt}::timestamptz
      returning starts_at, reserved + spent as used
    ), held as (
      insert into budget_hold (org_id, owner, budget_id, rule_no, starts_at, held_at, amount)
      select ${orgId}, ${owner}, ${budgetId}, ${ruleNo}, starts_at, ${at}::timestamptz, ${amount.toString()}::numeric from counted
    ), told as (
      insert into budget_threshold (org_id, budget_id, rule_no, starts_at, threshold, reached_at)
      select ${orgId}, ${budgetId}, ${ruleNo}, c.starts_at, t, ${at}::timestamptz
      from counted c, budget_rule r, budget b, unnest(b.thresholds) t
      where r.org_id = ${orgId} and r.budget_id = ${budgetId} and r.rule_no = ${ruleNo} and b.org_id = r.org_id
        and b.budget_id = r.budget_id and c.used * 100 >= r.amount * t and r.amount > 0 and r.kind <> 'rolling'
      on conflict do nothing returning budget_id, rule_no, starts_at, threshold)
    select budget_id as "budgetId", rule_no as "ruleNo", to_jsonb(starts_at) #>> '{}' as "startsAt", threshold
    from told order by threshold`.execute(db)
  return rows
}

/** Counts what was spent, and gives the thresholds that were reached by that. Before any other lock, as a reservation. */
export async function countSpent(db: Db, orgId: string, spending: Spending, at: Date): Promise<readonly Reached[]> {
  const { owner, amount, subjects } = spending
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${`budgets ${orgId}`}, 0))`.execute(db)
  const { rows } = await sql`
    insert into budget_reservation (org_id, owner, amount, committed, subjects, state, held_at, ended_at)
    values (${orgId}, ${owner}, ${amount.toString()}, ${amount.toString()}, ${[...subjects]}::text[], 'committed', ${at}, ${at})
    on conflict do nothing returning 1`.execute(db)
  if (rows.length === 0) return []
  const reached: Reached[] = []
  for (const window of await applyingTo(db, orgId, subjects, at))
    reached.push(...(await countIn(db, orgId, spending, window, at)))
  return reached
}
