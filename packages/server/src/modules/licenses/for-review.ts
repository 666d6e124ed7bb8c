import { sql } from 'kysely'
import { MOST_UNKNOWN } from './purchase-turn.ts'

/** Of a purchase: a human decides. It could not be found out about, or has not been cancelled for so long that it stays unclear. */
export const isForReview = sql<boolean>`
  (state = 'in_review' or state = 'compensating' and money = 'held' and attempts >= ${sql.lit(MOST_UNKNOWN)})`
