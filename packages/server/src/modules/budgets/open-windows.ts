import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import { type Deps, inOrg } from '../../context.ts'
import type { Database, Db } from '../../db/database.ts'
import { emit } from '../../outbox/outbox.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import type { Subject } from './reserve.ts'
import { scopeOf } from './scope.ts'

// A window opens with the first money that is spent in it, or with the clock if nobody spends any: whoever waits for room in a budget is told
// when there is some again. One window is one transaction, since those who buy take several of them in an order of their own.

const BATCH = 200

interface WindowName {
  readonly orgId: string
  readonly budgetId: string
  readonly ruleNo: number
  readonly startsAt: Date
}

interface NewWindow extends WindowName {
  readonly endsAt: Date | null
}

/** Windows that have begun and that nobody has needed. One that rolls never begins. */
async function begun({ kysely }: Database, at: Date): Promise<readonly NewWindow[]> {
  const { rows } = await sql<NewWindow>`
    select r.org_id as "orgId", r.budget_id as "budgetId", r.rule_no as "ruleNo", n.starts_at as "startsAt", n.ends_at as "endsAt"
    from budget_rule r
    join budget b on b.org_id = r.org_id and b.budget_id = r.budget_id and b.status = 'active'
    cross join lateral budget_window_at(r, ${at}) n
    where r.is_active and r.kind <> 'rolling' and n.starts_at <= ${at}
      and (r.starts_at is null or r.starts_at <= ${at}) and (r.ends_at is null or r.ends_at > ${at})
      and not exists (
        select 1 from budget_window w where w.org_id = r.org_id and w.budget_id = r.budget_id and w.rule_no = r.rule_no
          and w.starts_at <= ${at} and (w.ends_at is null or w.ends_at > ${at}))
    limit ${BATCH}`.execute(kysely)
  return rows
}

async function untold({ kysely }: Database): Promise<readonly WindowName[]> {
  const { rows } = await sql<WindowName>`
    select org_id as "orgId", budget_id as "budgetId", rule_no as "ruleNo", starts_at as "startsAt"
    from budget_window where not is_told limit ${BATCH}`.execute(kysely)
  return rows
}

interface Opened {
  readonly kind: string
  readonly limit: string
  readonly endsAt: Date | null
  readonly subjectType: Subject['type']
  readonly subjectId: string
}

/** Undefined if somebody else tells of it, or spends in it at this moment: then at the next turn. */
async function takeUntold(db: Db, { orgId, budgetId, ruleNo, startsAt }: WindowName): Promise<Opened | undefined> {
  const { rows } = await sql<Opened>`
    with taken as (
      select w.* from budget_window w
      where w.org_id = ${orgId} and w.budget_id = ${budgetId} and w.rule_no = ${ruleNo} and w.starts_at = ${startsAt} and not w.is_told
      for update skip locked
    ), told as (
      update budget_window w set is_told = true from taken t
      where w.org_id = t.org_id and w.budget_id = t.budget_id and w.rule_no = t.rule_no and w.starts_at = t.starts_at
      returning w.ends_at)
    select r.kind, r.amount::text as limit, t.ends_at as "endsAt", b.subject_type as "subjectType", b.subject_id as "subjectId"
    from told t
    join budget_rule r on r.org_id = ${orgId} and r.budget_id = ${budgetId} and r.rule_no = ${ruleNo}
    join budget b on b.org_id = r.org_id and b.budget_id = r.budget_id`.execute(db)
  return rows[0]
}

const tell = (deps: Deps, worker: Database, window: WindowName): Promise<void> =>
  inOrg({ database: worker }, window.orgId, async (db) => {
    const opened = await takeUntold(db, window)
    // One that rolls is always open.
    if (!opened || opened.kind === 'rolling') return
    const { orgId, budgetId: id, ruleNo, startsAt } = window
    const { kind, limit, endsAt, subjectType, subjectId } = opened
    await emit(deps, db, orgId, {
      type: 'budget.window_opened',
      object: {
        ...{ type: 'budget', id, ruleNo, kind, limit: money(limit), subjectType, subjectId },
        ...{ startsAt: startsAt.toISOString(), endsAt: endsAt?.toISOString() ?? null },
      },
      ...(await scopeOf(db, orgId, id)),
    })
  })

/** Opens what has begun, and tells of everything that has opened. */
export async function openWindows(deps: Deps, worker: Database): Promise<void> {
  for (const { orgId, budgetId, ruleNo, startsAt, endsAt } of await begun(worker, deps.now()))
    await sql`
      insert into budget_window (org_id, budget_id, rule_no, starts_at, ends_at)
      values (${orgId}, ${budgetId}, ${ruleNo}, ${startsAt}, ${endsAt}) on conflict do nothing`.execute(worker.kysely)
  for (const window of await untold(worker)) await tell(deps, worker, window)
}

const TURN_MS = 10_000

export const startBudgetWork = (deps: Deps, worker: Database): Repeating =>
  repeat(
    TURN_MS,
    () => openWindows(deps, worker),
    (error) => deps.log.warn({ event: 'budget_work_failed', code: (error as { code?: string }).code }),
  )
