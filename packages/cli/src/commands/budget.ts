import type { Budget } from '@strongroom/contract'
import type { NewBudget } from '@strongroom/sdk'
import { findBudget, findSubject, subjectNames } from '../budgets/subject.ts'
import { type Cli, confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag, type Group, type Result, rare } from '../model/command.ts'
import { readMoney, shownMoney } from '../output/money.ts'
import { table } from '../output/table.ts'

const shapes = () => import('../schemas/money.ts')
const BUDGET = arg.one('whom it limits, as for create; or its id')

const LIMITS = {
  daily: flag.text('so much a day', 'USD'),
  weekly: flag.text('so much a week', 'USD'),
  monthly: flag.text('so much a month', 'USD'),
  total: flag.text('so much in all', 'USD'),
  'at-once': flag.text('so much in one purchase', 'USD'),
  notify: flag.on('tell, and stop nothing'),
  ...rare({
    rolling: flag.text('so much in any 24 hours', 'USD'),
    timezone: flag.text('where days begin; UTC if not given', 'ZONE'),
  }),
} as const

interface LimitFlags {
  readonly daily: string | undefined
  readonly weekly: string | undefined
  readonly monthly: string | undefined
  readonly total: string | undefined
  readonly rolling: string | undefined
  readonly timezone: string | undefined
  readonly 'at-once': string | undefined
  readonly notify: boolean
}

const KINDS = ['daily', 'weekly', 'monthly', 'total', 'rolling'] as const
const IN_A_ZONE: ReadonlySet<string> = new Set(['daily', 'weekly', 'monthly'])

function windowsOf(flags: LimitFlags): NewBudget['windows'] {
  return KINDS.flatMap((kind) => {
    const text = flags[kind]
    if (text === undefined) return []
    const { timezone } = flags
    return {
      kind,
      limit: readMoney(text, `--${kind}`),
      ...(kind === 'rolling' && { duration: 'PT24H' }),
      ...(timezone !== undefined && IN_A_ZONE.has(kind) && { timezone }),
    }
  })
}

const limitOf = ({ 'at-once': atOnce }: LimitFlags) =>
  atOnce === undefined ? {} : { perTransactionLimit: readMoney(atOnce, '--at-once') }

const windowText = ({ kind, spent, reserved, limit }: Budget['activeWindows'][number]): string => {
  const used = { ...limit, amount: (BigInt(spent.amount) + BigInt(reserved.amount)).toString() }
  return `${kind} ${shownMoney(used)} of ${shownMoney(limit)}`
}

/** The names are for people; a program is told ids alone. */
async function show(cli: Cli, budgets: readonly Budget[]): Promise<string | undefined> {
  if (cli.isJson) return undefined
  const names = await subjectNames(cli, budgets)
  return table(
    budgets,
    [
      { title: 'FOR', of: (one) => names.shown(one) },
      { title: 'USED', of: ({ activeWindows }) => activeWindows.map(windowText).join(', ') },
      {
        title: 'STOPS',
        of: ({ enforcement, status }) =>
          status === 'archived' ? 'ended' : enforcement === 'hard' ? 'yes' : 'tells only',
      },
      { title: 'ID', of: ({ budgetId }) => budgetId },
    ],
    cli.style,
  )
}

/** With the table, for people. */
async function shown(cli: Cli, data: Budget): Promise<Result> {
  const text = await show(cli, [data])
  return { data, ...(text !== undefined && { text }), next: 'strongroom budget list' }
}

const list = command({
  summary: 'budgets that apply to you or that you manage',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom budget list', does: 'limits, and what is used of them now' }],
  next: 'strongroom budget create AGENT --daily 20',
  output: async () => (await shapes()).budgetsShape,
  run: async (cli) => {
    const data = await (await cli.strongroom()).budgets.list({}, { signal: cli.signal }).all()
    const text = await show(cli, data)
    return {
      data,
      meta: { total: data.length },
      ...(text !== undefined && { text }),
      next: 'strongroom budget create AGENT --daily 20',
    }
  },
})

const ensureLimits = (windows: NewBudget['windows']): void => {
  if (windows.length > 0) return
  throw new CliError('usage', 'a budget needs a limit', {
    fix: 'add --daily 20, or --monthly, --weekly, --total, --rolling',
  })
}

const create = command({
  summary: 'limit what an agent, a tenant, a person or the organisation may spend',
  args: { subject: arg.one('name of an agent; or org, tenant:NAME, user:EMAIL') },
  flags: LIMITS,
  examples: [
    { run: 'strongroom budget create checkout-bot --daily 20', does: '20 USD a day, and no more' },
    { run: 'strongroom budget create org --monthly 500 --notify', does: 'tells, stops nothing' },
  ],
  next: 'strongroom budget list',
  output: async () => (await shapes()).budgetShape,
  run: async (cli, { args, flags }) => {
    const windows = windowsOf(flags)
    ensureLimits(windows)
    const subject = await findSubject(cli, args.subject)
    const enforcement = flags.notify ? 'notify' : 'hard'
    const budget: NewBudget = { ...subject, windows, enforcement, ...limitOf(flags) }
    const data = await (await cli.strongroom()).budgets.create(budget, { signal: cli.signal })
    return shown(cli, data)
  },
})

const update = command({
  summary: 'set other limits; what was spent stays counted',
  args: { budget: BUDGET },
  flags: LIMITS,
  examples: [{ run: 'strongroom budget update checkout-bot --daily 50', does: 'at once' }],
  next: 'strongroom budget list',
  output: async () => (await shapes()).budgetShape,
  run: async (cli, { args, flags }) => {
    const windows = windowsOf(flags)
    const change = {
      ...(windows.length > 0 && { windows }),
      ...limitOf(flags),
      ...(flags.notify && { enforcement: 'notify' as const }),
    }
    if (Object.keys(change).length === 0) ensureLimits(windows)
    const budgetId = await findBudget(cli, args.budget)
    const data = await (await cli.strongroom()).budgets.update(budgetId, change, { signal: cli.signal })
    return shown(cli, data)
  },
})

const end = command({
  summary: 'end a budget: it limits nothing any more',
  args: { budget: BUDGET },
  flags: {},
  examples: [{ run: 'strongroom budget end checkout-bot --yes', does: 'what was spent stays on record' }],
  next: 'strongroom budget list',
  output: async () => (await shapes()).budgetShape,
  run: async (cli, { args }) => {
    const budgetId = await findBudget(cli, args.budget)
    await confirm(cli, `End the budget ${args.budget}? Whom it binds may spend without it.`)
    const { budgets } = await cli.strongroom()
    const data = await budgets.update(budgetId, { status: 'archived' }, { signal: cli.signal })
    return shown(cli, data)
  },
})

export const budget: Group = { summary: 'budgets: decided before it is spent', verbs: { list, create, update, end } }
