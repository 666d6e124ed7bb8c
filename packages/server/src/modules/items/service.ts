import { isDeepStrictEqual } from 'node:util'
import type { items } from '@strongroom/contract'
import {
  type CheckedCommit,
  type Commit,
  type Envelope,
  type ItemDetailPayload,
  itemDetail,
  peekDocument,
  proveItemRow,
  termsOf,
  type VaultHeadPayload,
  vaultHead,
} from '@strongroom/protocol'
import { ensureWritable, openVault, openVaultOf, type ReadableVault, type WritableVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { readyJson } from '../../http/one-trip.ts'
import { JSON_STREAM, jsonLists, streamed } from '../../http/stream.ts'
import { lockOrgLog } from '../../log/append.ts'
import { refusing } from '../../log/refusals.ts'
import { signedVault } from '../vaults/answer.ts'
import {
  append,
  type CommitRule,
  check,
  commitVault,
  receiptOf,
  recordChange,
  refuseUnless,
  replayReceipt,
} from '../vaults/commit.ts'
import * as vaultStore from '../vaults/store.ts'
import { claimedVaults, transactInTurn } from '../vaults/turns.ts'
import * as writes from '../vaults/write-store.ts'

export const atOneMoment = { atOneMoment: true } as const
const replay = { replay: replayReceipt } as const

/** A vault is renamed and its keys are retired by other routes, so that the audit log says so. */
function ensureSameVault({ head }: CheckedCommit, before: VaultHeadPayload | undefined): void {
  refuseUnless(head.meta.status === 'active', 'another_status')
  refuseUnless(before !== undefined && isDeepStrictEqual(termsOf(head), termsOf(before)), 'only_items_change')
}

/** Nothing but items and the head over them. */
const onlyItems: CommitRule = (checked, before) => {
  refuseUnless(checked.assets.length === 0 && checked.acts.length === 1, 'only_items_change')
  ensureSameVault(checked, before)
}

const newItems =
  (count: 'one' | 'many'): CommitRule =>
  (checked, before) => {
    onlyItems(checked, before)
    const { items } = checked
    refuseUnless(count === 'one' ? items.length === 1 : items.length > 0, 'number_of_items')
    refuseUnless(
      items.every(({ detail }) => detail.itemVersion === 1 && detail.status === 'active'),
      'not_a_new_item',
    )
  }

const oneItem =
  (itemId: string, status: 'active' | 'archived'): CommitRule =>
  (checked, before) => {
    onlyItems(checked, before)
    const [only] = checked.items
    refuseUnless(checked.items.length === 1 && only?.detail.itemId === itemId, 'another_item')
    refuseUnless(only.detail.itemVersion > 1, 'not_a_new_version')
    refuseUnless(only.detail.status === status, 'another_status')
  }

/** What every version of an item has anew, whatever it changes. */
const withoutVersion = ({ itemVersion, prev, salt, at, by, status, ...content }: ItemDetailPayload) => content

/** The item is put away as it is: what somebody restores later is what was there, and nobody changes it in passing. */
const archivesOnly =
  (stored: ItemDetailPayload): CommitRule =>
  (checked, before) => {
    oneItem(stored.itemId, 'archived')(checked, before)
    // An answer without a leaf would prove nothing to the client, and a further leaf would say what is not so.
    if (stored.status === 'archived') throw new ApiError('item_archived')
    const isSame = checked.items.every(({ detail }) =>
      isDeepStrictEqual(withoutVersion(detail), withoutVersion(stored)),
    )
    refuseUnless(isSame, 'only_the_status_changes')
  }

export const create: Handler<typeof items.create> = (ctx, { params, body }) =>
  transactInTurn(
    ctx,
    [params.vaultId],
    (ctx) => commitVault(ctx, params.vaultId, body.commit, { rule: newItems('one'), action: 'item.create' }),
    replay,
  ).then(readyJson)

export const importItems: Handler<typeof items.import> = (ctx, { params, body }) =>
  transactInTurn(
    ctx,
    [params.vaultId],
    (ctx) => commitVault(ctx, params.vaultId, body.commit, { rule: newItems('many'), action: 'item.import' }),
    replay,
  ).then(readyJson)

export const update: Handler<typeof items.update> = (ctx, { params, body }) =>
  transactInTurn(
    ctx,
    claimedVaults(body.commit),
    async (ctx) => {
      // Under the lock: an item that is being moved is looked for where it ends up.
      await lockOrgLog(ctx)
      const { vaultId, headVersion, headHash } = await openVaultOf(ctx, params.id)
      // Moved since it was read: the writer looks for it where it is now.
      if ((await headIn(body.commit)).payload.vaultId !== vaultId)
        throw new ApiError('vault_head_conflict', { details: { vaultId, headVersion, headHash, current: null } })
      return commitVault(ctx, vaultId, body.commit, { rule: oneItem(params.id, 'active'), action: 'item.update' })
    },
    replay,
  ).then(readyJson)

export const archive: Handler<typeof items.archive> = (ctx, { params, body }) =>
  transactInTurn(
    ctx,
    [params.vaultId],
    async (ctx) => {
      await lockOrgLog(ctx)
      const vault = await openVault(ctx, params.vaultId)
      const { detail } = found(await vaultStore.item(ctx.db, vault, params.itemId), 'vault_item_not_found')
      const rule = archivesOnly(peekDocument(itemDetail, detail).payload)
      return commitVault(ctx, vault.vaultId, body.commit, { rule, action: 'item.archive' })
    },
    replay,
  )

export const list: Handler<typeof items.list> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId)
      const pieces = await vaultStore.contentPieces(ctx.db, vault)
      const { signed } = await signedVault(ctx, vault)
      const of = (list: vaultStore.ContentList): string[] =>
        pieces.filter((piece) => piece.list === list).map(({ rows }) => rows)
      return streamed(
        JSON_STREAM,
        jsonLists({ signed }, { data: of('items'), environment: of('env'), assets: of('assets') }),
      )
    },
    atOneMoment,
  )

