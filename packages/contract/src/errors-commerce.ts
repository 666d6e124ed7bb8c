import type { ErrorEntry } from './errors.ts'

const entry = (status: number, message: string, hint: string): ErrorEntry => ({ status, message, hint })

/** The codes of everything that has to do with money, licences, webhooks and domains. */
export const COMMERCE_ERRORS = {
  insufficient_credit: entry(
    402,
    'The credit of the organisation does not cover this.',
    'Add credit; details name what is available and what is missing.',
  ),
  budget_exceeded: entry(
    402,
    'A budget has no room for this.',
    'Wait until it resets, or ask who manages it; details name the budget.',
  ),
  budget_transaction_limit: entry(
    402,
    'This is more than a budget allows at once.',
    'Buy something smaller, or ask who manages the budget; details name it.',
  ),
  budget_subject_not_found: entry(
    404,
    'There is no such organisation, tenant, user or agent, or it is not visible to you.',
    'List agents, users or tenants first.',
  ),
  budget_not_found: entry(
    404,
    'There is no such budget, or it is not visible to you.',
    'List budgets with GET /budget.',
  ),
  budget_conflict: entry(409, 'The budget has changed since it was read.', 'Read it again and send its version.'),
  budget_window_invalid: entry(
    422,
    'A window of the budget does not make sense.',
    'Details name the window and what is wrong with it.',
  ),
} as const satisfies Record<string, ErrorEntry>
