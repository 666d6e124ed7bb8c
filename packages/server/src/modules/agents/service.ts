import { type agents, notHeld } from '@strongroom/contract'
import { limitsOf, NO_LIMITS } from '../../access/limits.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { issueKey, revokeKeysOf, rotateKey } from '../api-keys/service.ts'
import { ensureCanGive } from './grants.ts'
import { keptLimits, limitsChange, readLimits } from './limits.ts'
import { ensureCanActAs, ensureTenants, openAgent, openGroups } from './open.ts'
import * as roleStore from './role-store.ts'
import * as store from './store.ts'
import { tellOfAgent } from './tell.ts'
import { ensureVisibleItem } from './vault-items.ts'

const shown = ({ vaultId, vaultItemId, expiresAt, createdAt, archivedAt, ...row }: store.AgentRow) => ({
  ...row,
  expiresAt: expiresAt?.toISOString() ?? null,
  vaultItem: vaultId === null || vaultItemId === null ? null : { vaultId, itemId: vaultItemId },
  createdAt: createdAt.toISOString(),
  archivedAt: archivedAt?.toISOString() ?? null,
})

/** As it is now, in this transaction. */
const show = async ({ db, principal }: TxCtx, agentId: string) =>
  shown(found(await store.agent(db, principal, agentId), 'agent_not_found'))

const target = (agentId: string) => [{ type: 'agent', id: agentId }]

export const list: Handler<typeof agents.list> = (ctx, { query }) =>
  transact(ctx, async ({ db, principal }) => listAnswer('agents', await store.list(db, principal, query), shown))

export const get: Handler<typeof agents.get> = (ctx, { params }) =>
  transact(ctx, async (ctx) => ({ agent: await show(ctx, params.id) }))

export const me: Handler<typeof agents.me> = (ctx) =>
  transact(ctx, async (ctx) => ({
    agent: await show(ctx, found(ctx.principal.agentId ?? undefined, 'agent_not_found')),
  }))

export const create: Handler<typeof agents.create> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const { orgId, id: createdBy } = ctx.principal
    const { name, permissions, description = '', tenantRoles = [], securityGroups = [] } = body
    const { expiresAt = null, networks = [] } = body
    const limits = readLimits({ expiresAt, networks }, NO_LIMITS, ctx.now())
    const tenantId = found(ctx.principal.tenantId ?? undefined, 'tenant_not_found')
    const groups = await openGroups(ctx, securityGroups)
    ensureCanGive(ctx.principal, { permissions, tenantRoles, securityGroups: groups, limits: { wanted: limits } })
    await ensureTenants(ctx, tenantRoles)

    const agentId = ctx.newId('agt')
    const isNew = await store.insertAgent(ctx.db, {
      orgId,
      tenantId,
      agentId,
      name,
      description,
      permissions,
      ...keptLimits(limits),
      createdBy,
      at: ctx.now(),
    })
    if (!isNew) throw new ApiError('name_taken')
    await roleStore.joinGroups(ctx.db, orgId, agentId, groups)
    await roleStore.replaceDirectRoles(ctx.db, orgId, agentId, tenantRoles)
    const { keyId, apiKey } = await issueKey(ctx, orgId, { agentId })

    await record(ctx, {
      action: 'agent.create',
      targets: target(agentId),
      metadata: { name, permissions, tenantRoles, securityGroups, keyId, expiresAt, networks },
    })
    await tellOfAgent(ctx, 'agent.created', agentId, 'active')
    return { agent: await show(ctx, agentId), apiKey }
  })

export const update: Handler<typeof agents.update> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const { securityGroups, expiresAt, networks, ...change } = body
    const { agentId, permissions: current, ...kept } = await openAgent(ctx, params.id)
    const before = limitsOf(kept)
    const wanted = readLimits({ expiresAt, networks }, before, ctx.now())
    // Taking away needs no more than the right to write; only what is new has to be held by the giver.
    const groupsNow = await roleStore.groupIdsOf(ctx.db, orgId, agentId)
    const newGroups = await openGroups(
      ctx,
      (securityGroups ?? []).filter((groupId) => !groupsNow.includes(groupId)),
    )
    ensureCanGive(ctx.principal, {
      permissions: notHeld(current, body.permissions ?? []),
      securityGroups: newGroups,
      limits: { wanted, before },
    })

    const isFree = await store.changeAgent(ctx.db, orgId, agentId, { ...change, ...limitsChange(body, wanted) })
    if (!isFree) throw new ApiError('name_taken')
    if (securityGroups) await roleStore.leaveGroups(ctx.db, orgId, agentId, securityGroups)
    await roleStore.joinGroups(ctx.db, orgId, agentId, newGroups)

    await record(ctx, { action: 'agent.update', targets: target(agentId), metadata: { ...body } })
    return { agent: await show(ctx, agentId) }
  })

export const archive: Handler<typeof agents.archive> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const { agentId } = found(await store.lockAgent(db, principal, params.id), 'agent_not_found')
    if (await store.archiveAgent(db, principal.orgId, agentId, ctx.now())) {
      const revokedKeys = await revokeKeysOf(ctx, principal.orgId, { agentId })
      await record(ctx, { action: 'agent.archive', targets: target(agentId), metadata: { revokedKeys } })
      await tellOfAgent(ctx, 'agent.archived', agentId, 'archived')
    }
    return { agent: await show(ctx, agentId) }
  })

export const regenerateApiKey: Handler<typeof agents.regenerateApiKey> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { principal } = ctx
    const agent = await openAgent(ctx, params.id)
    const { agentId } = agent
    await ensureCanActAs(ctx, agent)
    const { keyId, apiKey } = await rotateKey(ctx, principal.orgId, { agentId })

    await record(ctx, { action: 'agent.regenerate-api-key', targets: target(agentId), metadata: { keyId } })
    await tellOfAgent(ctx, 'agent.api_key_rotated', agentId, 'active')
    return { agent: await show(ctx, agentId), apiKey }
  })

export const linkVaultItem: Handler<typeof agents.linkVaultItem> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { agentId } = await openAgent(ctx, params.id)
    const { vaultId, itemId } = body
    if (vaultId !== null && itemId !== null) await ensureVisibleItem(ctx, vaultId, itemId)
    await store.changeAgent(ctx.db, ctx.principal.orgId, agentId, { vault_id: vaultId, vault_item_id: itemId })

    await record(ctx, { action: 'agent.link-vault-item', targets: target(agentId), metadata: { vaultId, itemId } })
    return { agent: await show(ctx, agentId) }
  })
