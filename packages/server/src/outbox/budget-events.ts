import { sql } from 'kysely'
import { type Ctx, type Deps, inOrg } from '../context.ts'
import type { Db } from '../db/database.ts'
import { ApiError } from '../errors.ts'
import { asSeenBy, type Reached } from '../modules/budgets/reserve.ts'
import { scopeOf } from '../modules/budgets/scope.ts'
import { emit } from './outbox.ts'

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

type Maker = Pick<Deps, 'now' | 'newId'>

/** Tells of thresholds, each once for each window. `tell_thresholds` does the same for a purchase that begins. */
export async function tellReached(maker: Maker, db: Db, orgId: string, reached: readonly Reached[]): Promise<void> {
  for (const { budgetId, ruleNo, startsAt, threshold } of reached)
    await emit(maker, db, orgId, {
      type: 'budget.threshold_reached',
      object: { type: 'budget', id: budgetId, ruleNo, startsAt, threshold },
      ...(await scopeOf(db, orgId, budgetId)),
    })
}

/**
 * Tells that a budget had no room, after the refusal: in a transaction of its own, since that of the purchase is gone. Once for each window,
 * however many are refused.
 */
export async function tellExceeded(
  deps: Pick<Deps, 'database' | 'now' | 'newId'>,
  orgId: string,
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
    await emit(deps, db, orgId, { type: 'budget.exceeded', object, ...(await scopeOf(db, orgId, id)) })
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
    await tellExceeded(ctx, ctx.principal.orgId, error).catch((cause: unknown) =>
      ctx.log.error({ err: cause }, 'an exceeded budget was not told of'),
    )
    throw asSeenBy(ctx.principal, error)
  }
}
