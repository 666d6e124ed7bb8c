import type { User, users } from '@strongroom/contract'
import {
  changeOf,
  ensureMayGive,
  ensureOutranks,
  ensureRunsTenant,
  roleKey,
  type TenantRoleEntry,
  tenantsRunBy,
} from '../../access/roles.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { revokeKeysOf } from '../api-keys/service.ts'
import { revokeInvitesOf } from '../invites/revoke.ts'
import { endSessionsOf, personOf } from '../sessions/service.ts'
import { ensureTenants } from '../tenants/service.ts'
import { dropSecrets } from '../user-keys/secrets.ts'
import { liveKeysOf } from './live-keys.ts'
import { ensureQuorumLeft } from './quorum-left.ts'
import * as store from './store.ts'

const sightOf = (ctx: TxCtx): store.Sight => ({ ...personOf(ctx), tenantIds: tenantsRunBy(ctx.principal) })

/** A row as the caller may see it: of others, roles in tenants the caller administers and no others. */
function showTo(ctx: TxCtx): (row: store.UserRow) => User {
  const run = tenantsRunBy(ctx.principal)
  return ({ createdAt, tenantRoles, ...user }) => ({
    ...user,
    tenantRoles:
      run === null || user.userId === ctx.principal.userId
        ? tenantRoles
        : tenantRoles.filter(({ tenantId }) => run.includes(tenantId)),
    createdAt: createdAt.toISOString(),
  })
}

const openUser = async (ctx: TxCtx, userId: string): Promise<store.UserRow> =>
  found(await store.user(ctx.db, sightOf(ctx), userId), 'user_not_found')

/** All of these people are there and may be seen by the caller. */
export async function ensureUsers(ctx: TxCtx, userIds: readonly string[]): Promise<void> {
  for (const userId of userIds) await openUser(ctx, userId)
}

/** Somebody the caller may change; nobody else changes them until the transaction ends. */
async function openManaged(ctx: TxCtx, userId: string): Promise<store.UserRow> {
  await store.lockUser(ctx.db, { orgId: ctx.principal.orgId, userId })
  const user = await openUser(ctx, userId)
  ensureRunsTenant(ctx.principal, user.tenantId)
  ensureOutranks(ctx.principal, user)
  return user
}

export const list: Handler<typeof users.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => listAnswer('users', await store.list(ctx.db, sightOf(ctx), query), showTo(ctx)))

export const get: Handler<typeof users.get> = (ctx, { params }) =>
  transact(ctx, async (ctx) => showTo(ctx)(await openUser(ctx, params.id)))

export const update: Handler<typeof users.update> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const user = params.id === ctx.principal.userId ? await openUser(ctx, params.id) : await openManaged(ctx, params.id)
    await store.rename(ctx.db, { orgId: ctx.principal.orgId, userId: user.userId }, body.name)
    await record(ctx, {
      action: 'user.update',
      targets: [{ type: 'user', id: user.userId }],
      metadata: { name: body.name },
    })
    return showTo(ctx)({ ...user, name: body.name })
  })

export const remove: Handler<typeof users.remove> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const owners = await store.lockOwners(ctx.db, orgId)
    const { userId } = await openManaged(ctx, params.id)
    ensureOwnerLeft(owners, userId)
    await ensureQuorumLeft(ctx.db, { orgId, userId }, () => store.othersThan(ctx.db, { orgId, userId }))

    await store.remove(ctx.db, { orgId, userId })
    await revokeInvitesOf(ctx.db, { orgId, userId })
    await dropSecrets(ctx.db, { orgId, userId })
    await endSessionsOf(ctx, ctx.db, orgId, [userId])
    await revokeKeysOf(ctx, orgId, { userId })
    const liveKeys = await liveKeysOf(ctx.db, orgId, `user:${userId}`)
    await record(ctx, { action: 'user.remove', targets: [{ type: 'user', id: userId }], metadata: { liveKeys } })
    return { userId, status: 'removed' as const, liveKeys }
  })

/** An organisation without an owner could never get one again. The owners are locked, so two can not leave at once. */
function ensureOwnerLeft(owners: readonly string[], leaving: string): void {
  if (owners.length === 1 && owners[0] === leaving) throw new ApiError('last_owner')
}

export const setOrgRoles: Handler<typeof users.setOrgRoles> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const owners = await store.lockOwners(ctx.db, orgId)
    await store.lockUser(ctx.db, { orgId, userId: params.id })
    const user = await openUser(ctx, params.id)
    const { added, removed } = changeOf(user.orgRoles, body.orgRoles, (role) => role)
    ensureMayGive(ctx.principal, { orgRoles: [...added, ...removed] })
    if (removed.includes('ORG_OWNER')) ensureOwnerLeft(owners, user.userId)

    await store.setOrgRoles(ctx.db, { orgId, userId: user.userId }, body.orgRoles)
    if (removed.length > 0) await endSessionsOf(ctx, ctx.db, orgId, [user.userId])
    await record(ctx, {
      action: 'user.set-org-roles',
      targets: [{ type: 'user', id: user.userId }],
      metadata: { added, removed },
    })
    return showTo(ctx)({ ...user, orgRoles: body.orgRoles })
  })

const byKey = (one: TenantRoleEntry, other: TenantRoleEntry): number => (roleKey(one) < roleKey(other) ? -1 : 1)

export const setTenantRoles: Handler<typeof users.setTenantRoles> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const owner = { orgId: ctx.principal.orgId, userId: params.id }
    await store.lockUser(ctx.db, owner)
    const before = await openUser(ctx, params.id)
    const run = tenantsRunBy(ctx.principal)
    // Roles in tenants the caller does not run are not shown to the caller, and stay.
    const replaced =
      run === null ? before.tenantRoles : before.tenantRoles.filter(({ tenantId }) => run.includes(tenantId))
    const { added, removed } = changeOf(replaced, body.tenantRoles, roleKey)
    await ensureTenants(
      ctx,
      added.map(({ tenantId }) => tenantId),
    )
    ensureMayGive(ctx.principal, { tenantRoles: [...added, ...removed] })

    await store.removeTenantRoles(ctx.db, owner, removed)
    await store.addTenantRoles(ctx.db, owner, added)
    if (removed.length > 0) await endSessionsOf(ctx, ctx.db, owner.orgId, [owner.userId])
    await record(ctx, {
      action: 'user.set-tenant-roles',
      targets: [{ type: 'user', id: owner.userId }],
      metadata: { added, removed },
    })
    // Not read again: whoever loses their last role here may be out of the caller's sight now.
    const held = before.tenantRoles.filter((entry) => !removed.includes(entry))
    return showTo(ctx)({ ...before, tenantRoles: [...held, ...added].sort(byKey) })
  })
