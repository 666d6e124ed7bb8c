import type { Deps } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import { takeBookTurn } from './check-books.ts'
import { tellCredit } from './tell.ts'

/** So that a large book does not keep those who listen waiting. */
const PARTS_IN_A_ROW = 4
const TURN_MS = 2000

/** Everything that is due of the credit: what has moved is told, and books that were not looked at for a day are. */
export async function workOnCredit(deps: Deps, worker: Database): Promise<void> {
  await tellCredit(deps, worker)
  for (let i = 0; i < PARTS_IN_A_ROW; i++) if (!(await takeBookTurn(deps, worker))) break
}

export const startCreditWork = (deps: Deps, worker: Database): Repeating =>
  repeat(
    TURN_MS,
    () => workOnCredit(deps, worker),
    (error) => deps.log.warn({ event: 'credit_work_failed', code: (error as { code?: string }).code }),
  )
