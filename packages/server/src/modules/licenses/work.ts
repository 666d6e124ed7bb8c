import type { Deps } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { makeProviders } from '../../licenses/providers.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import { takeEndingTurn, takeExpiryTurn } from './expiry.ts'
import { takePurchaseTurn, type Works } from './purchase-turn.ts'
import { takeRenewalTurn } from './renewal-turn.ts'
import { takeTerminationTurn } from './termination-turn.ts'

/** How many of each in a row, so that one kind does not keep the other waiting. */
const IN_A_ROW = 50

async function takeTurns(take: (works: Works) => Promise<boolean>, works: Works): Promise<void> {
  for (let i = 0; i < IN_A_ROW; i++) if (!(await take(works))) return
}

/** Everything that is due of purchases, terminations and periods. */
export async function workOnLicenses(works: Works): Promise<void> {
  await takeTurns(takePurchaseTurn, works)
  for (const take of [takeTerminationTurn, takeEndingTurn, takeRenewalTurn, takeExpiryTurn])
    await takeTurns(take, works)
}

const TURN_MS = 500

export function startLicenseWork(deps: Deps, worker: Database): Repeating {
  const works: Works = { deps, worker, providers: makeProviders(deps) }
  return repeat(
    TURN_MS,
    () => workOnLicenses(works),
    (error) => deps.log.warn({ event: 'license_work_failed', code: (error as { code?: string }).code }),
  )
}
