import type { Budget } from '@strongroom/contract'
import type { NewBudget } from '@strongroom/sdk'
import { type Cli, confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag, type Group, rare } from '../model/command.ts'
import { readMoney, shownMoney } from '../output/money.ts'
import { table } from '../output/table.ts'
import { findAgent } from './agent/find.ts'

const shapes = () => import('../schemas/money.ts')
const BUDGET = arg.one('id of a budget')

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

/** `agent NAME`, `org`, `tenant ID`, `user ID`. */
async function subjectOf(cli: Cli, asked: string): Promise<Pick<NewBudget, 'subjectType' | 'subjectId'>> {
  const strongroom = await cli.strongroom()
  if (asked === 'org') return { subjectType: 'org', subjectId: (await strongroom.me({ signal: cli.signal })).org }
  const [, kind, id] = /^(tenant|user):(.+)$/.exec(asked) ?? []
  if (kind !== undefined && id !== undefined) return { subjectType: kind as 'tenant' | 'user', subjectId: id }
  return { subjectType: 'agent', subjectId: (await findAgent(cli, asked)).agentId }
}

const windowText = ({ kind, spent, reserved, limit }: Budget['activeWindows'][number]): string => {
  const used = { ...limit, amount: (BigInt(spent.amount) + BigInt(reserved.amount)).toString() }
  return `${kind} ${shownMoney(used)} of ${shownMoney(limit)}`
}

const show = (cli: Cli, budgets: readonly Budget[]): string =>
  table(
    budgets,
    [
      { title: 'FOR', of: ({ subjectType, subjectId }) => `${subjectType} ${subjectId}` },
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

const list = command({
  summary: 'budgets that apply to you or that you manage',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom budget list', does: 'limits, and what is used of them now' }],
  next: 'strongroom budget create AGENT --daily 20',
  output: async () => (await shapes()).budgetsShape,
  run: async (cli) => {
    const data = await (await cli.strongroom()).budgets.list({}, { signal: cli.signal }).all()
    return {
      data,
      meta: { total: data.length },
      text: show(cli, data),
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
  args: { subject: arg.one('name of an agent; or org, tenant:ID, user:ID') },
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
    const subject = await subjectOf(cli, args.subject)
    const enforcement = flags.notify ? 'notify' : 'hard'
    const budget: NewBudget = { ...subject, windows, enforcement, ...limitOf(flags) }
    const data = await (await cli.strongroom()).budgets.create(budget, { signal: cli.signal })
    return { data, text: show(cli, [data]), next: 'strongroom budget list' }
  },
})

const update = command({
  summary: 'set other limits; what was spent stays counted',
  args: { budget: BUDGET },
  flags: LIMITS,
  examples: [{ run: 'strongroom budget update BUDGET --daily 50', does: 'at once' }],
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
    const data = await (await cli.strongroom()).budgets.update(args.budget, change, { signal: cli.signal })
    return { data, text: show(cli, [data]), next: 'strongroom budget list' }
  },
})

const end = command({
  summary: 'end a budget: it limits nothing any more',
  args: { budget: BUDGET },
  flags: {},
  examples: [{ run: 'strongroom budget end BUDGET --yes', does: 'what was spent stays on record' }],
  next: 'strongroom budget list',
  output: async () => (await shapes()).budgetShape,
  run: async (cli, { args }) => {
    await confirm(cli, `End budget ${args.budget}? Whom it binds may spend without it.`)
    const data = await (await cli.strongroom()).budgets.update(
      args.budget,
      { status: 'archived' },
      { signal: cli.signal },
    )
    return { data, text: show(cli, [data]), next: 'strongroom budget list' }
  },
})

export const budget: Group = { summary: 'budgets: decided before it is spent', verbs: { list, create, update, end } }
