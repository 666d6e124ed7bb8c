import { randomInt } from 'node:crypto'
import { type Deps, inOrg } from '../../context.ts'
import type { Database, Db } from '../../db/database.ts'
import * as deliveryStore from './delivery-store.ts'
import { disableByItself } from './disable.ts'
import { delayAfter } from './schedule.ts'
import type { Attempted } from './send.ts'

// How an attempt ended, and what follows from it.

const DAY_MS = 86_400_000
/** Of nothing but failures. */
const GIVE_UP_AFTER_MS = 5 * DAY_MS
/** Says that there are too many, or that it cannot be reached behind something that can. */
const THROTTLES: ReadonlySet<number> = new Set([429, 502, 503, 504])
const LONGEST_THROTTLE_MS = 300_000
const GONE = 410

const random = (): number => randomInt(1_000_000) / 1_000_000
const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

type Claimed = deliveryStore.Claimed

export const finish = (deps: Deps, worker: Database, claimed: Claimed, ended: Attempted): Promise<void> =>
  inOrg({ database: worker }, claimed.orgId, (db) => finishIn(deps, db, claimed, ended))

/** The endpoint always before its deliveries: ending it takes all of them, and two who had one each would wait for each other. */
async function finishIn(deps: Deps, db: Db, claimed: Claimed, ended: Attempted): Promise<void> {
  const { orgId, endpointId, synthetic } = claimed
  await deliveryStore.endAttempt(db, claimed, ended)
  if (ended.error === null) {
    if (!synthetic) await deliveryStore.endpointAnswers(db, orgId, endpointId)
    await deliveryStore.setDelivered(db, claimed, deps.now())
    return
  }
  // Nobody is blamed for what was cut off by us.
  const isBlamed = !synthetic && ended.error !== 'unknown'
  if (isBlamed) await deliveryStore.lockEndpoint(db, orgId, endpointId)
  await deliveryStore.setFailed(db, claimed, nextOf(deps, claimed, ended), deps.now())
  if (isBlamed) await blame(deps, db, claimed, ended)
}

/** When it is tried again. A test is not. */
function nextOf({ now }: Deps, { step, synthetic }: Claimed, { error, retryAfterMs = 0 }: Attempted) {
  if (error === 'unknown') return { at: synthetic ? null : now(), step }
  const delay = synthetic ? undefined : delayAfter(step, random())
  return { at: delay === undefined ? null : later(now(), Math.max(delay, retryAfterMs)), step: step + 1 }
}

async function blame(deps: Deps, db: Db, { orgId, endpointId }: Claimed, { status, retryAfterMs }: Attempted) {
  const at = deps.now()
  if (status === GONE) return disableByItself(deps, db, orgId, endpointId, 'gone')
  const isThrottled = status !== null && THROTTLES.has(status)
  const throttledUntil = isThrottled
    ? later(at, Math.min(retryAfterMs ?? delayAfter(0, random()) ?? 0, LONGEST_THROTTLE_MS))
    : null
  const since = await deliveryStore.endpointFails(db, orgId, endpointId, at, throttledUntil)
  if (since && at.getTime() - since.getTime() >= GIVE_UP_AFTER_MS)
    await disableByItself(deps, db, orgId, endpointId, 'failing')
}
