import { createHash } from 'node:crypto'
import { checkKey } from '@strongroom/protocol'
import type { Db } from '../../db/database.ts'
import type { LicenseOrder, LicenseProvider, OrderOutcome } from '../../licenses/provider.ts'
import { destinationOf } from '../../licenses/sealer.ts'
import { deliver, periodOf } from './delivery.ts'
import { capture, externalIdOf, release, settlePromise } from './money.ts'
import { nextPurchase, type PurchaseEvent } from './purchase-machine.ts'
import {
  claimPurchase,
  lockPurchase,
  movePurchase,
  type PurchaseRow,
  postponePurchase,
  putSealed,
  sealedOf,
} from './purchase-store.ts'
import { tellPurchase } from './tell.ts'
import { callState, markCall, planCall } from './transition-store.ts'
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
import { DAY_MS, reminderAt } from './waiting.ts'

// One step of one purchase. Before anybody outside is asked, it is written down that they will be; afterwards, what came of it. Whoever
// dies in between leaves a lease that runs out, and the next one finds the same evidence.

const LEASE_MS = 60_000
const RESUME_MS = 7 * DAY_MS

type Changes = Parameters<typeof postponePurchase>[2]

interface Happened {
  readonly event: PurchaseEvent
  readonly reason?: string
  readonly changes?: Changes
  /** In the transaction, after the state has changed. */
  readonly also?: (db: Db, at: Date) => Promise<void>
}

/** Changes the state, the money and everything told of it, in one transaction and in the order of locks. */
export async function happen(works: Works, row: PurchaseRow, happened: Happened): Promise<void> {
  const { deps } = works
  const { event, reason = null, changes = {}, also } = happened
  const step = nextPurchase(row.state, event)
  if (!step) throw new Error(`a purchase that is ${row.state} cannot be ${event}`)
  const at = deps.now()
  if (step.money === 'capture' && row.money !== 'held') throw new Error('what is not held cannot be taken')
  // What is held no more needs no release.
  const money = row.money === 'held' ? step.money : 'none'
  await inOrgOf(works, row, async (db) => {
    if (money !== 'none') await settlePromise(deps, db, row, money === 'capture' ? BigInt(row.amount) : 0n)
    const ended = { capture: { money: 'captured' }, release: { money: 'released' }, none: {} } as const
    const move = { to: step.to, cause: event, actor: 'strongroom', at }
    const isMoved = await movePurchase(db, row, move, { reason, attempts: 0, next_at: at, ...ended[money], ...changes })
    if (!isMoved) throw new Overtaken()
    await also?.(db, at)
    await tellPurchase(deps, db, row, step.to)
    if (money === 'capture') await capture(deps, db, row)
    if (money === 'release') await release(deps, db, row)
  })
}

const postpone = (works: Works, row: PurchaseRow, changes: Changes): Promise<void> =>
  inOrgOf(works, row, (db) => postponePurchase(db, row, changes))

export const orderOf = (row: PurchaseRow): LicenseOrder => ({
  orgId: row.orgId,
  purchaseId: row.purchaseId,
  externalId: externalIdOf(row),
  instanceId: row.instanceId,
  sku: row.sku,
  quantity: row.quantity,
  term: row.term,
  amount: BigInt(row.amount),
  orderedAt: row.createdAt,
  recipient: checkKey(row.recipientKid, row.recipientKey),
  destination: destinationOf(row),
  fields: row.fields,
})

const callOf = (row: PurchaseRow, op: 'order' | 'cancel') => ({ orgId: row.orgId, objectId: externalIdOf(row), op })

async function beginOrder(works: Works, row: PurchaseRow): Promise<void> {
  const { externalId, sku, quantity, amount } = orderOf(row)
  const digest = createHash('sha256')
    .update(JSON.stringify([externalId, sku, quantity, String(amount)]))
    .digest('hex')
  await happen(works, row, {
    event: 'order',
    also: (db, at) => planCall(db, callOf(row, 'order'), { provider: row.provider, digest, at }),
  })
}

/** An order that may be there already is looked for first. */
async function placeOrder(works: Works, row: PurchaseRow, provider: LicenseProvider): Promise<OrderOutcome> {
  const order = orderOf(row)
  const name = callOf(row, 'order')
  const wasSent = await inOrgOf(works, row, async (db) => {
    const state = await callState(db, name)
    await markCall(db, name, 'sent', works.deps.now())
    return state !== 'planned'
  })
  if (wasSent && provider.capabilities.lookupByExternalId) {
    const known = await provider.getOrder(order)
    if (known.kind !== 'not_found') return known
  }
  return provider.order(order)
}

