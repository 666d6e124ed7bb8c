import { sql } from 'kysely'
import { inOrg } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { isForReview } from './for-review.ts'
import { type InstanceRow, instance } from './instance-store.ts'
import { nextPurchase } from './purchase-machine.ts'
import { type PurchaseRow, purchase } from './purchase-store.ts'
import { happen } from './purchase-turn.ts'
import { paidFor } from './refunds.ts'
import { nextRenewal } from './renewal-machine.ts'
import { renewal } from './renewal-store.ts'
import { renewalHappens } from './renewal-turn.ts'
import { nextTermination } from './termination-machine.ts'
import { type TerminationRow, termination } from './termination-store.ts'
import { cancelCallOf, terminationHappens } from './termination-turn.ts'
import { markCall } from './transition-store.ts'
import { MOST_UNKNOWN, Overtaken, type Works } from './turns.ts'

// What waits for a human: nobody could find out what a provider has done, or it has not cancelled what was given up.

export interface InReview {
  readonly kind: 'purchase' | 'renewal' | 'termination'
  /** Of the purchase, the renewal or the termination: what is decided about. */
  readonly purchaseId: string
  readonly name: string
  readonly provider: string
  /** In micro-units: what is held, or the most that can come back. */
  readonly amount: string
  readonly reason: string | null
  readonly since: Date
}

/** Purchases, renewals and terminations, the oldest first. */
export async function waitingForReview(db: Db, orgId: string): Promise<readonly InReview[]> {
  const { rows } = await sql<InReview>`
    select 'purchase' as kind, purchase_id as "purchaseId", name, provider, amount::text as amount, reason, updated_at as since
    from license_purchase where org_id = ${orgId} and ${isForReview}
    union all
    select 'renewal', r.renewal_id, i.name, i.provider, r.amount::text, r.reason, r.updated_at
    from license_renewal r join license_instance i on i.org_id = r.org_id and i.instance_id = r.instance_id
    where r.org_id = ${orgId} and r.state = 'in_review'
    union all
    select 'termination', t.termination_id, i.name, i.provider, (
        select coalesce(sum(p.amount), 0)::text from license_period p
        where p.org_id = t.org_id and p.instance_id = t.instance_id and (p.ends_at is null or p.ends_at > t.created_at)),
      t.reason, t.updated_at
    from license_termination t join license_instance i on i.org_id = t.org_id and i.instance_id = t.instance_id
    where t.org_id = ${orgId} and t.state = 'in_review'
    order by since, "purchaseId"`.execute(db)
  return rows
}

/** The licence of a purchase that was delivered, and waits to be handed over; undefined if it is another one. */
export async function deliveredBy(db: Db, orgId: string, purchaseId: string): Promise<string | undefined> {
  const row = await purchase(db, orgId, purchaseId)
  return row?.state === 'awaiting_handoff' && row.attempts >= MOST_UNKNOWN ? row.instanceId : undefined
}

/** In the transaction of the decision. */
type Also = (db: Db) => Promise<void>

/** False where the server has found out in this very moment: nothing is left to decide. */
async function unlessOvertaken(deciding: Promise<void>): Promise<boolean> {
  try {
    await deciding
    return true
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error
    return false
  }
}

/** It could not be cancelled either, for long enough. Captured money is none of it: that waits for a termination. */
const staysUnclear = ({ state, money, attempts }: PurchaseRow): boolean =>
  state === 'compensating' && money === 'held' && attempts >= MOST_UNKNOWN

/**
 * What a human decides about a purchase that nobody could find out about: nothing comes of it. What the provider may have is cancelled by
 * the next turns, and only then is the money free; decided once more where that has stayed unclear, it is free at once. False if there is
 * nothing to decide.
 */
export async function giveUpPurchase(works: Works, orgId: string, purchaseId: string, also?: Also): Promise<boolean> {
  const row = await inOrg({ database: works.worker }, orgId, (db) => purchase(db, orgId, purchaseId))
  const waits = row && (row.state === 'in_review' || staysUnclear(row))
  const next = waits && nextPurchase(row.state, 'given_up')
  if (!next) return false
  const changes = next.to === 'cancelled' ? { next_at: null } : {}
  return unlessOvertaken(
    happen(works, row, { event: 'given_up', reason: 'given_up_by_operator', changes, ...(also && { also }) }),
  )
}

/**
 * What a human decides about a renewal: the provider has not renewed it. The money is free at once, and the licence ends with the period that
 * was paid for. False if there is nothing to decide.
 */
export async function giveUpRenewal(works: Works, orgId: string, renewalId: string, also?: Also): Promise<boolean> {
  const row = await inOrg({ database: works.worker }, orgId, (db) => renewal(db, orgId, renewalId))
  if (!row || !nextRenewal(row.state, 'given_up')) return false
  return unlessOvertaken(
    renewalHappens(works, row, { event: 'given_up', reason: 'given_up_by_operator', ...(also && { also }) }),
  )
}

interface Known {
  readonly row: TerminationRow
  readonly license: InstanceRow
}

export type Decided = 'decided' | 'nothing_to_decide' | { readonly most: bigint }

/** With nothing given back, one that was asked for the end of the period ends then, and not before. */
function endDecided({ row, license }: Known, refund: bigint, now: Date) {
  const { periodEnd } = license
  if (row.effective === 'period_end' && refund === 0n && periodEnd !== null && periodEnd > now)
    return { event: 'scheduled', changes: { effective_at: periodEnd, next_at: periodEnd } } as const
  // What comes back is for the periods that ran when its end was asked for: those may be over by now.
  return { event: 'decided', changes: { refundable: refund.toString(), effective_at: row.createdAt } } as const
}

/**
 * What a human decides about a termination: the licence ends at the provider, which gives back so much. The provider is not asked again, and
 * the next turn settles it like any other. Refuses, with the most there is, more than was paid.
 */
export async function decideTermination(
  works: Works,
  orgId: string,
  { terminationId, refund }: { readonly terminationId: string; readonly refund: bigint },
  also?: Also,
): Promise<Decided> {
  const known = await inOrg({ database: works.worker }, orgId, async (db) => {
    const row = await termination(db, orgId, terminationId)
    const license = row && (await instance(db, orgId, row.instanceId))
    return row && license && { row, license, most: await paidFor(db, row, row.createdAt) }
  })
  if (!known || !nextTermination(known.row.state, 'decided')) return 'nothing_to_decide'
  if (refund < 0n || refund > known.most) return { most: known.most }
  const isDecided = await unlessOvertaken(
    terminationHappens(works, known, endDecided(known, refund, works.deps.now()), async (db, at) => {
      await markCall(db, cancelCallOf(known.row), 'done', at)
      await also?.(db)
    }),
  )
  return isDecided ? 'decided' : 'nothing_to_decide'
}
