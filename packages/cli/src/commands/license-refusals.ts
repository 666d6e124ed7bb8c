import { shownMoney } from '../output/money.ts'

// Refusals of money, in numbers: the server names them in details, and people want them in the sentence.

interface Details {
  readonly budgetId?: string
  readonly limit?: string
  readonly remaining?: string
  readonly requested?: string
  readonly resetsAt?: string | null
  readonly available?: string
  readonly required?: string
}

const usd = (amount: string | undefined): string => shownMoney({ amount: amount ?? '0', currency: 'USD' })

function sentenceOf(code: string, given: Details): { readonly message: string; readonly hint: string } | undefined {
  const { budgetId, limit, remaining, requested, resetsAt, available, required } = given
  const raise = `who manages it: strongroom budget update ${budgetId} --help`
  // Who may not read budgets is told of none: the sentence of the server says what there is to say.
  if (code.startsWith('budget_') && budgetId === undefined) return undefined
  if (code === 'budget_exceeded') {
    const until = resetsAt ? ` until ${resetsAt.slice(0, 16).replace('T', ' ')}` : ''
    return { message: `${usd(requested)} is more than the ${usd(remaining)} left of ${budgetId}${until}.`, hint: raise }
  }
  if (code === 'budget_transaction_limit')
    return { message: `${usd(requested)} is more than ${budgetId} allows at once, ${usd(limit)}.`, hint: raise }
  if (code === 'insufficient_credit')
    return {
      message: `${usd(required)} is more than the ${usd(available)} of credit that is left.`,
      hint: 'strongroom billing balance; add credit, or try the sandbox with: strongroom license test-credit',
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
export async function inNumbers<T>(spend: () => Promise<T>): Promise<T> {
  try {
    return await spend()
  } catch (error) {
    const { ApiError } = await import('@strongroom/sdk')
    const said =
      error instanceof ApiError && error.status === 402 ? sentenceOf(error.code, error.details ?? {}) : undefined
    if (!said || !(error instanceof ApiError)) throw error
    const { code, details, docs, requestId } = error
    throw new ApiError({ ...said, code, details, docs, ...(requestId !== undefined && { requestId }) }, error.status)
  }
}
