import { command, type Group } from '../model/command.ts'
import { shownMoney } from '../output/money.ts'
import { facts, table } from '../output/table.ts'
import { charges } from './billing/charges.ts'
import { cancel, fund, intent, intents } from './billing/fund.ts'

const shapes = () => import('../schemas/money.ts')

const balance = command({
  summary: 'the credit of the organisation: paid in, held, left',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom billing balance', does: 'what a purchase could spend' }],
  next: 'strongroom billing transactions',
  output: async () => (await shapes()).balanceShape,
  run: async (cli) => {
    const data = await (await cli.strongroom()).billing.balance({ signal: cli.signal })
    const text = facts(
      [
        ['available', shownMoney(data.available)],
        ['held', shownMoney(data.held)],
        ['paid in', shownMoney(data.posted)],
        ['incoming', shownMoney(data.incoming)],
      ],
      cli.style,
    )
    return { data, text, next: 'strongroom billing transactions' }
  },
})

const transactions = command({
  summary: 'every movement of the credit, newest first',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom billing transactions', does: 'where the credit went' }],
  next: 'strongroom billing balance',
  output: async () => (await shapes()).transactionsShape,
  run: async (cli) => {
    const data = await (await cli.strongroom()).billing.transactions({}, { signal: cli.signal }).all()
    const { commerceNames } = await import('../activity/names.ts')
    const nameOf = await commerceNames(
      cli,
      data.map(({ ref }) => ref.id),
    )
    const text = table(
      data,
      [
        { title: 'WHEN', of: ({ occurredAt }) => occurredAt },
        { title: 'WHAT', of: ({ type }) => type },
        { title: 'AMOUNT', of: ({ amount }) => shownMoney(amount), right: true },
        { title: 'AVAILABLE', of: ({ availableAfter }) => shownMoney(availableAfter), right: true },
        { title: 'FOR', of: ({ ref }) => `${ref.type} ${nameOf(ref.id)}` },
      ],
      cli.style,
    )
    return { data, meta: { total: data.length }, text, next: 'strongroom billing balance' }
  },
})

const readiness = command({
  summary: 'whether you could buy something now, and what is missing',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom billing readiness', does: 'each condition, with what to do' }],
  next: 'strongroom budget list',
  output: async () => (await shapes()).readinessShape,
  run: async (cli) => {
    const data = await (await cli.strongroom()).billing.readiness({ signal: cli.signal })
    const text = data.checks
      .map(({ ok, message, action }) => `${ok ? '✓' : '✗'} ${message}${action === null ? '' : `\n  fix  ${action}`}`)
      .join('\n')
    return { data, text, next: data.ready ? 'strongroom budget list' : 'strongroom billing balance' }
  },
})

export const billing: Group = {
  summary: 'prepaid credit of the organisation',
  verbs: { balance, transactions, charges, readiness, fund, intent, intents, cancel },
}
