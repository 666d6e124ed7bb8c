import { holds } from '@strongroom/contract'
import { sql } from 'kysely'
import type { Principal, TxCtx } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'

// Money is promised in all budgets that apply, or in none, before it is spent. Everybody takes the locks in one order: budgets
// first, the ledger last.

export interface Subject {
  readonly type: 'org' | 'tenant' | 'user' | 'agent'
  readonly id: string
}

export interface Reached {
  readonly budgetId: string
  readonly ruleNo: number
  readonly startsAt: string
  readonly threshold: number
}

export interface BudgetRefusal {
  readonly refused: 'exceeded' | 'transaction_limit' | 'owner_has_reserved'
  readonly budgetId?: string
  readonly ruleNo?: number
  readonly kind?: string
  readonly startsAt?: string
  readonly [member: string]: unknown
}

/** Whose budgets what this principal spends counts in. */
export async function subjectsOf({ db, principal }: TxCtx): Promise<Subject[]> {
  const { orgId, tenantId, agentId, userId } = principal
  const { rows } = await sql<{ id: string }>`
    with recursive above (tenant_id, parent_id) as (
      select tenant_id, parent_id from tenant where org_id = ${orgId} and tenant_id = ${tenantId}
      union select t.tenant_id, t.parent_id from tenant t join above a on t.tenant_id = a.parent_id where t.org_id = ${orgId})
    select tenant_id as id from above`.execute(db)
  return [
    { type: 'org', id: orgId },
    ...rows.map(({ id }) => ({ type: 'tenant', id }) as const),
    ...(agentId === null ? [] : [{ type: 'agent', id: agentId } as const]),
    ...(userId === null ? [] : [{ type: 'user', id: userId } as const]),
  ]
}

export const subjectText = ({ type, id }: Subject): string => `${type} ${id}`

export interface Reservation {
  /** Who asks is asked for once: `purchase:<id>`. */
  readonly owner: string
  readonly amount: bigint
  readonly subjects: readonly Subject[]
}

const CODES = { exceeded: 'budget_exceeded', transaction_limit: 'budget_transaction_limit' } as const

interface WindowName {
  readonly budgetId?: string
  readonly ruleNo?: number
  readonly kind: string | undefined
  readonly startsAt: string
}

export const windowIdOf = ({ budgetId, ruleNo, kind, startsAt }: WindowName): string =>
  `${budgetId}.${ruleNo}.${kind === 'rolling' ? 0 : Date.parse(startsAt) / 1000}`

/** Which budget had no room, in numbers: for who may read budgets. */
export function budgetRefusal(
  { owner, amount }: Pick<Reservation, 'owner' | 'amount'>,
  { refused, kind, ...details }: BudgetRefusal,
): Error {
  if (refused === 'owner_has_reserved') return new Error(`${owner} has reserved before`)
  const { startsAt } = details
  const window = startsAt === undefined ? {} : { windowId: windowIdOf({ ...details, kind, startsAt }) }
  return new ApiError(CODES[refused], { details: { ...details, ...window, requested: amount.toString() } })
}

/** The refusal as this caller may see it: who may not read budgets is told whose it is that had no room, and nothing else of it. */
export function asSeenBy({ permissions }: Pick<Principal, 'permissions'>, refusal: unknown): unknown {
  const isOfBudget = refusal instanceof ApiError && Object.values<string>(CODES).includes(refusal.code)
  if (!isOfBudget || holds(permissions, 'machine.budget.read')) return refusal
  const { subjectType, requested } = refusal.details ?? {}
  return new ApiError(refusal.code, { details: { subjectType, requested } })
}

/** Holds the amount in every window that applies; gives the thresholds that were reached by that. Refuses where one has no room. */
export async function reserve(
  db: Db,
  orgId: string,
  { owner, amount, subjects }: Reservation,
  at: Date,
): Promise<readonly Reached[]> {
  const { rows } = await sql<{ outcome: { reached: Reached[] } | BudgetRefusal }>`
    select budget_reserve(${orgId}, ${owner}, ${amount.toString()}, ${subjects.map(subjectText)}::text[], ${at}) as outcome`.execute(
    db,
  )
  const outcome = rows[0]?.outcome
  if (!outcome) throw new Error('the budgets gave no answer')
  if ('refused' in outcome) throw budgetRefusal({ owner, amount }, outcome)
  return outcome.reached
}

/** Ends a reservation: so much of it was spent. Nothing, if it comes to nothing. */
export async function settle(db: Db, orgId: string, owner: string, spent: bigint, at: Date): Promise<void> {
  const { rows } = await sql<{ done: boolean }>`
    select budget_settle(${orgId}, ${owner}, ${spent.toString()}, ${at}) as done`.execute(db)
  if (!rows[0]?.done) throw new Error(`the reservation of ${owner} cannot be settled with ${spent}`)
}

/** Gives back a part of what was spent, to the windows where it was spent. */
export async function refund(
  db: Db,
  orgId: string,
  { owner, name, amount }: { readonly owner: string; readonly name: string; readonly amount: bigint },
  at: Date,
): Promise<void> {
  const { rows } = await sql<{ done: boolean }>`
    select budget_refund(${orgId}, ${owner}, ${name}, ${amount.toString()}, ${at}) as done`.execute(db)
  if (!rows[0]?.done) throw new Error(`${owner} has spent nothing that could be given back`)
}

/** Windows whose columns are not the sum of what counts in them. */
export async function budgetDifferences(db: Db, orgId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ budget_id: string }>`select budget_id from budget_differences(${orgId})`.execute(db)
  return rows.map(({ budget_id }) => budget_id)
}
