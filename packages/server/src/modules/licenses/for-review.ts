import { sql } from 'kysely'
import { MOST_UNKNOWN } from './turns.ts'

/**
 * Of a purchase: a human decides. It could not be found out about, or for long enough has not been cancelled or not been given again to be
 * sealed anew.
 */
export const isForReview = sql<boolean>`
  (state = 'in_review' or (state = 'compensating' and money = 'held' or state = 'awaiting_handoff') and attempts >= ${sql.lit(MOST_UNKNOWN)})`
