import { inOrg } from '../../src/context.ts'
import type { Kind } from './kinds.ts'

/** Of a tenant: everybody at home there or below sees it, and so do billing managers. Its name carries no canary of the tenant for that. */
const budget: Kind = {
  relations: ['own', 'other-tenant', 'other-org', 'archived'],
  make: async ({ h: { deps } }, { place, relation, label }) => {
    const [budgetId, at] = [deps.newId('bud'), deps.now()]
    const key = { org_id: place.orgId, budget_id: budgetId }
    await inOrg(deps, place.orgId, async (db) => {
      await db
        .insertInto('budget')
        .values({
          ...key,
          subject_type: 'tenant',
          subject_id: place.tenantId,
          name: relation === 'other-org' ? label : '',
          enforcement: 'notify',
          per_transaction_limit: null,
          thresholds: [],
          status: relation === 'archived' ? 'archived' : 'active',
          created_by: 'test',
          created_at: at,
        })
        .execute()
      const none = { week_start: null, anchor_day: null, duration: null, starts_at: null, ends_at: null }
      await db
        .insertInto('budget_rule')
        .values({ ...key, rule_no: 0, kind: 'daily', amount: '1', count_from: at, ...none })
        .execute()
    })
    return budgetId
  },
  absent: ({ h }) => h.deps.newId('bud'),
}

export const MONEY_KINDS = { budget } as const satisfies Record<string, Kind>
