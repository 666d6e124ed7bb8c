import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'
import type { Subject } from './reserve.ts'
import type { RuleRow } from './rules.ts'

export interface WindowRow {
  readonly ruleNo: number
  readonly kind: RuleRow['kind']
  readonly timezone: string
  readonly startsAt: string
  readonly endsAt: string | null
  readonly limit: string
  readonly reserved: string
  readonly spent: string
  readonly thresholdsReached: number[]
}

export interface BudgetRow {
  readonly budgetId: string
  readonly subjectType: Subject['type']
  readonly subjectId: string
  readonly name: string
  readonly enforcement: 'hard' | 'notify'
  readonly perTransactionLimit: string | null
  readonly thresholds: number[]
  readonly status: 'active' | 'archived'
  readonly version: number
  readonly createdBy: string
  readonly createdAt: Date
  readonly activeWindows: WindowRow[]
}

/** What a caller sees: what applies to them, and what they manage. */
export interface Sight {
  readonly orgId: string
  /** `agent <id>` and the like. */
  readonly own: readonly string[]
  /** Everything of the organisation. */
  readonly managesOrg: boolean
  readonly managedTenants: readonly string[]
}

const windowsOf = (at: Date) => sql<WindowRow[]>`coalesce((
  select json_agg(json_build_object(
    'ruleNo', r.rule_no, 'kind', r.kind, 'timezone', r.time_zone, 'limit', r.amount::text,
    'startsAt', case when r.kind = 'rolling' then ${at}::timestamptz - make_interval(secs => r.duration) else n.starts_at end,
    'endsAt', case when r.kind = 'rolling' then null else n.ends_at end,
    'reserved', case when r.kind = 'rolling' then roll.reserved else coalesce(w.reserved, 0) end::text,
    'spent', case when r.kind = 'rolling' then roll.spent else coalesce(w.spent, 0) end::text,
    'thresholdsReached', array(
      select t.threshold from budget_threshold t
      where t.org_id = r.org_id and t.budget_id = r.budget_id and t.rule_no = r.rule_no and t.starts_at = n.starts_at
      order by t.threshold)) order by r.rule_no)
  from budget_rule r
  cross join lateral budget_window_at(r, ${at}) n
  left join budget_window w
    on w.org_id = r.org_id and w.budget_id = r.budget_id and w.rule_no = r.rule_no and w.starts_at = n.starts_at
  left join lateral (
    select coalesce(sum(h.amount) filter (where v.state = 'held'), 0) as reserved,
      coalesce(sum(h.amount) filter (where v.state <> 'held'), 0) as spent
    from budget_hold h join budget_reservation v using (org_id, owner)
    where r.kind = 'rolling' and h.org_id = r.org_id and h.budget_id = r.budget_id and h.rule_no = r.rule_no
      and h.held_at > ${at}::timestamptz - make_interval(secs => r.duration)) roll on true
  where r.org_id = b.org_id and r.budget_id = b.budget_id and r.is_active
    and (r.starts_at is null or r.starts_at <= ${at}) and (r.ends_at is null or r.ends_at > ${at})), '[]')`

const isManaged = ({ managedTenants }: Sight) => sql<boolean>`(
  (b.subject_type = 'tenant' and b.subject_id = any(${[...managedTenants]}::text[]))
  or (b.subject_type = 'agent' and exists (
    select 1 from agent a where a.org_id = b.org_id and a.agent_id = b.subject_id
      and a.tenant_id = any(${[...managedTenants]}::text[])))
  or (b.subject_type = 'user' and exists (
    select 1 from tenant_role r where r.org_id = b.org_id and r.user_id = b.subject_id
      and r.tenant_id = any(${[...managedTenants]}::text[]))))`

const inSight = (db: Db, sight: Sight, at: Date) =>
  db
    .selectFrom('budget as b')
    .select([
      'b.budget_id as budgetId',
      sql<Subject['type']>`b.subject_type`.as('subjectType'),
      'b.subject_id as subjectId',
      'b.name',
      sql<'hard' | 'notify'>`b.enforcement`.as('enforcement'),
      'b.per_transaction_limit as perTransactionLimit',
      'b.thresholds',
      sql<'active' | 'archived'>`b.status`.as('status'),
      'b.version',
      'b.created_by as createdBy',
      'b.created_at as createdAt',
      windowsOf(at).as('activeWindows'),
    ])
    .where('b.org_id', '=', sight.orgId)
    .where(
      sql<boolean>`(${sight.managesOrg}::boolean or b.subject_type || ' ' || b.subject_id = any(${[...sight.own]}::text[]) or ${isManaged(sight)})`,
    )

export const list = (db: Db, sight: Sight, page: PageQuery, at: Date): Promise<Listed<BudgetRow>> => {
  const select: Expression<BudgetRow> = inSight(db, sight, at)
  return listRows(db, select, { time: 'createdAt', id: 'budgetId' }, page)
}

export const budget = (db: Db, sight: Sight, id: string, at: Date): Promise<BudgetRow | undefined> =>
  inSight(db, sight, at).where('b.budget_id', '=', id).executeTakeFirst()

