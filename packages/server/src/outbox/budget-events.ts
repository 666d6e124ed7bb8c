import { sql } from 'kysely'
import { type Ctx, type Deps, inOrg } from '../context.ts'
import { ApiError } from '../errors.ts'
import { asSeenBy } from '../modules/budgets/reserve.ts'
import { emit } from './outbox.ts'

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Who spends: its tenant hears of it, or only itself where it has none. */
type Spender = Pick<Ctx['principal'], 'orgId' | 'tenantId' | 'id'>

/**
 * Tells that a budget had no room, after the refusal: in a transaction of its own, since that of the purchase is gone. Once for each window,
 * however many are refused.
 */
export async function tellExceeded(
  deps: Pick<Deps, 'database' | 'now' | 'newId'>,
  { orgId, tenantId, id: principal }: Spender,
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
    const scope = tenantId === null ? { principal } : { tenantId }
    await emit(deps, db, orgId, { type: 'budget.exceeded', object, ...scope })
  })
}

/**
 * Runs what spends, and tells of a budget that had no room for it. What cannot be told is logged, and the refusal stands: as the caller may
 * see it.
 */
export async function tellingExceeded<T>(ctx: Ctx, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await tellExceeded(ctx, ctx.principal, error).catch((cause: unknown) =>
      ctx.log.error({ err: cause }, 'an exceeded budget was not told of'),
    )
    throw asSeenBy(ctx.principal, error)
  }
}