async function lookUp(row: PurchaseRow, provider: LicenseProvider): Promise<OrderOutcome> {
  const known = await provider.getOrder(orderOf(row))
  return known.kind === 'not_found' ? { kind: 'unknown', cause: 'order_lost' } : known
}

/** More than was held is not paid, nor what is over already. What was delivered for that a human finds out; the money stays held. */
async function confirm(
  works: Works,
  row: PurchaseRow,
  outcome: OrderOutcome & { readonly kind: 'active' },
): Promise<void> {
  const at = works.deps.now()
  const { instanceRef, sealed } = outcome
  if (outcome.amount > BigInt(row.amount)) return unclear(works, row, 'provider_wrong_amount')
  const period = periodOf(row, outcome, at)
  if (!period) return unclear(works, row, 'provider_wrong_period')
  const next_at = reminderAt({ reminders: 0 }, at)
  const changes = { instance_ref: instanceRef, sealing: sealed.sealing, next_at }
  const also = async (db: Db, at: Date): Promise<void> => {
    await deliver(works.deps, db, row, { instanceRef, sealed, period }, at)
    await markCall(db, callOf(row, 'order'), 'done', at, instanceRef)
  }
  return happen(works, row, { event: 'confirmed', changes, also })
}

async function unclear(works: Works, row: PurchaseRow, reason: string): Promise<void> {
  const next_at = later(works.deps.now(), REVIEW_MS)
  if (!nextPurchase(row.state, 'unclear')) return postpone(works, row, { reason, next_at })
  return happen(works, row, { event: 'unclear', reason, changes: { next_at } })
}

/** It is not the first time: waits longer each time, and ends in `event` when it has waited enough. */
async function retry(
  works: Works,
  row: PurchaseRow,
  { most, event, reason }: { readonly most: number; readonly event: PurchaseEvent; readonly reason: string },
): Promise<void> {
  const attempts = row.attempts + 1
  const at = works.deps.now()
  if (attempts < most || !nextPurchase(row.state, event))
    return postpone(works, row, { attempts, reason, next_at: later(at, backoffMs(attempts)) })
  const until = event === 'unreachable' ? later(at, RESUME_MS) : null
  const due = until ?? later(at, REVIEW_MS)
  return happen(works, row, { event, reason, changes: { resumable_until: until, next_at: due } })
}

/** What the provider has said becomes what we keep. */
export async function settleOrder(works: Works, row: PurchaseRow, outcome: OrderOutcome): Promise<void> {
  const at = works.deps.now()
  switch (outcome.kind) {
    case 'active':
      return confirm(works, row, outcome)
    case 'pending': {
      const next_at = later(at, outcome.pollAfterMs)
      const { providerRef } = outcome
      if (!nextPurchase(row.state, 'accepted')) return postpone(works, row, { attempts: 0, next_at })
      const also = (db: Db): Promise<void> => markCall(db, callOf(row, 'order'), 'sent', at, providerRef)
      return happen(works, row, { event: 'accepted', changes: { provider_ref: providerRef, next_at }, also })
    }
    case 'rejected': {
      const until = later(at, RESUME_MS)
      const changes = { resumable_until: until, next_at: until, provider_ref: null }
      const also = (db: Db): Promise<void> => markCall(db, callOf(row, 'order'), 'done', at)
      return happen(works, row, { event: 'refused', reason: `provider_${outcome.code}`, changes, also })
    }
    case 'unavailable':
      return retry(works, row, { most: MOST_UNREACHABLE, event: 'unreachable', reason: 'provider_unavailable' })
    case 'unknown':
      await inOrgOf(works, row, (db) => markCall(db, callOf(row, 'order'), 'unknown', at))
      return retry(works, row, { most: MOST_UNKNOWN, event: 'unclear', reason: 'provider_outcome_unknown' })
  }
}

/** By the word of the provider about the order itself, and by nothing less. */
async function hasNothing(row: PurchaseRow, provider: LicenseProvider | undefined): Promise<boolean> {
  if (!provider?.capabilities.lookupByExternalId) return false
  const { kind } = await provider.getOrder(orderOf(row))
  return kind === 'not_found' || kind === 'rejected'
}

