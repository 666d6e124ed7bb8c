import type { Db } from '../../db/database.ts'
import { applyTransfers } from '../../ledger/ledger.ts'
import type { CancelOutcome } from '../../licenses/provider.ts'
import { refund } from '../budgets/reserve.ts'
import { type InstanceRow, instance, setInstanceStatus } from './instance-store.ts'
import { externalIdOf } from './money.ts'
import { type PurchaseRow, purchase } from './purchase-store.ts'
import { endPeriods, type PeriodRefund, paidFor, refundsOf } from './refunds.ts'
import { isRenewing } from './renewal-store.ts'
import { tellLicense, tellTermination, whoseOf } from './tell.ts'
import { nextTermination, type TerminationEvent } from './termination-machine.ts'
import { claimTermination, moveTermination, postponeTermination, type TerminationRow } from './termination-store.ts'
import { takeBackTestCredit } from './test-credit-store.ts'
import { markCall, planCall, type TransitionRow, transitionsOf } from './transition-store.ts'
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
import { DAY_MS, endPurchase, waitAgain } from './waiting.ts'

// One step of one termination: the provider first, the money second, what we keep last.

const LEASE_MS = 60_000

interface Ending {
  readonly row: TerminationRow
  readonly license: InstanceRow
  readonly bought: PurchaseRow
}

type Changes = Parameters<typeof postponeTermination>[2]

const boughtBy = ({ orgId }: TerminationRow, { purchaseId }: InstanceRow) => ({ orgId, purchaseId })

export async function terminationHappens(
  works: Works,
  { row, license }: Pick<Ending, 'row' | 'license'>,
  { event, reason = null, changes = {} }: { event: TerminationEvent; reason?: string | null; changes?: Changes },
  also?: (db: Db, at: Date) => Promise<void>,
): Promise<void> {
  const to = nextTermination(row.state, event)
  if (!to) throw new Error(`a termination that is ${row.state} cannot be ${event}`)
  const at = works.deps.now()
  await inOrgOf(works, row, async (db) => {
    const move = { to, cause: event, actor: 'strongroom', at }
    const isMoved = await moveTermination(db, row, move, { reason, attempts: 0, next_at: at, ...changes })
    if (!isMoved) throw new Overtaken()
    if (to === 'failed' || to === 'cancel_pending') await waitAgain(works, db, boughtBy(row, license), at)
    await tellTermination(works.deps, db, row, whoseOf(license), to)
    await also?.(db, at)
  })
}

async function retry(
  works: Works,
  ending: Ending,
  { most, event, reason }: { readonly most: number; readonly event: TerminationEvent; readonly reason: string },
): Promise<void> {
  const { row } = ending
  const attempts = row.attempts + 1
  const at = works.deps.now()
  if (attempts < most || !nextTermination(row.state, event)) {
    const next_at = later(at, row.state === 'in_review' ? REVIEW_MS : backoffMs(attempts))
    return inOrgOf(works, row, (db) => postponeTermination(db, row, { attempts, reason, next_at }))
  }
  return terminationHappens(works, ending, {
    event,
    reason,
    changes: { next_at: event === 'unclear' ? later(at, REVIEW_MS) : null },
  })
}

export const cancelCallOf = ({ orgId, terminationId }: TerminationRow) =>
  ({ orgId, objectId: terminationId, op: 'cancel' }) as const

/**
 * The same for every try, and another one for another request: where the end of the period is asked for instead, and where it is resumed. Under
 * the key before it was refused or never asked for, which a provider may answer for ever.
 */
function keyOf({ terminationId, effective, asked }: TerminationRow, steps: readonly TransitionRow[]): string {
  const round = 1 + steps.filter(({ cause }) => cause === 'resumed').length
  const key = round === 1 ? terminationId : `${terminationId}-${round}`
  return effective === asked ? key : `${key}-end`
}

async function askProvider(works: Works, ending: Ending): Promise<CancelOutcome> {
  const { row, license, bought } = ending
  const at = works.deps.now()
  const key = await inOrgOf(works, row, async (db) => {
    await markCall(db, cancelCallOf(row), 'sent', at)
    return keyOf(row, await transitionsOf(db, row.orgId, row.terminationId))
  })
  const provider = works.providers.get(license.provider)
  if (!provider) return { kind: 'unavailable', cause: 'not_in_the_catalogue' }
  const { orgId, effective } = row
  const { instanceRef, periodEnd } = license
  return provider.cancel({ orgId, externalId: externalIdOf(bought), instanceRef, effective, periodEnd, key, at })
}

