import type { Deps } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { makeProviders } from '../../licenses/providers.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import { isAnythingDue } from './due-store.ts'
import { noticeAt, takeEndingTurn, takeExpiryTurn } from './expiry.ts'
import { claimPurchaseTurn } from './purchase-turn.ts'
import { claimRenewalTurn } from './renewal-turn.ts'
import { claimTerminationTurn } from './termination-turn.ts'
import type { ClaimTurn, Turn, Works } from './turns.ts'

/** How many of each in a row, so that one kind does not keep the other waiting. */
const IN_A_ROW = 50
/** With one provider. One that does not answer, for as long as it is waited for, keeps nobody waiting who has bought elsewhere. */
const AT_ONCE = 4

export interface LicenseWorker {
  /** Begins everything that is due and has a place; does not wait for providers. */
  turn(): Promise<void>
  /** When nothing is under way any more. */
  idle(): Promise<void>
}

export function makeLicenseWorker(
  works: Works,
  { onRoom, onFailure }: { readonly onRoom?: () => void; readonly onFailure: (error: unknown) => void },
): LicenseWorker {
  const underWay = new Map<Promise<void>, string>()
  const busy = (): readonly string[] => {
    const all = [...underWay.values()]
    return [...new Set(all)].filter((id) => all.filter((one) => one === id).length >= AT_ONCE)
  }
  const begin = ({ provider, take }: Turn): void => {
    const taking = take()
      .catch(onFailure)
      .finally(() => {
        underWay.delete(taking)
        onRoom?.()
      })
    underWay.set(taking, provider)
  }
  const beginAll = async (claim: ClaimTurn): Promise<void> => {
    for (let i = 0; i < IN_A_ROW; i++) {
      const turn = await claim(works, busy())
      if (!turn) return
      begin(turn)
    }
  }
  const takeAll = async (take: (works: Works) => Promise<boolean>): Promise<void> => {
    for (let i = 0; i < IN_A_ROW; i++) if (!(await take(works))) return
  }
  return {
    turn: async () => {
      const at = works.deps.now()
      if (!(await isAnythingDue(works.worker, at, noticeAt(at)))) return
      await beginAll(claimPurchaseTurn)
      await beginAll(claimTerminationTurn)
      await takeAll(takeEndingTurn)
      await beginAll(claimRenewalTurn)
      await takeAll(takeExpiryTurn)
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay.keys())
    },
  }
}

const TURN_MS = 500

export function startLicenseWork(deps: Deps, worker: Database): Repeating {
  const onFailure = (error: unknown): void =>
    deps.log.warn({ event: 'license_work_failed', code: (error as { code?: string }).code })
  let isAsked = false
  const onRoom = (): void => {
    // Who asks while a turn is under way gets another one after it.
    isAsked = true
    repeating.nudge()
  }
  const licenses = makeLicenseWorker({ deps, worker, providers: makeProviders(deps) }, { onRoom, onFailure })
  const work = async (): Promise<void> => {
    do {
      isAsked = false
      await licenses.turn()
    } while (isAsked)
  }
  const repeating = repeat(TURN_MS, work, onFailure)
  return {
    nudge: repeating.nudge,
    stop: async () => {
      await repeating.stop()
      await licenses.idle()
    },
  }
}
