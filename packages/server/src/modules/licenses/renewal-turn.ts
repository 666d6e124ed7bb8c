import { recordSystem } from '../../audit/record.ts'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { monthAfter, monthsAfter } from '../../licenses/proration.ts'
import type { RenewOutcome } from '../../licenses/provider.ts'
import { tellExceeded } from '../../outbox/budget-events.ts'
import { insertPeriod } from '../charges/period-store.ts'
import { externalIdOf } from './money.ts'
import { nextRenewal, type RenewalEvent } from './renewal-machine.ts'
import { moveRenewalMoney, promiseRenewal, renewalCapture, renewalOwner, settleRenewal } from './renewal-money.ts'
import type { RenewalRow } from './renewal-store.ts'
import * as store from './renewal-store.ts'
import { tellLicense } from './tell.ts'
import { markCall, planCall } from './transition-store.ts'
import {
  backoffMs,
  type ClaimTurn,
  inOrgOf,
  later,
  MOST_UNKNOWN,
  MOST_UNREACHABLE,
  Overtaken,
  REVIEW_MS,
  takingOne,
  unlessOvertaken,
  type Works,
} from './turns.ts'
import { DAY_MS } from './waiting.ts'

// One step of one renewal. Before the provider is asked it is written down that it will be; unknown is not failed, and the money stays
// held until somebody knows.

const LEASE_MS = 60_000
const HOUR_MS = 3_600_000
/** Months have their length from the calendar or the provider; this is shorter than any of them. */
const LEAST_MS = 14 * DAY_MS

type Changes = Parameters<typeof store.postponeRenewal>[2]

const tell = (
  works: Works,
  db: Db,
  { orgId, tenantId, principal: buyer, instanceId, licenseStatus }: RenewalRow,
  type: 'license.renewed' | 'license.expiring',
  reason?: string,
): Promise<string> =>
  tellLicense(
    works.deps,
    db,
    { orgId, tenantId, buyer, id: instanceId, status: licenseStatus, ...(reason && { reason }) },
    type,
  )

interface Happened {
  readonly event: RenewalEvent
  readonly reason?: string
  readonly changes?: Changes
  readonly also?: (db: Db, at: Date) => Promise<void>
}

/** Changes the state, the money and everything told of it, in one transaction and in the order of locks. */
export async function renewalHappens(
  works: Works,
  row: RenewalRow,
  { event, reason, changes, also }: Happened,
): Promise<void> {
  const step = nextRenewal(row.state, event)
  if (!step) throw new Error(`a renewal that is ${row.state} cannot be ${event}`)
  const { deps } = works
  const { money } = step
  const at = deps.now()
  const isOver = step.to === 'renewed' || step.to === 'lapsed'
  await inOrgOf(works, row, async (db) => {
    if (money === 'hold') await promiseRenewal(deps, db, row)
    if (money === 'capture' || money === 'release')
      await settleRenewal(deps, db, row, money === 'capture' ? BigInt(row.amount) : 0n)
    const next = { reason: reason ?? null, attempts: 0, next_at: isOver ? null : at, ...changes }
    if (!(await store.moveRenewal(db, row, { to: step.to, cause: event, at }, next))) throw new Overtaken()
    await also?.(db, at)
    // Who has asked for its end knows of it.
    const isNews = event !== 'ended' || row.licenseStatus === 'active'
    if (step.to === 'lapsed' && isNews) await tell(works, db, row, 'license.expiring', reason)
    if (money !== 'none') await moveRenewalMoney(deps, db, row, money)
  })
}

/** The licence is in use no more, or nobody is there to pay for it. */
const end = (works: Works, row: RenewalRow): Promise<void> =>
  renewalHappens(works, row, {
    event: 'ended',
    reason: row.licenseStatus === 'active' ? 'buyer_gone' : 'license_ended',
  })

const SHORTAGES = new Set(['insufficient_credit', 'budget_exceeded', 'budget_transaction_limit'])

/** Holds the money, or waits for it until the period has ended. Whoever comes late still tries once. */
async function fund(works: Works, row: RenewalRow): Promise<void> {
  const at = works.deps.now()
  const isActive = await inOrgOf(works, row, (db) => store.holdActive(db, row, works.deps.now()))
  if (!isActive) return end(works, row)
  if (at >= row.startsAt && row.attempts > 0)
    return renewalHappens(works, row, { event: 'over', reason: row.reason ?? 'not_funded' })
  try {
    return await renewalHappens(works, row, { event: 'funded' })
  } catch (error) {
    if (!(error instanceof ApiError) || !SHORTAGES.has(error.code)) throw error
    const { code } = error
    // Once for each window, as for a purchase; whether it could be told changes nothing for the renewal.
    await tellExceeded({ ...works.deps, database: works.worker }, row.orgId, error).catch((cause: unknown) =>
      works.deps.log.error({ err: cause }, 'an exceeded budget was not told of'),
    )
    const again = later(at, HOUR_MS)
    const next_at = again > row.startsAt && at < row.startsAt ? row.startsAt : again
    await inOrgOf(works, row, async (db) => {
      if (row.attempts === 0) await tell(works, db, row, 'license.expiring', code)
      await store.postponeRenewal(db, row, { attempts: row.attempts + 1, reason: code, next_at })
    })
  }
}

const callOf = ({ orgId, renewalId }: RenewalRow) => ({ orgId, objectId: renewalId, op: 'renew' }) as const

