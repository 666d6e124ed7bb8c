import { Type } from 'typebox'
import { shownMoney } from '../../output/money.ts'
import { closed, LOOKS, tool } from '../tool.ts'

const nullable = Type.Union([Type.String(), Type.Null()])

export const budgetStatus = tool({
  name: 'budget_status',
  title: 'Budgets',
  description: 'The budgets that apply to you, and what is left of them.',
  input: closed({}),
  output: closed({
    budgets: Type.Array(
      closed({
        budgetId: Type.String(),
        name: Type.String(),
        subject: Type.String(),
        stops: Type.Boolean({ description: 'false: it tells, and stops nothing' }),
        perTransactionLimit: nullable,
        windows: Type.Array(
          closed({
            kind: Type.String(),
            limit: Type.String(),
            spent: Type.String(),
            reserved: Type.String(),
            remaining: Type.String(),
            resetsAt: nullable,
          }),
        ),
      }),
    ),
  }),
  annotations: LOOKS,
  run: async (cli) => {
    const all = await (await cli.strongroom()).budgets.list({}, { signal: cli.signal }).all()
    const active = all.filter(({ status }) => status !== 'archived')
    return {
      budgets: active.map((one) => ({
        budgetId: one.budgetId,
        name: one.name,
        subject: `${one.subjectType} ${one.subjectId}`,
        stops: one.enforcement === 'hard',
        perTransactionLimit: one.perTransactionLimit === null ? null : shownMoney(one.perTransactionLimit),
        windows: one.activeWindows.map(({ kind, limit, spent, reserved, remaining, resetsAt }) => ({
          kind,
          limit: shownMoney(limit),
          spent: shownMoney(spent),
          reserved: shownMoney(reserved),
          remaining: shownMoney(remaining),
          resetsAt,
        })),
      })),
    }
  },
})

export const reportGap = tool({
  name: 'report_gap',
  title: 'Report a gap',
  description:
    'Tells the operator of the server what you could not do. Refused if it looks as if it held a credential. Write no names of people and no values.',
  input: closed({
    summary: Type.String({ description: 'one line', minLength: 1, maxLength: 200, pattern: '^[^\\r\\n]+$' }),
    details: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
    category: Type.Optional(
      Type.Union(
        ['missing_capability', 'bug', 'docs', 'other'].map((one) => Type.Literal(one)),
        {
          default: 'missing_capability',
        },
      ),
    ),
  }),
  output: closed({ feedbackId: Type.String() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  run: async (cli, { summary, details = summary, category }) => {
    const message = { summary, wanted: details, ...(category !== undefined && { category }) }
    const { id } = await (await cli.strongroom()).feedback.send(message, { signal: cli.signal })
    return { feedbackId: id }
  },
})
