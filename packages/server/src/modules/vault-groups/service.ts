import type { VaultGroup, vaultGroups } from '@strongroom/contract'
import { ensureReadable, readableAmong } from '../../access/vault-sets.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import * as store from './store.ts'

// A group belongs to the tenant it was made in, and everybody who works there sees it. It gives no access: of its vaults each
// sees those whose access list names them.

/** A principal without a tenant sees no group: a tenant id is never empty. */
const sightOf = ({ principal }: TxCtx): store.Sight => ({
  orgId: principal.orgId,
  tenantId: principal.tenantId ?? '',
  principal: principal.id,
})

const show = ({ tenantId, createdAt, updatedAt, ...group }: store.GroupRow): VaultGroup => ({
  ...group,
  domainTenantId: tenantId,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})

const openGroup = async (ctx: TxCtx, id: string): Promise<store.GroupRow> =>
  found(await store.group(ctx.db, sightOf(ctx), id), 'vault_group_not_found')

const recordChange = (ctx: TxCtx, action: string, id: string, metadata: Record<string, unknown> = {}) =>
  record(ctx, { action, targets: [{ type: 'vault-group', id }], metadata })

export const list: Handler<typeof vaultGroups.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => listAnswer('data', await store.list(ctx.db, sightOf(ctx), query), show))

export const get: Handler<typeof vaultGroups.get> = (ctx, { params }) =>
  transact(ctx, async (ctx) => show(await openGroup(ctx, params.id)))

export const create: Handler<typeof vaultGroups.create> = (ctx, { body: { name, vaults } }) =>
  transact(ctx, async (ctx) => {
    if (ctx.principal.tenantId === null) throw new ApiError('key_kind_refused')
    await ensureReadable(ctx, vaults)
    const vaultGroupId = ctx.newId('vgr')
    if (!(await store.insertGroup(ctx.db, sightOf(ctx), { vaultGroupId, name, at: ctx.now() })))
      throw new ApiError('name_taken')
    await store.addVaults(ctx.db, sightOf(ctx), vaultGroupId, vaults)
    await recordChange(ctx, 'vault-group.create', vaultGroupId, { name })
    return show(await openGroup(ctx, vaultGroupId))
  })

export const update: Handler<typeof vaultGroups.update> = (ctx, { params, body: { name, vaults } }) =>
  transact(ctx, async (ctx) => {
    const sight = sightOf(ctx)
    found(await store.lockGroup(ctx.db, sight, params.id), 'vault_group_not_found')
    const group = await openGroup(ctx, params.id)
    const change = { name: name ?? group.name, at: ctx.now() }
    if (!(await store.changeGroup(ctx.db, sight, group.vaultGroupId, change))) throw new ApiError('name_taken')
    if (vaults) {
      await ensureReadable(ctx, vaults)
      await replaceVisible(ctx, group, vaults)
    }
    await recordChange(ctx, 'vault-group.update', group.vaultGroupId, name === undefined ? {} : { name })
    return show(await openGroup(ctx, group.vaultGroupId))
  })

/** Only what the caller sees is theirs to take out. */
async function replaceVisible(ctx: TxCtx, group: store.GroupRow, vaults: readonly string[]): Promise<void> {
  const wanted = new Set(vaults)
  const visible = await readableAmong(ctx, group.vaults)
  const removed = [...visible].filter((vaultId) => !wanted.has(vaultId))
  await store.removeVaults(ctx.db, sightOf(ctx), group.vaultGroupId, removed)
  await store.addVaults(ctx.db, sightOf(ctx), group.vaultGroupId, vaults)
}

export const remove: Handler<typeof vaultGroups.remove> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    if (!(await store.deleteGroup(ctx.db, sightOf(ctx), params.id))) throw new ApiError('vault_group_not_found')
    await recordChange(ctx, 'vault-group.remove', params.id)
    return { vaultGroupId: params.id }
  })
