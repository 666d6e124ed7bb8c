import { shellLine } from '@strongroom/contract'
import type { Cli } from '../cli.ts'
import { shownMoney } from '../output/money.ts'

// Refusals of money, in numbers: the server names them in details, and people want them in the sentence.

interface Details {
  readonly budgetId?: string
  readonly windowId?: string
  readonly subjectType?: 'org' | 'tenant' | 'user' | 'agent'
  readonly subjectId?: string
  readonly limit?: string
  readonly remaining?: string
  readonly requested?: string
  readonly resetsAt?: string | null
  readonly available?: string
  readonly required?: string
}

interface Said {
  readonly message: string
  readonly hint: string
}

const usd = (amount: string | undefined): string => shownMoney({ amount: amount ?? '0', currency: 'USD' })

/** What a person calls the budget, and the command that changes it; by its id where nothing else is known of it. */
interface Named {
  readonly budget: string
  update(flag: string | undefined): string
}

async function namedBudget(cli: Cli, { budgetId = '', windowId, subjectType, subjectId }: Details): Promise<Named> {
  const update =
    (whom: string) =>
    (flag = '--help'): string =>
      `who manages it: ${shellLine`strongroom budget update ${whom}`} ${flag}`
  if (subjectType === undefined || subjectId === undefined) return { budget: budgetId, update: update(budgetId) }
  const { subjectNames } = await import('../budgets/subject.ts')
  const subject = { subjectType, subjectId }
  const names = await subjectNames(cli, [subject])
  const { budgets } = await cli.strongroom()
  const all = await budgets.list({}, { signal: cli.signal }).all()
  const window = all
    .flatMap(({ activeWindows }) => activeWindows)
    .find((one) => windowId !== undefined && one.windowId === windowId)
  const change = update(names.typed(subject))
  return {
    budget: `the ${window ? `${window.kind} ` : ''}budget of ${names.shown(subject)}`,
    update: (flag) => change(flag ?? (window && `--${window.kind} USD`)),
  }
}

async function sentenceOf(cli: Cli, code: string, given: Details): Promise<Said | undefined> {
  const { budgetId, limit, remaining, requested, resetsAt, available, required } = given
  if (code === 'insufficient_credit')
    return {
      message: `${usd(required)} is more than the ${usd(available)} of credit that is left.`,
      hint: 'strongroom billing balance; add credit, or try the sandbox with: strongroom license test-credit',
    }
  // Who may not read budgets is told of none: the sentence of the server says what there is to say.
  if (!code.startsWith('budget_') || budgetId === undefined) return undefined
  // What is only said more plainly must not hide the refusal itself.
  const { budget, update } = await namedBudget(cli, given).catch(() => namedBudget(cli, { budgetId }))
  if (code === 'budget_exceeded') {
    const until = resetsAt ? ` until ${resetsAt.slice(0, 16).replace('T', ' ')}` : ''
    const message = `${usd(requested)} is more than the ${usd(remaining)} left of ${budget}${until}.`
    return { message, hint: update(undefined) }
  }
  if (code === 'budget_transaction_limit')
    return {
      message: `${usd(requested)} is more than ${budget} allows at once, ${usd(limit)}.`,
      hint: update('--at-once USD'),
    }
  return undefined
}

/** Runs what can be repeated under its key; where nobody knows what became of it, with the command that repeats it. */
export async function repeatable<T>(spend: () => Promise<T>, command: (key: string) => string): Promise<T> {
  try {
    return await spend()
  } catch (error) {
    const { OutcomeUnknownError } = await import('@strongroom/sdk')
    if (!(error instanceof OutcomeUnknownError)) throw error
    const { idempotencyKey, cause } = error
    throw new OutcomeUnknownError(
      idempotencyKey,
      cause,
      `to buy it once, whatever became of it: ${command(idempotencyKey)}`,
    )
  }
}

/** Runs what spends; a refusal of money says how much. */
export async function inNumbers<T>(cli: Cli, spend: () => Promise<T>): Promise<T> {
  try {
    return await spend()
  } catch (error) {
    const { ApiError } = await import('@strongroom/sdk')
    const said =
      error instanceof ApiError && error.status === 402
        ? await sentenceOf(cli, error.code, error.details ?? {})
        : undefined
    if (!said || !(error instanceof ApiError)) throw error
    const { code, details, docs, requestId } = error
    throw new ApiError({ ...said, code, details, docs, ...(requestId !== undefined && { requestId }) }, error.status)
  }
}
