import { type Budget, type BudgetRule, type budgets, money } from '@strongroom/contract'
import { managesMoney, tenantsRunBy } from '../../access/roles.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { emit } from '../../outbox/outbox.ts'
import { type Subject, subjectsOf, subjectText, windowIdOf } from './reserve.ts'
import { type RuleRow, readRules, ruleKey, zoneRefused } from './rules.ts'
import { scopeOf } from './scope.ts'
import * as store from './store.ts'

// Who sees and who sets budgets. Everybody sees what applies to them; billing managers of the organisation set all, budget managers
// of a tenant those of the tenant, its agents and its people.

/** Tenants that are run by somebody, and those whose budgets they manage. */
const managedTenants = ({ principal }: TxCtx): readonly string[] => [
  ...(tenantsRunBy(principal) ?? []),
  ...principal.tenantRoles.filter(({ role }) => role === 'TENANT_BUDGET_MANAGER').map(({ tenantId }) => tenantId),
]

async function sightOf(ctx: TxCtx): Promise<store.Sight> {
  return {
    orgId: ctx.principal.orgId,
    own: (await subjectsOf(ctx)).map(subjectText),
    managesOrg: managesMoney(ctx.principal),
    managedTenants: managedTenants(ctx),
  }
}

/** Refuses whoever may not set the budgets of this subject. What they cannot see either does not exist for them. */
async function ensureManages(ctx: TxCtx, subject: Subject): Promise<void> {
  const tenants = await store.tenantsOfSubject(ctx.db, ctx.principal.orgId, subject)
  const isManaged = tenants?.some((tenant) => managedTenants(ctx).includes(tenant)) ?? false
  if (tenants && (managesMoney(ctx.principal) || isManaged)) return
  const isOwn = (await subjectsOf(ctx)).some((own) => subjectText(own) === subjectText(subject))
  if (!isOwn) throw new ApiError('budget_subject_not_found')
  throw new ApiError('role_required', {
    details: { role: subject.type === 'org' ? 'ORG_BILLING_MANAGER' : 'TENANT_BUDGET_MANAGER' },
  })
}

const left = ({ limit, reserved, spent }: store.WindowRow): bigint => {
  const rest = BigInt(limit) - BigInt(reserved) - BigInt(spent)
  return rest > 0n ? rest : 0n
}

const iso = (time: string): string => new Date(time).toISOString()

const showWindow = (budgetId: string, window: store.WindowRow): Budget['activeWindows'][number] => {
  const { ruleNo, kind, timezone, thresholdsReached } = window
  const startsAt = iso(window.startsAt)
  const endsAt = window.endsAt === null ? null : iso(window.endsAt)
  return {
    windowId: windowIdOf({ budgetId, ruleNo, kind, startsAt }),
    kind,
    timezone,
    startsAt,
    endsAt,
    limit: money(window.limit),
    reserved: money(window.reserved),
    spent: money(window.spent),
    remaining: money(left(window)),
    resetsAt: kind === 'total' ? null : endsAt,
    thresholdsReached,
  }
}

const show = ({ perTransactionLimit, createdAt, activeWindows, ...budget }: store.BudgetRow): Budget => ({
  ...budget,
  perTransactionLimit: perTransactionLimit === null ? null : money(perTransactionLimit),
  createdAt: createdAt.toISOString(),
  activeWindows: activeWindows.map((window) => showWindow(budget.budgetId, window)),
})

const openBudget = async (ctx: TxCtx, id: string): Promise<store.BudgetRow> =>
  found(await store.budget(ctx.db, await sightOf(ctx), id, ctx.now()), 'budget_not_found')

/** Written down, and told to those whom it binds and who manage it. */
async function recordChange(ctx: TxCtx, action: 'created' | 'updated', budget: store.BudgetRow): Promise<void> {
  const { budgetId, subjectType, subjectId, enforcement, status, activeWindows } = budget
  const limits = activeWindows.map(({ kind, limit }) => `${kind} ${limit}`)
  await record(ctx, {
    action: action === 'created' ? 'budget.create' : 'budget.update',
    targets: [
      { type: 'budget', id: budgetId },
      { type: subjectType, id: subjectId },
    ],
    metadata: { enforcement, status, limits },
  })
  const { orgId } = ctx.principal
  await emit(ctx, ctx.db, orgId, {
    type: `budget.${action}`,
    object: { type: 'budget', id: budgetId, status, version: budget.version, subjectType, subjectId },
    ...(await scopeOf(ctx.db, orgId, budgetId)),
  })
}

