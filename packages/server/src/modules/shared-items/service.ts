import type { SharedItem, sharedItems } from '@strongroom/contract'
import { openVaultOf } from '../../access/vaults.ts'
import { record, recordFor } from '../../audit/record.ts'
import { outsideOrgs, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler, PublicHandler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import * as store from './store.ts'

const LONGEST_MS = 30 * 24 * 3_600_000

const ownerOf = ({ principal }: TxCtx): store.Owner => ({ orgId: principal.orgId, principal: principal.id })

const show = ({ expiresAt, createdAt, ...row }: store.SharedRow): SharedItem => ({
  ...row,
  expiresAt: expiresAt.toISOString(),
  createdAt: createdAt.toISOString(),
})

function ensureAhead(expiresAt: Date, now: Date): void {
  const aheadMs = expiresAt.getTime() - now.getTime()
  if (aheadMs > 0 && aheadMs <= LONGEST_MS) return
  const problem = aheadMs > 0 ? 'at most 30 days ahead' : 'not in the future'
  throw new ApiError('validation_failed', { details: { in: 'body', problems: [{ path: '/expiresAt', problem }] } })
}

const target = (id: string) => ({ type: 'shared-item', id })

export const create: Handler<typeof sharedItems.create> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const { sealed, maxViews, itemId = null } = body
    const at = ctx.now()
    const expiresAt = new Date(body.expiresAt)
    ensureAhead(expiresAt, at)
    if (itemId !== null) await openVaultOf(ctx, itemId)
    const sharedItemId = ctx.newId('shr')
    await store.insert(ctx.db, ownerOf(ctx), { sharedItemId, itemId, sealed, maxViews, expiresAt, at })
    await record(ctx, {
      action: 'shared-item.create',
      targets: [target(sharedItemId), ...(itemId === null ? [] : [{ type: 'item', id: itemId }])],
      metadata: { maxViews, expiresAt: expiresAt.toISOString() },
    })
    return show({ sharedItemId, itemId, status: 'active', views: 0, maxViews, expiresAt, createdAt: at })
  })

/** Nobody is known here but by the link. The view is counted and recorded before the answer leaves; lost on the way it is spent. */
export const view: PublicHandler<typeof sharedItems.view> = (deps, { params }) =>
  outsideOrgs(deps, async (db) => {
    const orgId = found(await store.findOrg(db, params.id), 'shared_item_not_found')
    const place = { orgId, sharedItemId: params.id }
    const { sealed, views, maxViews, expiresAt } = found(
      await store.hold(db, place, deps.now()),
      'shared_item_not_found',
    )
    await store.countView(db, place)
    await recordFor(
      deps,
      db,
      orgId,
      { type: 'link', id: params.id },
      {
        action: 'shared-item.view',
        targets: [target(params.id)],
        metadata: { view: views + 1 },
      },
    )
    return { sealed, viewsLeft: maxViews - views - 1, expiresAt: expiresAt.toISOString() }
  })

export const list: Handler<typeof sharedItems.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => listAnswer('data', await store.list(ctx.db, ownerOf(ctx), ctx.now(), query), show))

export const remove: Handler<typeof sharedItems.remove> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    if (!(await store.remove(ctx.db, ownerOf(ctx), params.id))) throw new ApiError('shared_item_not_found')
    await record(ctx, { action: 'shared-item.remove', targets: [target(params.id)] })
    return { sharedItemId: params.id }
  })
