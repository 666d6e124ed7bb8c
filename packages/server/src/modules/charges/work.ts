import type { Deps } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import { takeLineTurn, takeMonthTurn } from './turns.ts'

/** So that a day with many licences does not keep the end of a month waiting, nor the process its last turn. */
const IN_A_ROW = 500

/** Everything that is due of charges: lines first, since a month closes when it has all of them. */
export async function workOnCharges(deps: Deps, worker: Database): Promise<void> {
  for (const take of [takeLineTurn, takeMonthTurn])
    for (let i = 0; i < IN_A_ROW; i++) if (!(await take(deps, worker))) break
}

const TURN_MS = 5000

export const startChargeWork = (deps: Deps, worker: Database): Repeating =>
  repeat(
    TURN_MS,
    () => workOnCharges(deps, worker),
    (error) => deps.log.warn({ event: 'charge_work_failed', code: (error as { code?: string }).code }),
  )