const earlier = (at: Date, end: Date | null): Date => (end !== null && end < at ? end : at)
/** Nothing ends before its end was asked for: the days until then were used, whatever a provider says. */
const sinceAsked = (at: Date, { createdAt }: TerminationRow): Date => (at > createdAt ? at : createdAt)

type Said<K extends CancelOutcome['kind']> = CancelOutcome & { readonly kind: K }

const callDone = (row: TerminationRow) => (db: Db, at: Date) => markCall(db, cancelCallOf(row), 'done', at)

async function cancelled(
  works: Works,
  ending: Ending,
  { refundable, effectiveAt: said }: Said<'cancelled'>,
): Promise<void> {
  const { row, license } = ending
  // It has not ended there yet, whatever it is called: who has paid for the days until then keeps them.
  const isToCome = said > later(works.deps.now(), DAY_MS)
  if (isToCome && refundable === null) return scheduled(works, ending, { kind: 'scheduled', effectiveAt: said })
  const effectiveAt = isToCome ? earlier(said, license.periodEnd) : sinceAsked(said, row)
  // Nobody is given back more than was paid on the word of a provider: for the periods that ran when it ended, also if they are over by now.
  const paid = await inOrgOf(works, row, (db) => paidFor(db, row, effectiveAt))
  if (refundable !== null && refundable > paid)
    return retry(works, ending, { most: 0, event: 'unclear', reason: 'provider_wrong_amount' })
  const changes = { refundable: refundable?.toString() ?? null, effective_at: effectiveAt }
  if (!isToCome) return terminationHappens(works, ending, { event: 'cancelled', changes }, callDone(row))
  const then = { ...changes, effective: 'period_end', next_at: effectiveAt }
  return terminationHappens(works, ending, { event: 'scheduled', changes: then }, callDone(row))
}

async function scheduled(works: Works, ending: Ending, { effectiveAt: said }: Said<'scheduled'>): Promise<void> {
  const { row, license } = ending
  // What is to come cannot lie before it was asked for, but for clocks that differ: a human finds out what was meant.
  if (said < later(row.createdAt, -DAY_MS))
    return retry(works, ending, { most: 0, event: 'unclear', reason: 'provider_wrong_date' })
  // Nobody has paid for longer than the period, and nobody pays for the next.
  const effectiveAt = earlier(sinceAsked(said, row), license.periodEnd)
  const changes = { effective: 'period_end', effective_at: effectiveAt, next_at: effectiveAt }
  return terminationHappens(works, ending, { event: 'scheduled', changes }, callDone(row))
}

async function settleAnswer(works: Works, ending: Ending, outcome: CancelOutcome): Promise<void> {
  const { row } = ending
  switch (outcome.kind) {
    case 'cancelled':
      return cancelled(works, ending, outcome)
    case 'scheduled':
      return scheduled(works, ending, outcome)
    case 'refused':
      return refused(works, ending, outcome)
    case 'unavailable':
      return retry(works, ending, { most: MOST_UNREACHABLE, event: 'unreachable', reason: 'provider_unavailable' })
    case 'unknown':
      await inOrgOf(works, row, (db) => markCall(db, cancelCallOf(row), 'unknown', works.deps.now()))
      return retry(works, ending, { most: MOST_UNKNOWN, event: 'unclear', reason: 'provider_outcome_unknown' })
  }
}

/** Not now: with the end of the period, if that was said to do as well; otherwise it stops here. */
async function refused(works: Works, ending: Ending, { earliestAt }: Said<'refused'>): Promise<void> {
  const { row, license } = ending
  if (row.fallback === 'period_end' && row.effective === 'immediate') {
    const at = works.deps.now()
    const changes = { effective: 'period_end', attempts: 0, earliest_at: earliestAt, next_at: at }
    return inOrgOf(works, row, async (db) => {
      await postponeTermination(db, row, changes)
      await waitAgain(works, db, boughtBy(row, license), at)
    })
  }
  if (!nextTermination(row.state, 'refused'))
    return retry(works, ending, { most: MOST_UNKNOWN, event: 'unclear', reason: 'provider_cancel_refused' })
  const changes = { earliest_at: earliestAt, next_at: null }
  return terminationHappens(works, ending, { event: 'refused', reason: 'provider_cancel_refused', changes })
}

