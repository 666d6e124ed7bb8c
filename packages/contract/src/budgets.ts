import { type Static, Type } from 'typebox'
import { Amount, Money } from './money.ts'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, Name, Nullable, OneOf, Page, Time } from './shapes.ts'

// What may be spent, decided before it is spent. Every budget that applies must have room: of the agent or user, of its tenant and
// the tenants above, and of the organisation.

const reading = { kind: 'permission', permission: 'machine.budget.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.budget.write' } as const satisfies Access

export const BUDGET_SUBJECTS = ['org', 'tenant', 'user', 'agent'] as const
export const WINDOW_KINDS = ['daily', 'weekly', 'monthly', 'total', 'rolling'] as const

const TimeZone = Type.String({
  maxLength: 64,
  description: 'IANA name with its area, such as Europe/Berlin; UTC if absent',
})

/** One limit: so much in each stretch of time. */
export const BudgetRule = closed({
  kind: OneOf(WINDOW_KINDS),
  limit: Amount,
  timezone: Type.Optional(TimeZone),
  weekStart: Type.Optional(Type.Integer({ minimum: 1, maximum: 7, description: 'weekly: 1 is Monday' })),
  anchorDay: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31,
      description: 'monthly: the day it begins, or the last day of a shorter month',
    }),
  ),
  duration: Type.Optional(
    Type.String({ maxLength: 16, description: 'rolling: ISO 8601, PT1H to P90D, in whole days and hours' }),
  ),
  startsAt: Type.Optional(Time),
  endsAt: Type.Optional(Time),
})
export type BudgetRule = Static<typeof BudgetRule>

const ActiveWindow = closed({
  windowId: Type.String(),
  kind: OneOf(WINDOW_KINDS),
  timezone: Type.String(),
  startsAt: Time,
  endsAt: Nullable(Time),
  limit: Money,
  reserved: Money,
  spent: Money,
  remaining: Money,
  resetsAt: Nullable(Time),
  thresholdsReached: Type.Array(Type.Integer()),
})

export const Budget = closed({
  budgetId: Id,
  subjectType: OneOf(BUDGET_SUBJECTS),
  subjectId: Id,
  name: Type.String(),
  enforcement: OneOf(['hard', 'notify']),
  perTransactionLimit: Nullable(Money),
  thresholds: Type.Array(Type.Integer()),
  status: OneOf(['active', 'archived']),
  version: Type.Integer(),
  createdBy: Type.String(),
  createdAt: Time,
  activeWindows: Type.Array(ActiveWindow),
})
export type Budget = Static<typeof Budget>

const Rules = Type.Array(BudgetRule, { minItems: 1, maxItems: 8 })
const Thresholds = Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), { maxItems: 8, uniqueItems: true })

export const budgets = {
  list: {
    api: 'machine',
    method: 'GET',
    path: '/budget',
    summary: 'The budgets that apply to the caller, and those the caller manages, with their active windows',
    access: reading,
    query: closed(Page),
    response: listOf('data', Budget),
  },
  create: {
    api: 'machine',
    method: 'POST',
    path: '/budget',
    summary: 'Make a budget for the organisation, a tenant, a user or an agent',
    access: writing,
    body: closed({
      subjectType: OneOf(BUDGET_SUBJECTS),
      subjectId: Id,
      name: Type.Optional(Name),
      enforcement: Type.Optional(OneOf(['hard', 'notify'])),
      windows: Rules,
      perTransactionLimit: Type.Optional(Amount),
      thresholds: Type.Optional(Thresholds),
      countFrom: Type.Optional(OneOf(['creation', 'window_start'])),
    }),
    status: 201,
    response: Budget,
    errors: ['budget_subject_not_found', 'budget_window_invalid', 'role_required'],
  },
  update: {
    api: 'machine',
    method: 'PATCH',
    path: '/budget/:id',
    summary:
      'Change a budget. It applies at once; what is held stays held. A window that keeps its kind keeps its count',
    access: writing,
    params: closed({ id: Id }),
    body: closed({
      version: Type.Optional(
        Type.Integer({ minimum: 1, description: 'The version that was seen: another one is refused' }),
      ),
      name: Type.Optional(Name),
      enforcement: Type.Optional(OneOf(['hard', 'notify'])),
      windows: Type.Optional(Rules),
      perTransactionLimit: Type.Optional(Nullable(Amount)),
      thresholds: Type.Optional(Thresholds),
      status: Type.Optional(OneOf(['active', 'archived'])),
    }),
    response: Budget,
    errors: [
      'budget_not_found',
      'budget_subject_not_found',
      'budget_window_invalid',
      'budget_conflict',
      'role_required',
    ],
  },
} as const satisfies Routes
