import type { vaults } from '@strongroom/contract'
import { openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { transact } from '../../context.ts'
import type { Handler } from '../../http/mount.ts'
import { readyJson } from '../../http/one-trip.ts'
import { readVault, signedVault, signedWithKeys, vaultAnswer } from './answer.ts'
import { type CommitRule, commitNewVault, commitVault, refuseUnless, replayReceipt, restoreVault } from './commit.ts'
import { commitTogether } from './commit-together.ts'
import * as store from './store.ts'
import { inTurn, transactInTurn } from './turns.ts'

const atOneMoment = { atOneMoment: true } as const
const replay = { replay: replayReceipt } as const

export const create: Handler<typeof vaults.create> = (ctx, { body }) =>
  transact(ctx, (ctx) => commitNewVault(ctx, body.commit), replay)

export const list: Handler<typeof vaults.list> = (ctx) =>
  transact(ctx, async ({ db, principal }) => ({
    data: (await store.vaultsOf(db, principal.orgId, principal.id)).map(vaultAnswer),
  }))

export const get: Handler<typeof vaults.get> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId)
      const { signed } = await signedVault(ctx, vault)
      return { vault: await readVault(ctx.db, vault.orgId, ctx.principal.id, vault.vaultId), signed }
    },
    atOneMoment,
  )

/** Only the head is new: no items, no attachments, no access list, no key. */
const onlyMeta =
  (status: 'active' | 'archived'): CommitRule =>
  ({ items, assets, acts, head }) => {
    refuseUnless(items.length + assets.length === 0 && acts.length === 1, 'only_the_head_changes')
    refuseUnless(head.meta.status === status, 'another_status')
  }

/** As it was before it was archived, also in name: what else shall be another is changed afterwards. */
const onlyStatus: CommitRule = (checked, before) => {
  onlyMeta('active')(checked, before)
  const { name, classification } = checked.head.meta
  refuseUnless(name === before?.meta.name && classification === before.meta.classification, 'only_the_status_changes')
}

export const update: Handler<typeof vaults.update> = (ctx, { params, body }) =>
  transactInTurn(
    ctx,
    [params.id],
    (ctx) => commitVault(ctx, params.id, body.commit, { rule: onlyMeta('active'), action: 'vault.update' }),
    replay,
  )

export const archive: Handler<typeof vaults.archive> = (ctx, { params, body }) =>
  transactInTurn(
    ctx,
    [params.vaultId],
    (ctx) =>
      commitVault(ctx, params.vaultId, body.commit, {
        rule: onlyMeta('archived'),
        action: 'vault.archive',
        needs: 'admin',
      }),
    replay,
  )

export const restore: Handler<typeof vaults.restore> = (ctx, { params, body }) =>
  transactInTurn(
    ctx,
    [params.vaultId],
    (ctx) => restoreVault(ctx, params.vaultId, body.commit, { rule: onlyStatus, action: 'vault.restore' }),
    replay,
  )

/** A vault is archived by its own route, so that nobody does it in passing. */
const staysActive: CommitRule = ({ head }) => refuseUnless(head.meta.status === 'active', 'another_status')

export const commit: Handler<typeof vaults.commit> = (ctx, { params, body }) => {
  const options = { rule: staysActive, action: 'vault.commit' }
  const alone = () => transact(ctx, (ctx) => commitVault(ctx, params.vaultId, body.commit, options), replay)
  return inTurn(
    ctx,
    [params.vaultId],
    async () => (await commitTogether(ctx, params.vaultId, body.commit, options)) ?? alone(),
  ).then(readyJson)
}

export const wrappedKey: Handler<typeof vaults.wrappedKey> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId)
      const answer = await signedWithKeys(ctx, vault)
      await record(ctx, { action: 'vault.wrapped-key.read', targets: [{ type: 'vault', id: vault.vaultId }] })
      return answer
    },
    atOneMoment,
  )

export const publicKeys: Handler<typeof vaults.publicKeys> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const { signed } = await signedVault(ctx, await openVault(ctx, params.vaultId))
      return { signed }
    },
    atOneMoment,
  )