async function moveRefunds({ row, license }: Ending, db: Db, backs: readonly PeriodRefund[], at: Date): Promise<void> {
  const { orgId, terminationId } = row
  const legs = { phase: 'single', dr: `payable:${license.provider}`, cr: 'credit' } as const
  const about = {
    group: `refund:${terminationId}`,
    code: 'refund',
    refType: 'license_termination',
    refId: terminationId,
  }
  const given = backs.filter(({ amount }) => amount > 0n)
  const transfers = given.map(({ amount, transferId: id }) => ({
    ...about,
    ...legs,
    code: 'refund' as const,
    id,
    amount,
  }))
  if (transfers.length > 0) await applyTransfers(db, orgId, transfers, at)
  const back = given.reduce((sum, { amount }) => sum + amount, 0n)
  await takeBackTestCredit(db, { orgId, purchaseId: license.purchaseId }, back, at)
}

async function settle(works: Works, ending: Ending): Promise<void> {
  const { row, license } = ending
  const { orgId, terminationId, instanceId } = row
  const { deps } = works
  const at = deps.now()
  await inOrgOf(works, row, async (db) => {
    const backs = await refundsOf(db, row, row.effectiveAt ?? at)
    for (const { owner, amount } of backs)
      if (amount > 0n) await refund(db, orgId, { owner, name: terminationId, amount }, at)
    const back = backs.reduce((sum, { amount }) => sum + amount, 0n)
    // One that has ended with its period meanwhile stays as it is: only its money is settled.
    const isEnded = await setInstanceStatus(db, orgId, instanceId, ['active', 'terminating'], 'terminated', at)
    await endPurchase(works, db, ending.bought, at)
    const move = { to: 'completed', cause: 'settled', actor: 'strongroom', at } as const
    const isMoved = await moveTermination(db, row, move, { refund: back.toString(), reason: null, next_at: null })
    if (!isMoved) throw new Overtaken()
    await tellTermination(deps, db, row, whoseOf(license), 'completed')
    const about = { orgId, ...whoseOf(license), id: instanceId, status: 'terminated' }
    if (isEnded) await tellLicense(deps, db, about, 'license.terminated')
    await endPeriods(deps, db, row, backs, row.effectiveAt ?? at)
    await moveRefunds(ending, db, backs, at)
  })
}

async function endingOf(works: Works, row: TerminationRow): Promise<Ending> {
  return inOrgOf(works, row, async (db) => {
    const license = await instance(db, row.orgId, row.instanceId)
    const bought = license && (await purchase(db, row.orgId, license.purchaseId))
    if (!license || !bought) throw new Error('a licence that is being ended is gone')
    return { row, license, bought }
  })
}

const waitForRenewal = (works: Works, row: TerminationRow): Promise<void> => {
  const attempts = row.attempts + 1
  const next_at = later(works.deps.now(), backoffMs(attempts))
  return inOrgOf(works, row, (db) => postponeTermination(db, row, { attempts, reason: 'renewal_in_progress', next_at }))
}

async function step(works: Works, ending: Ending): Promise<void> {
  const { row, license } = ending
  switch (row.state) {
    case 'requested': {
      // What was begun for the next period ends first: only then is it known what is given back.
      if (await inOrgOf(works, row, (db) => isRenewing(db, row.orgId, row.instanceId)))
        return waitForRenewal(works, row)
      const plan = (db: Db, at: Date): Promise<void> =>
        planCall(db, cancelCallOf(row), { provider: license.provider, digest: '', at })
      return terminationHappens(works, ending, { event: 'ask' }, plan)
    }
    case 'cancelling':
    case 'in_review':
      return settleAnswer(works, ending, await askProvider(works, ending))
    case 'cancel_pending':
      return terminationHappens(works, ending, { event: 'due' })
    case 'settling':
      return settle(works, ending)
    case 'completed':
    case 'failed':
      return inOrgOf(works, row, (db) => postponeTermination(db, row, { next_at: null }))
  }
}

export const claimTerminationTurn: ClaimTurn = async (works, busy) => {
  const { deps, worker } = works
  const row = await worker.kysely.transaction().execute((db) => claimTermination(db, deps.now(), LEASE_MS, busy))
  if (!row) return undefined
  const ending = await endingOf(works, row)
  return { provider: ending.license.provider, take: () => unlessOvertaken(step(works, ending)) }
}

export const takeTerminationTurn = takingOne(claimTerminationTurn)