/** Until the transaction ends nobody reserves in it and nobody else changes it. */
export const lockBudget = (db: Db, orgId: string, id: string): Promise<{ version: number } | undefined> =>
  db
    .selectFrom('budget')
    .select('version')
    .where('org_id', '=', orgId)
    .where('budget_id', '=', id)
    .forUpdate()
    .executeTakeFirst()

/** The tenants that whoever manages one of them manages this subject in. Undefined if there is no such subject. */
export async function tenantsOfSubject(
  db: Db,
  orgId: string,
  { type, id }: Subject,
): Promise<readonly string[] | undefined> {
  if (type === 'org') return id === orgId ? [] : undefined
  const { rows } = await {
    tenant: sql<{
      id: string
    }>`select tenant_id as id from tenant where org_id = ${orgId} and tenant_id = ${id} and status = 'active'`,
    agent: sql<{
      id: string
    }>`select tenant_id as id from agent where org_id = ${orgId} and agent_id = ${id} and status = 'active'`,
    user: sql<{ id: string }>`
      select coalesce(r.tenant_id, '') as id from org_user u
      left join tenant_role r on r.org_id = u.org_id and r.user_id = u.user_id
      where u.org_id = ${orgId} and u.user_id = ${id} and u.status = 'active'`,
  }[type].execute(db)
  return rows.length === 0 ? undefined : rows.map((row) => row.id).filter((tenant) => tenant !== '')
}

export interface BudgetValues {
  readonly name: string
  readonly enforcement: 'hard' | 'notify'
  readonly perTransactionLimit: string | null
  readonly thresholds: readonly number[]
  readonly status: 'active' | 'archived'
}

const columnsOf = ({ name, enforcement, perTransactionLimit, thresholds, status }: BudgetValues) => ({
  name,
  enforcement,
  per_transaction_limit: perTransactionLimit,
  thresholds: [...thresholds],
  status,
})

export async function insertBudget(
  db: Db,
  orgId: string,
  made: { readonly budgetId: string; readonly subject: Subject; readonly createdBy: string; readonly at: Date },
  values: BudgetValues,
): Promise<void> {
  const { budgetId, subject, createdBy, at } = made
  await db
    .insertInto('budget')
    .values({
      org_id: orgId,
      budget_id: budgetId,
      subject_type: subject.type,
      subject_id: subject.id,
      created_by: createdBy,
      created_at: at,
      ...columnsOf(values),
    })
    .execute()
}

export async function changeBudget(db: Db, orgId: string, id: string, values: BudgetValues): Promise<void> {
  await db
    .updateTable('budget')
    .set((eb) => ({ ...columnsOf(values), version: eb('version', '+', 1) }))
    .where('org_id', '=', orgId)
    .where('budget_id', '=', id)
    .execute()
}

/** The first rule whose time zone the database does not have. */
export async function unknownZone(db: Db, rules: readonly RuleRow[]): Promise<number | undefined> {
  const { rows } = await sql<{ window: number }>`
    select (n - 1)::integer as window from unnest(${rules.map(({ timeZone }) => timeZone)}::text[]) with ordinality as z (name, n)
    where not is_time_zone(name) order by n limit 1`.execute(db)
  return rows[0]?.window
}

export type KeptRule = RuleRow & { readonly ruleNo: number }

export const rulesOf = (db: Db, orgId: string, budgetId: string): Promise<KeptRule[]> =>
  db
    .selectFrom('budget_rule')
    .select([
      'rule_no as ruleNo',
      sql<RuleRow['kind']>`kind`.as('kind'),
      'amount',
      'time_zone as timeZone',
      'week_start as weekStart',
      'anchor_day as anchorDay',
      'duration',
      'starts_at as startsAt',
      'ends_at as endsAt',
    ])
    .where('org_id', '=', orgId)
    .where('budget_id', '=', budgetId)
    .orderBy('rule_no')
    .execute()

export async function putRule(db: Db, orgId: string, budgetId: string, rule: KeptRule, countFrom: Date): Promise<void> {
  const { ruleNo, kind, amount, timeZone, weekStart, anchorDay, duration, startsAt, endsAt } = rule
  await db
    .insertInto('budget_rule')
    .values({
      org_id: orgId,
      budget_id: budgetId,
      rule_no: ruleNo,
      kind,
      amount,
      time_zone: timeZone,
      week_start: weekStart,
      anchor_day: anchorDay,
      duration,
      starts_at: startsAt,
      ends_at: endsAt,
      count_from: countFrom,
    })
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'budget_id', 'rule_no']).doUpdateSet({ amount, is_active: true }),
    )
    .execute()
}

export async function endRules(db: Db, orgId: string, budgetId: string, but: readonly number[]): Promise<void> {
  await sql`
    update budget_rule set is_active = false
    where org_id = ${orgId} and budget_id = ${budgetId} and rule_no <> all(${[...but]}::integer[])`.execute(db)
}

/** Counts what the subject has spent already in the window that is open now. */
export async function countEarlier(db: Db, orgId: string, budgetId: string, subject: string, at: Date): Promise<void> {
  await sql`select budget_count_earlier(${orgId}, ${budgetId}, ${subject}, ${at})`.execute(db)
}
