import { sql } from 'kysely'
import { recordSystem } from '../../audit/record.ts'
import { setInstanceStatus } from './instance-store.ts'
import { later, type Works } from './purchase-turn.ts'
import { claimEnding, claimOver, insertRenewal } from './renewal-store.ts'
import { tellLicense } from './tell.ts'

// A period that is about to end: the next one is begun where the provider sells one, and it is said in good time where it does not. A
// period that has ended without a next one ends the licence. Each turn is one transaction.

const DAY_MS = 86_400_000
/** Whoever has to buy again hears of it so long before. */
const NOTICE_MS = 7 * DAY_MS
/** So long before the end the money for the next period is held. */
const AHEAD_MS = DAY_MS

/** Decides about one licence whose period ends soon; false if there is none. */
export const takeEndingTurn = ({ deps, worker, providers }: Works): Promise<boolean> =>
  worker.kysely.transaction().execute(async (db) => {
    const at = deps.now()
    const license = await claimEnding(db, later(at, NOTICE_MS))
    if (!license) return false
    const { orgId, tenantId, instanceId, periodEnd } = license
    const canRenew = providers.get(license.provider)?.renew !== undefined
    const reason = canRenew ? null : 'not_renewable'
    await sql`select set_config('app.org', ${orgId}, true)`.execute(db)
    await insertRenewal(db, license, {
      ...{ renewalId: deps.newId('ren'), at, reason, state: canRenew ? 'waiting' : 'lapsed' },
      nextAt: canRenew ? later(periodEnd, -AHEAD_MS) : null,
    })
    const about = { orgId, tenantId, id: instanceId, status: 'active', periodEnd: periodEnd.toISOString() }
    if (reason !== null) await tellLicense(deps, db, { ...about, reason }, 'license.expiring')
    return true
  })

/** Ends one licence whose period is over; false if there is none. */
export const takeExpiryTurn = ({ deps, worker }: Works): Promise<boolean> =>
  worker.kysely.transaction().execute(async (db) => {
    const license = await claimOver(db, deps.now())
    if (!license) return false
    const { orgId, tenantId, instanceId, periodEnd } = license
    await sql`select set_config('app.org', ${orgId}, true)`.execute(db)
    await setInstanceStatus(db, orgId, instanceId, ['active'], 'expired', periodEnd)
    await tellLicense(deps, db, { orgId, tenantId, id: instanceId, status: 'expired' }, 'license.expired')
    const targets = [{ type: 'license', id: instanceId }]
    await recordSystem(deps, db, orgId, 'licenses', { action: 'license.expire', targets })
    return true
  })