/** The last moment at which it can be stopped by ending the licence. */
async function ask(works: Works, row: RenewalRow): Promise<void> {
  const isActive = await inOrgOf(works, row, (db) => store.holdActive(db, row, works.deps.now()))
  if (!isActive) return end(works, row)
  const also = async (db: Db, at: Date): Promise<void> => {
    if (!(await store.holdActive(db, row, at))) throw new Overtaken()
    await planCall(db, callOf(row), { provider: row.provider, digest: '', at })
  }
  await renewalHappens(works, row, { event: 'ask', also })
}

async function askProvider(works: Works, row: RenewalRow): Promise<RenewOutcome> {
  const at = works.deps.now()
  const renew = works.providers.get(row.provider)?.renew
  if (!renew) return { kind: 'unavailable', cause: 'not_in_the_catalogue' }
  await inOrgOf(works, row, (db) => markCall(db, callOf(row), 'sent', at))
  const { orgId, renewalId: key, instanceRef, quantity, startsAt: from } = row
  return renew({
    orgId,
    externalId: externalIdOf(row),
    instanceRef,
    quantity,
    from,
    key,
    amount: BigInt(row.amount),
    at,
  })
}

/** Waits longer each time, and ends in `event` when it has waited enough. */
async function retry(
  works: Works,
  row: RenewalRow,
  { isEnough, event, reason }: { readonly isEnough: boolean; readonly event: RenewalEvent; readonly reason: string },
): Promise<void> {
  const at = works.deps.now()
  const attempts = row.attempts + 1
  if (isEnough && nextRenewal(row.state, event))
    return renewalHappens(works, row, {
      ...{ event, reason },
      ...(event === 'unclear' && { changes: { next_at: later(at, REVIEW_MS) } }),
    })
  const next_at = later(at, row.state === 'in_review' ? REVIEW_MS : backoffMs(attempts))
  return inOrgOf(works, row, (db) => store.postponeRenewal(db, row, { attempts, reason, next_at }))
}

const renewed =
  (works: Works, row: RenewalRow, endsAt: Date) =>
  async (db: Db, at: Date): Promise<void> => {
    const { orgId, instanceId, periodNo, startsAt, amount } = row
    const paid = { amount, transferId: renewalCapture(row), owner: renewalOwner(row) }
    await insertPeriod(db, { orgId, instanceId, periodNo, startsAt, endsAt, ...paid }, at)
    await store.extendInstance(db, row, endsAt)
    await markCall(db, callOf(row), 'done', at)
    await tell(works, db, row, 'license.renewed')
    await recordSystem(works.deps, db, orgId, 'licenses', {
      action: 'license.renew',
      targets: [
        { type: 'license', id: instanceId },
        { type: 'license_renewal', id: row.renewalId },
      ],
      metadata: { amount, periodEnd: endsAt.toISOString() },
    })
  }

/** Counted from where the first one began, as long as periods have kept to that; else a month from the end of the one before. */
function endOf({ anchor, startsAt, periodNo }: RenewalRow): Date {
  const hasKept = monthsAfter(anchor, periodNo - 1).getTime() === startsAt.getTime()
  return hasKept ? monthsAfter(anchor, periodNo) : monthAfter(startsAt)
}

async function settleAnswer(works: Works, row: RenewalRow, outcome: RenewOutcome): Promise<void> {
  const attempts = row.attempts + 1
  switch (outcome.kind) {
    case 'renewed': {
      const endsAt = outcome.periodEnd ?? endOf(row)
      // More than was held is not paid, nor anything for what is no month: it would be paid again as soon as it ends.
      if (outcome.amount > BigInt(row.amount))
        return retry(works, row, { isEnough: true, event: 'unclear', reason: 'provider_wrong_amount' })
      if (endsAt < later(row.startsAt, LEAST_MS))
        return retry(works, row, { isEnough: true, event: 'unclear', reason: 'provider_wrong_period' })
      return renewalHappens(works, row, { event: 'confirmed', also: renewed(works, row, endsAt) })
    }
    case 'rejected': {
      const also = (db: Db, at: Date): Promise<void> => markCall(db, callOf(row), 'done', at)
      return renewalHappens(works, row, { event: 'refused', reason: `provider_${outcome.code}`, also })
    }
    case 'unavailable': {
      const isEnough = attempts >= MOST_UNREACHABLE && works.deps.now() >= row.startsAt
      return retry(works, row, { isEnough, event: 'unreachable', reason: 'provider_unavailable' })
    }
    case 'unknown': {
      await inOrgOf(works, row, (db) => markCall(db, callOf(row), 'unknown', works.deps.now()))
      const isEnough = attempts >= MOST_UNKNOWN
      return retry(works, row, { isEnough, event: 'unclear', reason: 'provider_outcome_unknown' })
    }
  }
}

async function step(works: Works, row: RenewalRow): Promise<void> {
  switch (row.state) {
    case 'waiting':
      return fund(works, row)
    case 'reserved':
      return ask(works, row)
    case 'renewing':
    case 'in_review':
      return settleAnswer(works, row, await askProvider(works, row))
    case 'renewed':
    case 'lapsed':
      return inOrgOf(works, row, (db) => store.postponeRenewal(db, row, { next_at: null }))
  }
}

export const claimRenewalTurn: ClaimTurn = async (works, busy) => {
  const { deps, worker } = works
  const claimed = await worker.kysely.transaction().execute((db) => store.claimRenewal(db, deps.now(), LEASE_MS, busy))
  if (!claimed) return undefined
  const row = await inOrgOf(works, claimed, (db) => store.renewal(db, claimed.orgId, claimed.renewalId))
  if (!row) throw new Error('a renewal that is due is gone')
  return { provider: row.provider, take: () => unlessOvertaken(step(works, row)) }
}

export const takeRenewalTurn = takingOne(claimRenewalTurn)