export const list: Handler<typeof budgets.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => listAnswer('data', await store.list(ctx.db, await sightOf(ctx), query, ctx.now()), show))

/** Refuses a time zone that the database has never heard of: it is the one that says when a window begins. */
async function ensureZones({ db }: TxCtx, rules: readonly RuleRow[]): Promise<void> {
  const unknown = await store.unknownZone(db, rules)
  if (unknown !== undefined) throw zoneRefused(unknown)
}

const DEFAULT_THRESHOLDS = [50, 80, 100]
const ascending = (thresholds: readonly number[]): number[] => [...thresholds].sort((a, b) => a - b)

export const create: Handler<typeof budgets.create> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const { orgId, id: createdBy } = principal
    const subject: Subject = { type: body.subjectType, id: body.subjectId }
    await ensureManages(ctx, subject)
    const [budgetId, at] = [ctx.newId('bud'), ctx.now()]
    const rules = readRules(body.windows, at)
    await ensureZones(ctx, rules)
    await store.insertBudget(
      db,
      orgId,
      { budgetId, subject, createdBy, at },
      {
        name: body.name ?? '',
        enforcement: body.enforcement ?? 'hard',
        perTransactionLimit: body.perTransactionLimit?.amount ?? null,
        thresholds: ascending(body.thresholds ?? DEFAULT_THRESHOLDS),
        status: 'active',
      },
    )
    for (const [ruleNo, rule] of rules.entries()) await store.putRule(db, orgId, budgetId, { ...rule, ruleNo }, at)
    if (body.countFrom === 'window_start') await store.countEarlier(db, orgId, budgetId, subjectText(subject), at)
    const made = await openBudget(ctx, budgetId)
    await recordChange(ctx, 'created', made)
    return show(made)
  })

export const update: Handler<typeof budgets.update> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const seen = await openBudget(ctx, params.id)
    // Whoever manages all budgets also ends those of somebody who is gone.
    if (!managesMoney(ctx.principal)) await ensureManages(ctx, { type: seen.subjectType, id: seen.subjectId })
    const locked = found(await store.lockBudget(db, principal.orgId, params.id), 'budget_not_found')
    if (body.version !== undefined && body.version !== locked.version) throw new ApiError('budget_conflict')
    // Read again under the lock: what is not in the body stays as it is now.
    const before = await openBudget(ctx, params.id)
    const { perTransactionLimit } = body
    await store.changeBudget(db, principal.orgId, params.id, {
      name: body.name ?? before.name,
      enforcement: body.enforcement ?? before.enforcement,
      perTransactionLimit:
        perTransactionLimit === undefined ? before.perTransactionLimit : (perTransactionLimit?.amount ?? null),
      thresholds: ascending(body.thresholds ?? before.thresholds),
      status: body.status ?? before.status,
    })
    if (body.windows) await replaceRules(ctx, params.id, body.windows)
    const after = await openBudget(ctx, params.id)
    await recordChange(ctx, 'updated', after)
    return show(after)
  })

/** A rule that was there keeps its number, and with it what was spent in its windows. */
async function replaceRules(ctx: TxCtx, budgetId: string, windows: readonly BudgetRule[]): Promise<void> {
  const { db, principal, now } = ctx
  const kept = await store.rulesOf(db, principal.orgId, budgetId)
  const rules = readRules(windows, now(), kept)
  await ensureZones(ctx, rules)
  const numbers = new Map(kept.map((rule) => [ruleKey(rule), rule.ruleNo]))
  let next = Math.max(-1, ...numbers.values()) + 1
  const put = rules.map((rule) => ({ ...rule, ruleNo: numbers.get(ruleKey(rule)) ?? next++ }))
  for (const rule of put) await store.putRule(db, principal.orgId, budgetId, rule, now())
  await store.endRules(
    db,
    principal.orgId,
    budgetId,
    put.map(({ ruleNo }) => ruleNo),
  )
}
