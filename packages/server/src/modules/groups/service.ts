import type { Group, groups } from '@strongroom/contract'
import { changeOf, ensureMayGive, ensureRunsTenant, roleKey, tenantsRunBy } from '../../access/roles.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { endSessionsOf } from '../sessions/service.ts'
import { ensureTenants, holdTenant } from '../tenants/service.ts'
import { ensureUsers } from '../users/service.ts'
import * as store from './store.ts'

// A group gives its roles to everybody in it. So to put somebody in, to take somebody out and to change its roles one must hold
// all of its roles.

const sightOf = ({ principal }: TxCtx): store.Sight => ({ orgId: principal.orgId, tenantIds: tenantsRunBy(principal) })

const show = ({ createdAt, ...group }: store.GroupRow): Group => ({ ...group, createdAt: createdAt.toISOString() })

/** A group the caller runs; nobody else changes it until the transaction ends. */
async function openGroup(ctx: TxCtx, groupId: string): Promise<store.GroupRow> {
  await store.lockGroup(ctx.db, ctx.principal.orgId, groupId)
  return found(await store.group(ctx.db, sightOf(ctx), groupId), 'group_not_found')
}

const usersIn = (members: readonly store.Member[]): string[] =>
  members.filter(({ type }) => type === 'user').map(({ id }) => id)

export const list: Handler<typeof groups.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => listAnswer('data', await store.list(ctx.db, sightOf(ctx), query), show))

export const create: Handler<typeof groups.create> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    await ensureTenants(ctx, [body.tenantId])
    ensureRunsTenant(ctx.principal, body.tenantId)
    const groupId = ctx.newId('grp')
    if (!(await store.insertGroup(ctx.db, { orgId: ctx.principal.orgId, groupId, ...body, at: ctx.now() })))
      throw new ApiError('name_taken')
    await record(ctx, {
      action: 'security-group.create',
      targets: [{ type: 'security-group', id: groupId }],
      metadata: body,
    })
    return show(await openGroup(ctx, groupId))
  })

export const update: Handler<typeof groups.update> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const group = await openGroup(ctx, params.id)
    await holdTenant(ctx, group.tenantId)
    if (!(await store.rename(ctx.db, ctx.principal.orgId, group, body.name))) throw new ApiError('name_taken')
    await record(ctx, {
      action: 'security-group.update',
      targets: [{ type: 'security-group', id: group.groupId }],
      metadata: body,
    })
    return show({ ...group, name: body.name })
  })

export const remove: Handler<typeof groups.remove> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { groupId, tenantRoles, members } = await openGroup(ctx, params.id)
    ensureMayGive(ctx.principal, { tenantRoles })
    await store.deleteGroup(ctx.db, ctx.principal.orgId, groupId)
    if (tenantRoles.length > 0) await endSessionsOf(ctx, ctx.db, ctx.principal.orgId, usersIn(members))
    await record(ctx, { action: 'security-group.remove', targets: [{ type: 'security-group', id: groupId }] })
    return { groupId }
  })

async function ensureAgents(ctx: TxCtx, agentIds: readonly string[]): Promise<void> {
  if ((await store.countAgents(ctx.db, sightOf(ctx), agentIds)) !== agentIds.length)
    throw new ApiError('agent_not_found')
}

export const setMembers: Handler<typeof groups.setMembers> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const group = await openGroup(ctx, params.id)
    const { added, removed } = changeOf<store.Member>(group.members, body.members, ({ type, id }) => `${type} ${id}`)
    await ensureUsers(ctx, usersIn(added))
    await ensureAgents(
      ctx,
      added.filter(({ type }) => type === 'agent').map(({ id }) => id),
    )
    if (added.length + removed.length > 0) ensureMayGive(ctx.principal, { tenantRoles: group.tenantRoles })

    await store.removeMembers(ctx.db, orgId, group.groupId, removed)
    await store.addMembers(ctx.db, orgId, group.groupId, added)
    if (group.tenantRoles.length > 0) await endSessionsOf(ctx, ctx.db, orgId, usersIn(removed))
    await record(ctx, {
      action: 'security-group.set-members',
      targets: [{ type: 'security-group', id: group.groupId }],
      metadata: { added, removed },
    })
    return show(await openGroup(ctx, group.groupId))
  })

export const setTenantRoles: Handler<typeof groups.setTenantRoles> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const group = await openGroup(ctx, params.id)
    const { added, removed } = changeOf(group.tenantRoles, body.tenantRoles, roleKey)
    await ensureTenants(
      ctx,
      added.map(({ tenantId }) => tenantId),
    )
    ensureMayGive(ctx.principal, { tenantRoles: [...added, ...removed] })

    await store.replaceRoles(ctx.db, orgId, group.groupId, body.tenantRoles)
    if (removed.length > 0) await endSessionsOf(ctx, ctx.db, orgId, usersIn(group.members))
    await record(ctx, {
      action: 'security-group.set-tenant-roles',
      targets: [{ type: 'security-group', id: group.groupId }],
      metadata: { added, removed },
    })
    return show(await openGroup(ctx, group.groupId))
  })