export const get: Handler<typeof items.get> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId)
      const { detail, values } = found(await vaultStore.item(ctx.db, vault, params.itemId), 'vault_item_not_found')
      await recordRead(ctx, 'item.read', vault, params.itemId)
      return { ...(await proofOf(ctx, vault, params.itemId)), detail, values }
    },
    atOneMoment,
  )

export const field: Handler<typeof items.field> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId)
      const { itemId, value } = found(await vaultStore.itemOfField(ctx.db, vault, params.fieldId), 'field_not_found')
      const { detail } = found(await vaultStore.item(ctx.db, vault, itemId), 'field_not_found')
      await recordRead(ctx, 'field.read', vault, itemId)
      return { ...(await proofOf(ctx, vault, itemId)), detail, fieldId: params.fieldId, value }
    },
    atOneMoment,
  )

export const recordRead = (
  ctx: TxCtx,
  action: string,
  { vaultId }: ReadableVault,
  itemId: string,
  metadata: Record<string, number> = {},
): Promise<void> =>
  record(ctx, {
    action,
    targets: [
      { type: 'vault', id: vaultId },
      { type: 'item', id: itemId },
    ],
    metadata,
  })

/** The row of one item with its path to the root that the head signs. Who signed the further details is proven too. */
export async function proofOf(ctx: TxCtx, vault: ReadableVault, itemId: string, former: readonly Envelope[] = []) {
  const content = vaultStore.contentOf(await vaultStore.contentRows(ctx.db, vault))
  const { detail } = found(await vaultStore.item(ctx.db, vault, itemId), 'vault_item_not_found')
  const kids = [detail, ...former].flatMap(({ signatures }) => signatures.map(({ keyid }) => keyid))
  const { signed } = await signedVault(ctx, vault, { kids: [...new Set(kids)] })
  const row = found(content.items.get(itemId), 'vault_item_not_found')
  const { siblings, terminal } = proveItemRow(content, itemId)
  return { row, proof: { siblings: [...siblings], terminal: terminal && [...terminal] }, signed }
}

const headIn = (commit: Commit) => refusing(async () => peekDocument(vaultHead, commit.head))

export const move: Handler<typeof items.move> = (ctx, { params, body }) =>
  transactInTurn(
    ctx,
    claimedVaults(body.from, body.to),
    async (ctx) => {
      await lockOrgLog(ctx)
      const itemId = params.id
      const from = ensureWritable(await openVaultOf(ctx, itemId))
      const to = ensureWritable(await openVault(ctx, (await headIn(body.to)).payload.vaultId))
      refuseUnless(from.vaultId !== to.vaultId, 'the_same_vault')
      const index = await moveItem(ctx, { itemId, from, to }, body)
      return moveReceipt(ctx, index, from.vaultId, to.vaultId)
    },
    {
      replay: {
        kept: ({ index, from, to }) => ({ index, from: from.vault.vaultId, to: to.vault.vaultId }),
        again: (ctx, kept) => {
          const { index, from, to } = kept as { index: number; from: string; to: string }
          return moveReceipt(ctx, index, from, to)
        },
      },
    },
  )

async function moveReceipt(ctx: TxCtx, index: number, from: string, to: string) {
  return {
    index,
    from: await receiptOf(ctx, await openVault(ctx, from), index),
    to: await receiptOf(ctx, await openVault(ctx, to), index),
  }
}

interface Move {
  readonly itemId: string
  readonly from: WritableVault
  readonly to: WritableVault
}

/** One leaf for both vaults: the item is in exactly one of them at every size of the log. */
async function moveItem(
  ctx: TxCtx,
  { itemId, from, to }: Move,
  commits: { from: Commit; to: Commit },
): Promise<number> {
  const assets = (await vaultStore.contentRows(ctx.db, from)).assets.filter((row) => row.itemId === itemId)
  const arriving = new Map(assets.map(({ assetId, assetVersion }) => [assetId, assetVersion]))
  const leaves = await check(ctx, from, commits.from, leavesOnly, { moved: [itemId] })
  const arrives = await check(ctx, to, commits.to, arrivesOnly(itemId, arriving), { arriving })
  const appended = await append(ctx, [...leaves.checked.acts, ...arrives.checked.acts], ['vault.move'])
  const { index } = appended
  await writes.takeOut(ctx, from, itemId, { headVersion: leaves.head.payload.headVersion, index })
  await writes.storeCommit(ctx, leaves, appended)
  await writes.storeCommit(ctx, arrives, appended)
  for (const { vaultId } of [from, to])
    await recordChange(ctx, { action: 'item.move', vaultId, index, subject: itemId })
  return index
}

const leavesOnly: CommitRule = (checked, before) => {
  const { items, assets, acts } = checked
  refuseUnless(items.length + assets.length === 0 && acts.length === 1, 'only_the_item_leaves')
  ensureSameVault(checked, before)
}

const arrivesOnly =
  (itemId: string, arriving: ReadonlyMap<string, number>): CommitRule =>
  (checked, before) => {
    const { items, assets, acts } = checked
    const [only] = items
    refuseUnless(items.length === 1 && only?.detail.itemId === itemId && acts.length === 1, 'only_the_item_arrives')
    refuseUnless(assets.length === arriving.size, 'attachments_come_along')
    ensureSameVault(checked, before)
  }
