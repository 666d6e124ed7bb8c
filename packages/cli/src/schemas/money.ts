import { Type } from 'typebox'

// What `billing`, `budget` and `domain` print. Amounts are whole micro-units.

const money = Type.Object({ amount: Type.String(), currency: Type.Literal('USD'), scale: Type.Literal(6) })
const nullable = <T extends Parameters<typeof Type.Array>[0]>(schema: T) => Type.Union([schema, Type.Null()])

export const balanceShape = Type.Object({ posted: money, held: money, available: money, incoming: money })

export const transactionsShape = Type.Array(
  Type.Object({
    id: Type.String(),
    type: Type.String(),
    amount: money,
    balanceAfter: money,
    availableAfter: money,
    ref: Type.Object({ type: Type.String(), id: Type.String() }),
    occurredAt: Type.String(),
  }),
)

export const readinessShape = Type.Object({
  ready: Type.Boolean(),
  checks: Type.Array(
    Type.Object({ code: Type.String(), ok: Type.Boolean(), message: Type.String(), action: nullable(Type.String()) }),
  ),
})

export const budgetShape = Type.Object({
  budgetId: Type.String(),
  subjectType: Type.String(),
  subjectId: Type.String(),
  name: Type.String(),
  enforcement: Type.String(),
  perTransactionLimit: nullable(money),
  thresholds: Type.Array(Type.Integer()),
  status: Type.String(),
  version: Type.Integer(),
  createdBy: Type.String(),
  createdAt: Type.String(),
  activeWindows: Type.Array(
    Type.Object({
      windowId: Type.String(),
      kind: Type.String(),
      timezone: Type.String(),
      startsAt: Type.String(),
      endsAt: nullable(Type.String()),
      limit: money,
      reserved: money,
      spent: money,
      remaining: money,
      resetsAt: nullable(Type.String()),
      thresholdsReached: Type.Array(Type.Integer()),
    }),
  ),
})
export const budgetsShape = Type.Array(budgetShape)

export const recordsShape = Type.Object({
  domain: Type.String(),
  managed: Type.Boolean(),
  serial: Type.Integer(),
  records: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      type: Type.String(),
      content: Type.String(),
      ttl: Type.Integer(),
      priority: nullable(Type.Integer()),
      disabled: Type.Boolean(),
      comment: nullable(Type.String()),
    }),
  ),
})
