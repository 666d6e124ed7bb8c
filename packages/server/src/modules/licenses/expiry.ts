import { sql } from 'kysely'
import { recordSystem } from '../../audit/record.ts'
import type { Db } from '../../db/database.ts'
import { setInstanceStatus } from './instance-store.ts'
import { purchase } from './purchase-store.ts'
import { claimEnding, claimOver, type EndingLicense, insertRenewal, type OverLicense } from './renewal-store.ts'
import { tellLicense, tellTermination } from './tell.ts'
import { nextTermination } from './termination-machine.ts'
import { moveTermination, runningTermination } from './termination-store.ts'
import { later, Overtaken, type Works } from './turns.ts'
import { DAY_MS, endPurchase } from './waiting.ts'

// A period that is about to end: the next one is begun where the provider sells one, and it is said in good time where it does not. A
// period that has ended without a next one ends the licence. Each turn is one transaction.

/** Whoever has to buy again hears of it so long before. */
const NOTICE_MS = 7 * DAY_MS
export const noticeAt = (at: Date): Date => later(at, NOTICE_MS)
/** So long before the end the money for the next period is held. */
const AHEAD_MS = DAY_MS

/** What was delivered shortly before its end is not paid for a second time at once, but in the middle of what is left. */
function asksAt({ periodStart, periodEnd }: EndingLicense): Date {
  const middle = new Date((periodStart.getTime() + periodEnd.getTime()) / 2)
  const ahead = later(periodEnd, -AHEAD_MS)
  return ahead > middle ? ahead : middle
}

/** Decides about one licence whose period ends soon; false if there is none. */
export const takeEndingTurn = ({ deps, worker, providers }: Works): Promise<boolean> =>
  worker.kysely.transaction().execute(async (db) => {
    const at = deps.now()
    const license = await claimEnding(db, noticeAt(at))
    if (!license) return false
    const { orgId, tenantId, buyer, instanceId, periodEnd } = license
    const canRenew = providers.get(license.provider)?.renew !== undefined
    const reason = canRenew ? null : 'not_renewable'
    await sql`select set_config('app.org', ${orgId}, true)`.execute(db)
    const isFirst = await insertRenewal(db, license, {
      ...{ renewalId: deps.newId('ren'), at, reason, state: canRenew ? 'waiting' : 'lapsed' },
      nextAt: canRenew ? asksAt(license) : null,
    })
    const about = { orgId, tenantId, buyer, id: instanceId, status: 'active', periodEnd: periodEnd.toISOString() }
    if (reason !== null && isFirst) await tellLicense(deps, db, { ...about, reason }, 'license.expiring')
    return true
  })

/** A termination that failed has come about with the period. One in review goes on: the provider may still give something back. */
async function endStopped(works: Works, db: Db, license: OverLicense): Promise<void> {
  const { orgId, instanceId, purchaseId, periodEnd } = license
  const row = await runningTermination(db, orgId, instanceId)
  const to = row && nextTermination(row.state, 'over')
  if (!row || !to) return
  const at = works.deps.now()
  const bought = await purchase(db, orgId, purchaseId)
  if (bought) await endPurchase(works, db, bought, at)
  const changes = { refund: '0', effective_at: periodEnd, reason: null, next_at: null }
  const isMoved = await moveTermination(db, row, { to, cause: 'over', actor: 'strongroom', at }, changes)
  if (!isMoved) throw new Overtaken()
  await tellTermination(works.deps, db, row, license, to)
}

const expireOne = (works: Works): Promise<boolean> =>
  works.worker.kysely.transaction().execute(async (db) => {
    const { deps } = works
    const license = await claimOver(db, deps.now())
    if (!license) return false
    const { orgId, tenantId, buyer, instanceId, periodEnd } = license
    await sql`select set_config('app.org', ${orgId}, true)`.execute(db)
    await setInstanceStatus(db, orgId, instanceId, ['active', 'terminating'], 'expired', periodEnd)
    await endStopped(works, db, license)
    await tellLicense(deps, db, { orgId, tenantId, buyer, id: instanceId, status: 'expired' }, 'license.expired')
    const targets = [{ type: 'license', id: instanceId }]
    await recordSystem(deps, db, orgId, 'licenses', { action: 'license.expire', targets })
    return true
  })

/** Ends one licence whose period is over; false if there is none. */
export async function takeExpiryTurn(works: Works): Promise<boolean> {
  try {
    return await expireOne(works)
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error
    return true
  }
}
