import type { Deps } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { makeProviders } from '../../licenses/providers.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import type { Works } from '../licenses/turns.ts'
import { takeLineTurn, takeMonthTurn } from './turns.ts'
import { fetchUsage } from './usage.ts'

/** So that a day with many licences does not keep the end of a month waiting, nor the process its last turn. */
const IN_A_ROW = 500

/** Everything that is due of charges: lines first, since a month closes when it has all of them. */
export async function workOnCharges(deps: Deps, worker: Database): Promise<void> {
  for (const take of [takeLineTurn, takeMonthTurn])
    for (let i = 0; i < IN_A_ROW; i++) if (!(await take(deps, worker))) break
}

const TURN_MS = 5000
const USAGE_MS = 3_600_000

/** Every hour of this process: two that ask both write every line once. */
function usageWork(works: Works): () => Promise<void> {
  let nextAt = 0
  return async () => {
    const at = works.deps.now().getTime()
    if (at < nextAt) return
    nextAt = at + USAGE_MS
    await fetchUsage(works)
  }
}

/** Lines and months do not wait for what providers say: each has turns of its own. */
export function startChargeWork(deps: Deps, worker: Database, providers = makeProviders(deps)): Repeating {
  const failed = (event: string) => (error: unknown) =>
    deps.log.warn({ event, code: (error as { code?: string }).code })
  const charging = repeat(TURN_MS, () => workOnCharges(deps, worker), failed('charge_work_failed'))
  const using = repeat(TURN_MS, usageWork({ deps, worker, providers }), failed('usage_work_failed'))
  return {
    nudge: () => {
      charging.nudge()
      using.nudge()
    },
    stop: async () => {
      await Promise.all([charging.stop(), using.stop()])
    },
  }
}