/** Nothing comes of it: what the provider may have of it is cancelled, then the money is free. */
async function undo(works: Works, row: PurchaseRow): Promise<void> {
  const name = callOf(row, 'order')
  const state = await inOrgOf(works, row, (db) => callState(db, name))
  const nothingThere = state === undefined || state === 'planned' || row.money === 'released'
  const done: Happened = { event: 'undone', changes: { next_at: null } }
  if (nothingThere) return happen(works, row, done)
  const provider = works.providers.get(row.provider)
  if (await hasNothing(row, provider)) return happen(works, row, done)
  const at = works.deps.now()
  const asked = { orgId: row.orgId, externalId: externalIdOf(row), instanceRef: row.instanceRef, periodEnd: null, at }
  await inOrgOf(works, row, async (db) => {
    await planCall(db, callOf(row, 'cancel'), { provider: row.provider, digest: '', at })
    await markCall(db, callOf(row, 'cancel'), 'sent', at)
  })
  const outcome = await provider?.cancel({ ...asked, effective: 'immediate', key: `undo-${externalIdOf(row)}` })
  if (outcome?.kind === 'cancelled') return happen(works, row, done)
  const reason = outcome?.kind === 'refused' ? 'provider_cancel_refused' : 'provider_cancel_unclear'
  return retry(works, row, { most: MOST_UNKNOWN, event: 'unclear', reason })
}

const whyNotSealed = (outcome: OrderOutcome | { readonly kind: 'not_found' } | undefined): string => {
  if (outcome?.kind === 'rejected') return `provider_${outcome.code}`
  return !outcome || outcome.kind === 'unavailable' ? 'provider_unavailable' : 'provider_outcome_unknown'
}

/**
 * Nothing is sealed: the buyer has another key. The order is there, so it is asked for once more and not placed anew. What the provider does not
 * give again for long enough waits for a human, who can ask it.
 */
async function sealAnew(works: Works, row: PurchaseRow): Promise<void> {
  const outcome = await works.providers.get(row.provider)?.getOrder(orderOf(row))
  const at = works.deps.now()
  const attempts = row.attempts + 1
  if (outcome?.kind !== 'active') {
    const next_at = later(at, attempts < MOST_UNKNOWN ? backoffMs(attempts) : REVIEW_MS)
    return postpone(works, row, { attempts, reason: whyNotSealed(outcome), next_at })
  }
  await inOrgOf(works, row, async (db) => {
    const known = await lockPurchase(db, row.orgId, row.purchaseId)
    if (known?.version !== row.version) throw new Overtaken()
    await putSealed(db, row, outcome.sealed, at)
    const next_at = reminderAt(row, at)
    await postponePurchase(db, row, { attempts: 0, reason: null, sealing: outcome.sealed.sealing, next_at })
  })
}

async function wait(works: Works, row: PurchaseRow): Promise<void> {
  const sealed = await inOrgOf(works, row, (db) => sealedOf(db, row.orgId, row.purchaseId))
  return sealed ? remind(works, row) : sealAnew(works, row)
}

async function remind(works: Works, row: PurchaseRow): Promise<void> {
  const reminders = row.reminders + 1
  const next_at = reminderAt({ reminders }, row.updatedAt)
  await inOrgOf(works, row, async (db) => {
    await postponePurchase(db, row, { reminders, next_at })
    await tellPurchase(works.deps, db, row, row.state, 'license.purchase.handoff_reminder')
  })
}

async function step(works: Works, row: PurchaseRow): Promise<void> {
  const provider = works.providers.get(row.provider)
  const missing = { kind: 'unavailable', cause: 'not_in_the_catalogue' } as const
  switch (row.state) {
    case 'reserved':
      return beginOrder(works, row)
    case 'provisioning':
      return settleOrder(works, row, provider ? await placeOrder(works, row, provider) : missing)
    case 'provider_pending':
    case 'in_review':
      return settleOrder(works, row, provider ? await lookUp(row, provider) : missing)
    case 'awaiting_handoff':
      return wait(works, row)
    case 'failed':
      return happen(works, row, {
        event: 'given_up',
        reason: row.reason ?? 'given_up',
        changes: { resumable_until: null },
      })
    case 'compensating':
      return undo(works, row)
    case 'completed':
    case 'cancelled':
      return postpone(works, row, { next_at: null })
  }
}

export const claimPurchaseTurn: ClaimTurn = async (works, busy) => {
  const { deps, worker } = works
  const row = await worker.kysely.transaction().execute((db) => claimPurchase(db, deps.now(), LEASE_MS, busy))
  return row && { provider: row.provider, take: () => unlessOvertaken(step(works, row)) }
}

export const takePurchaseTurn = takingOne(claimPurchaseTurn)
