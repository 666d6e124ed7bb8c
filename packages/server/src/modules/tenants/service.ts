import type { Input, Tenant, tenants } from '@strongroom/contract'
import { ensureRunsTenant, runsOrg } from '../../access/roles.ts'
import { record } from '../../audit/record.ts'
import { type Principal, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { giveTenantRole } from '../users/people.ts'
import * as store from './store.ts'

/** Owners and admins see every tenant, everybody else those they have a role or their place in. */
const seenBy = (principal: Principal): store.Visible =>
  runsOrg(principal)
    ? null
    : [
        ...principal.tenantRoles.map(({ tenantId }) => tenantId),
        ...(principal.tenantId === null ? [] : [principal.tenantId]),
      ]

const show = ({ createdAt, ...tenant }: store.TenantRow): Tenant => ({ ...tenant, createdAt: createdAt.toISOString() })

/** The tenant if the caller may see it, archived or not. */
const openTenant = async ({ db, principal }: TxCtx, tenantId: string): Promise<store.TenantRow> =>
  found(await store.tenant(db, principal.orgId, seenBy(principal), tenantId), 'tenant_not_found')

/** Every one of these tenants is active, stays so in this transaction, and may be seen by the caller. */
export async function ensureTenants({ db, principal }: TxCtx, tenantIds: readonly string[]): Promise<void> {
  const wanted = [...new Set(tenantIds)]
  const seen = seenBy(principal)
  const there = await store.active(db, principal.orgId, wanted)
  if (there.length !== wanted.length || wanted.some((tenantId) => !(seen?.includes(tenantId) ?? true)))
    throw new ApiError('tenant_not_found')
}

/** Names in this tenant are given one after the other until the transaction ends. */
export const holdTenant = ({ db, principal }: TxCtx, tenantId: string): Promise<void> =>
  store.holdTenant(db, principal.orgId, tenantId)

export const list: Handler<typeof tenants.list> = (ctx, { query }) =>
  transact(ctx, async ({ db, principal }) =>
    listAnswer('data', await store.list(db, principal.orgId, seenBy(principal), query), show),
  )

export const create: Handler<typeof tenants.create> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const parentId = body.parentId ?? null
    await store.lockTree(ctx.db, orgId)
    await ensurePlace(ctx, parentId)

    const tenantId = ctx.newId('ten')
    if (!(await store.insertTenant(ctx.db, { orgId, tenantId, parentId, name: body.name, at: ctx.now() })))
      throw new ApiError('name_taken')
    // Whoever made it below their own tenant would otherwise not even see it.
    if (!runsOrg(ctx.principal) && ctx.principal.userId !== null)
      await giveTenantRole(ctx.db, { orgId, userId: ctx.principal.userId }, { tenantId, role: 'TENANT_ADMIN' })
    await record(ctx, {
      action: 'tenant.create',
      targets: [{ type: 'tenant', id: tenantId }],
      metadata: { name: body.name, parentId },
    })
    return show(await openAny(ctx, tenantId))
  })

/** May the caller put a tenant there? At the top of the organisation only those who run all of it. */
async function ensurePlace(ctx: TxCtx, parentId: string | null): Promise<void> {
  if (parentId === null) {
    if (!runsOrg(ctx.principal)) throw new ApiError('role_required', { details: { role: 'ORG_ADMIN' } })
    return
  }
  await ensureTenants(ctx, [parentId])
  ensureRunsTenant(ctx.principal, parentId)
}

const openAny = async ({ db, principal }: TxCtx, tenantId: string): Promise<store.TenantRow> =>
  found(await store.tenant(db, principal.orgId, null, tenantId), 'tenant_not_found')

export const update: Handler<typeof tenants.update> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    await store.lockTree(ctx.db, orgId)
    const before = await openTenant(ctx, params.id)
    ensureRunsTenant(ctx.principal, before.tenantId)
    if (before.status === 'archived') throw new ApiError('tenant_archived')

    const after = {
      ...before,
      name: body.name ?? before.name,
      parentId: body.parentId === undefined ? before.parentId : body.parentId,
      status: body.status ?? before.status,
    }
    if (after.parentId !== before.parentId) await ensureMove(ctx, before.tenantId, after.parentId)
    if (after.status === 'archived') await ensureEmpty(ctx, before.tenantId)
    else if (await store.hasSibling(ctx.db, orgId, after)) throw new ApiError('name_taken')
    await store.updateTenant(ctx.db, orgId, after)
    await record(ctx, {
      action: 'tenant.update',
      targets: [{ type: 'tenant', id: before.tenantId }],
      metadata: changes(body),
    })
    return show(after)
  })

const changes = ({ name, parentId, status }: Input<typeof tenants.update>['body']): Record<string, unknown> => ({
  ...(name !== undefined && { name }),
  ...(parentId !== undefined && { parentId }),
  ...(status !== undefined && { status }),
})

async function ensureMove(ctx: TxCtx, tenantId: string, parentId: string | null): Promise<void> {
  await ensurePlace(ctx, parentId)
  if (parentId === null) return
  const above = await store.withAncestors(ctx.db, ctx.principal.orgId, parentId)
  if (above.includes(tenantId)) throw new ApiError('tenant_cycle')
}

async function ensureEmpty(ctx: TxCtx, tenantId: string): Promise<void> {
  const { orgId } = ctx.principal
  await store.lockTenant(ctx.db, orgId, tenantId)
  const contents = await store.contents(ctx.db, orgId, tenantId)
  if (Object.values(contents).some((count) => count > 0))
    throw new ApiError('tenant_not_empty', { details: { ...contents } })
}
