import type { Db } from '../../src/db/database.ts'
import type { Subject } from '../../src/modules/budgets/reserve.ts'

// Budgets as rows: also of subjects that no route would take, and with a past.

export interface PlantedRule {
  readonly kind: 'daily' | 'weekly' | 'monthly' | 'total' | 'rolling'
  readonly limit: bigint
  readonly timezone?: string
  readonly weekStart?: number
  readonly anchorDay?: number
  /** Of a rolling one. */
  readonly hours?: number
}

export interface PlantedBudget {
  readonly orgId: string
  readonly budgetId: string
  readonly subject: Subject
  readonly rules: readonly PlantedRule[]
  readonly thresholds?: readonly number[]
  readonly at: Date
}

export async function plantBudget(db: Db, budget: PlantedBudget): Promise<void> {
  const { orgId, budgetId, subject, rules, thresholds = [], at } = budget
  const named = { org_id: orgId, budget_id: budgetId }
  await db
    .insertInto('budget')
    .values({
      ...named,
      ...{ subject_type: subject.type, subject_id: subject.id, enforcement: 'hard', per_transaction_limit: null },
      ...{ thresholds: [...thresholds], created_by: 'test', created_at: at },
    })
    .execute()
  await db
    .insertInto('budget_rule')
    .values(rules.map((rule, rule_no) => ({ ...named, rule_no, ...columnsOf(rule), count_from: at })))
    .execute()
}

const columnsOf = ({ kind, limit, timezone = 'UTC', weekStart = 1, anchorDay = 1, hours = 24 }: PlantedRule) => ({
  kind,
  amount: limit.toString(),
  time_zone: timezone,
  week_start: kind === 'weekly' ? weekStart : null,
  anchor_day: kind === 'monthly' ? anchorDay : null,
  duration: kind === 'rolling' ? hours * 3600 : null,
  starts_at: null,
  ends_at: null,
})
