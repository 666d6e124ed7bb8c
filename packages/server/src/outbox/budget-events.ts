import { sql } from 'kysely'
import { type Deps, inOrg } from '../context.ts'
import { ApiError } from '../errors.ts'
import { emit } from './outbox.ts'

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Tells that a budget had no room, after the refusal: in a transaction of its own, since that of the purchase is gone. Once for each window,
 * however many are refused.
 */
export async function tellExceeded(
  deps: Pick<Deps, 'database' | 'now' | 'newId'>,
  orgId: string,
  tenantId: string | null,
  error: unknown,
): Promise<void> {
  if (!(error instanceof ApiError) || error.code !== 'budget_exceeded') return
  const { budgetId, ruleNo, startsAt } = error.details ?? {}
  const id = text(budgetId)
  if (id === '') return
  await inOrg(deps, orgId, async (db) => {
    const window = `${id} ${String(ruleNo ?? '')} ${text(startsAt)}`
    const { rows } = await sql`
      insert into outbox_sequence (org_id, object_type, object_id, sequence) values (${orgId}, 'budget_exceeded', ${window}, 1)
      on conflict do nothing returning 1`.execute(db)
    if (rows.length === 0) return
    const object = { type: 'budget', id, ...(typeof startsAt === 'string' && { startsAt }) }
    await emit(deps, db, orgId, { type: 'budget.exceeded', object, tenantId })
  })
}
