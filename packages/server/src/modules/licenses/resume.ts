import type { licenses } from '@strongroom/contract'
import type { Signer } from '@strongroom/protocol'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { provisioningKey } from '../../licenses/sealer.ts'
import { keyIn } from '../../log/signers.ts'
import { tellingExceeded } from '../../outbox/budget-events.ts'
import { keyMissing } from './buyer.ts'
import { externalIdOf, hold, promise } from './money.ts'
import { openPurchase } from './open.ts'
import { nextPurchase, resumedAt } from './purchase-machine.ts'
import { buyerOf, dropSealed, movePurchase, type PurchaseRow } from './purchase-store.ts'
import { isForTaking, isResumable, showPurchase } from './show.ts'
import { tellPurchase } from './tell.ts'
import { callState } from './transition-store.ts'

/** The key is opened for who is shown what waits, over a connection of its own: everybody else is answered in one transaction. */
export const purchaseStatus: Handler<typeof licenses.purchaseStatus> = async (ctx, { params }) => {
  const look = (provisioner?: Signer) =>
    transact(ctx, async (ctx) => {
      const row = await openPurchase(ctx, params.purchaseId)
      if (!provisioner && isForTaking(ctx, row)) return undefined
      const shown = await showPurchase(ctx, row, provisioner)
      if (shown.handoff)
        await record(ctx, {
          action: 'license.handoff.read',
          targets: [{ type: 'license_purchase', id: params.purchaseId }],
        })
      return shown
    })
  return (await look()) ?? found(await look(await provisioningKey(ctx)), 'purchase_not_found')
}

function ensureResumable(row: PurchaseRow, now: Date): void {
  if (!nextPurchase(row.state, 'resumed'))
    throw new ApiError('purchase_not_resumable', { details: { status: row.state } })
  if (!isResumable(row, now)) throw new ApiError('resume_window_expired')
}

/** Somebody else was first; what was begun here is undone. */
class Overtaken extends Error {}

/** A round that was given back is paid anew, at the price of then while that holds. */
async function goOn(ctx: TxCtx, row: PurchaseRow): Promise<void> {
  const { db } = ctx
  const isHeld = row.money === 'held'
  const at = ctx.now()
  if (!isHeld && row.quoteValidUntil <= at) throw new ApiError('quote_expired')
  const call = await callState(db, { orgId: row.orgId, objectId: externalIdOf(row), op: 'order' })
  const to = resumedAt({ isHeld, call, hasProviderRef: row.providerRef !== null })
  const priced = isHeld ? row : { ...row, holdNo: row.holdNo + 1 }
  if (!isHeld) await promise(ctx, db, priced)
  const isMoved = await movePurchase(
    db,
    row,
    { to, cause: 'resumed', actor: ctx.principal.id, at },
    { hold_no: priced.holdNo, money: 'held', reason: null, attempts: 0, resumable_until: null, next_at: at },
  )
  if (!isMoved) throw new Overtaken()
  await tellPurchase(ctx, db, row, to, 'license.purchase.resumed')
  await record(ctx, { action: 'license.purchase.resume', targets: [{ type: 'license_purchase', id: row.purchaseId }] })
  if (!isHeld) await hold(ctx, db, priced)
}

/**
 * What waits was sealed to a key that the buyer no longer has. It cannot be opened here, so it is thrown away, and the provider is asked
 * for it again.
 */
async function sealAnew(ctx: TxCtx, row: PurchaseRow): Promise<void> {
  const { db, principal } = ctx
  const next = nextPurchase(row.state, 'resealing')
  if (!next || row.principal !== principal.id)
    throw new ApiError('handoff_not_ready', { details: { status: row.state } })
  const { kid, record: keyRecord } = await buyerOf(db, row.orgId, row.tenantId, row.principal)
  if (kid === null || keyRecord === null) throw keyMissing(ctx)
  if (kid === row.recipientKid) return
  const at = ctx.now()
  const changes = {
    recipient_kid: kid,
    recipient_key: JSON.stringify(keyIn(keyRecord, kid).bundle),
    attempts: 0,
    next_at: at,
  }
  const isMoved = await movePurchase(db, row, { to: next.to, cause: 'resealing', actor: principal.id, at }, changes)
  if (!isMoved) throw new Overtaken()
  await dropSealed(db, row.orgId, row.purchaseId)
  await record(ctx, { action: 'license.handoff.reseal', targets: [{ type: 'license_purchase', id: row.purchaseId }] })
}

export const resumePurchase: Handler<typeof licenses.resumePurchase> = async (ctx, { params, query }) => {
  const provisioner = await provisioningKey(ctx)
  const shownNow = async (ctx: TxCtx) => showPurchase(ctx, await openPurchase(ctx, params.purchaseId), provisioner)
  try {
    return await tellingExceeded(ctx, () =>
      transact(ctx, async (ctx) => {
        const row = await openPurchase(ctx, params.purchaseId)
        if (query.reseal) {
          await sealAnew(ctx, row)
          return shownNow(ctx)
        }
        ensureResumable(row, ctx.now())
        await goOn(ctx, row)
        return shownNow(ctx)
      }),
    )
  } catch (error) {
    // Two at once: one has resumed it, and both are told how it is now.
    if (error instanceof Overtaken) return transact(ctx, shownNow)
    throw error
  }
}
