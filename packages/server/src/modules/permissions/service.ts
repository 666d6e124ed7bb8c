import { createHash } from 'node:crypto'
import type { permissions } from '@strongroom/contract'
import { aclSet, claimedKind, peekDocument } from '@strongroom/protocol'
import { ensureWritable, openVault, openVaultOf, type ReadableVault, type VaultRole } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { lockOrgLog } from '../../log/append.ts'
import { refusing } from '../../log/refusals.ts'
import { signedVault } from '../vaults/answer.ts'
import { type CommitRule, commitVault, refuseUnless, replayReceipt } from '../vaults/commit.ts'
import { transactInTurn } from '../vaults/turns.ts'
import * as store from './store.ts'

type Shown = { principal: string; role: 'READ' | 'WRITE' | 'ADMIN' }
const shown = ({ principal, role }: store.Entry): Shown => ({ principal, role: role.toUpperCase() as Shown['role'] })
const kept = ({ principal, role }: Shown): store.Entry => ({ principal, role: role.toLowerCase() as VaultRole })

/** Names the content of a list: two that are equal have one etag, unless one is the vault's and goes on with it. */
export const etagOf = (entries: readonly store.Entry[], inherited = false): string => {
  const text = JSON.stringify([inherited, ...entries.map(({ principal, role }) => [principal, role])])
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
}

export function ensureUnchanged({ request }: TxCtx, etag: string): void {
  if (request.ifMatch !== undefined && request.ifMatch !== etag) throw new ApiError('etag_mismatch')
}

/** Nobody drops out of a list they administer by leaving themselves out of it. */
export function ensureStays(
  { principal }: TxCtx,
  entries: readonly store.Entry[],
  allowSelfRemoval: boolean | undefined,
): void {
  const stays = entries.some((entry) => entry.principal === principal.id && entry.role === 'admin')
  if (!stays && allowSelfRemoval !== true) throw new ApiError('self_lockout')
}

export const vault: Handler<typeof permissions.vault> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const opened = await openVault(ctx, params.vaultId)
      const entries = await store.vaultEntries(ctx.db, opened)
      const { signed } = await signedVault(ctx, opened)
      return { data: entries.map(shown), etag: etagOf(entries), signed }
    },
    { atOneMoment: true },
  )

/** Readers, keys and the head over them; content is changed by other routes. */
const accessOnly: CommitRule = ({ items, assets, head }) => {
  refuseUnless(items.length + assets.length === 0, 'only_access_changes')
  refuseUnless(head.meta.status === 'active', 'another_status')
}

export const setVault: Handler<typeof permissions.setVault> = (ctx, { params, query, body: { commit } }) =>
  transactInTurn(
    ctx,
    [params.vaultId],
    async (ctx) => {
      await lockOrgLog(ctx)
      const opened = ensureWritable(await openVault(ctx, params.vaultId), 'admin')
      ensureUnchanged(ctx, etagOf(await store.vaultEntries(ctx.db, opened)))
      const list = await refusing(async () => commit.docs.find((envelope) => claimedKind(envelope) === 'acl.set'))
      if (!list) throw new ApiError('invalid_document', { details: { rule: 'no_access_list' } })
      const { acl } = (await refusing(async () => peekDocument(aclSet, list))).payload
      const entries = acl.map(({ p, role }) => ({ principal: p, role }))
      if (!entries.some(({ role }) => role === 'admin')) throw new ApiError('last_admin')
      ensureStays(ctx, entries, query.allowSelfRemoval)
      return commitVault(ctx, opened.vaultId, commit, {
        rule: accessOnly,
        action: 'vault.set-permissions',
        needs: 'admin',
      })
    },
    { replay: replayReceipt },
  )

async function itemAnswer(ctx: TxCtx, opened: ReadableVault, itemId: string) {
  const own = await store.itemEntries(ctx.db, opened, itemId)
  const entries = own.length > 0 ? own : await store.vaultEntries(ctx.db, opened)
  const inherited = own.length === 0
  return { data: entries.map(shown), etag: etagOf(entries, inherited), inherited }
}

export const item: Handler<typeof permissions.item> = (ctx, { params }) =>
  transact(ctx, async (ctx) => itemAnswer(ctx, await openVaultOf(ctx, params.id), params.id))

const RANK: Readonly<Record<VaultRole, number>> = { read: 0, write: 1, admin: 2 }

/** The vault's list is the widest an item can have. */
function ensureNarrower(entries: readonly store.Entry[], vaultEntries: readonly store.Entry[]): void {
  const roles = new Map(vaultEntries.map(({ principal, role }) => [principal, role]))
  const wider = entries.filter(({ principal, role }) => {
    const held = roles.get(principal)
    return held === undefined || RANK[role] > RANK[held]
  })
  if (wider.length > 0)
    throw new ApiError('wider_than_vault', { details: { principals: wider.map(({ principal }) => principal) } })
}

/** Two roles for one principal would be decided by chance. */
export function ensureOnce(entries: readonly store.Entry[]): void {
  if (new Set(entries.map(({ principal }) => principal)).size === entries.length) return
  const problems = [{ path: '/entries', problem: 'a principal is named twice' }]
  throw new ApiError('validation_failed', { details: { in: 'body', problems } })
}

export const setItem: Handler<typeof permissions.setItem> = (ctx, { params, query, body }) =>
  transact(ctx, async (ctx) => {
    // The vault's list is held still as well as this one.
    await lockOrgLog(ctx)
    const opened = ensureWritable(await openVaultOf(ctx, params.id), 'admin')
    ensureUnchanged(ctx, (await itemAnswer(ctx, opened, params.id)).etag)
    const entries = body.entries.map(kept)
    ensureOnce(entries)
    if (entries.length > 0) ensureStays(ctx, entries, query.allowSelfRemoval)
    ensureNarrower(entries, await store.vaultEntries(ctx.db, opened))
    await store.replaceItemEntries(ctx.db, opened, params.id, entries)
    await record(ctx, {
      action: 'item.set-permissions',
      targets: [
        { type: 'vault', id: opened.vaultId },
        { type: 'item', id: params.id },
      ],
    })
    return itemAnswer(ctx, opened, params.id)
  })
