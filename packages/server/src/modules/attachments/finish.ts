import type { attachments, Output } from '@strongroom/contract'
import {
  assetContent,
  type Commit,
  canonicalText,
  claimedKind,
  documentHash,
  type ItemDetailPayload,
  itemDetail,
  type Json,
  peekDocument,
} from '@strongroom/protocol'
import { ensureWritable, openVault, type WritableVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type Ctx, type Replay, refused, type TxCtx, unlessAnswered } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { lockOrgLog } from '../../log/append.ts'
import { refusing } from '../../log/refusals.ts'
import { objectStorage } from '../../outside/object-storage-choice.ts'
import { type CommitRule, commitVault, receiptOf, refuseUnless } from '../vaults/commit.ts'
import * as vaultStore from '../vaults/store.ts'
import { transactInTurn } from '../vaults/turns.ts'
import { attachmentAnswer, look, targetsOf } from './service.ts'
import * as store from './store.ts'

// The signed commit that attaches (docs/reference/protocol.md 6.3 and 7). The log is locked before anything is looked at, so of two requests
// for one attachment exactly one finds it uploading.

type Checkpoint = ReturnType<typeof peekCheckpoint>

function peekCheckpoint(commit: Commit) {
  const envelopes = commit.docs.filter((envelope) => claimedKind(envelope) === 'asset-content')
  const [envelope] = envelopes
  refuseUnless(envelope !== undefined && envelopes.length === 1, 'exactly_one_attachment')
  return { ...peekDocument(assetContent, envelope).payload, docHash: documentHash(envelope) }
}

export const finish: Handler<typeof attachments.finish> = async (ctx, { params, body }) => {
  const checkpoint = await ensureThere(ctx, params, body.commit).catch(refused)
  if ('refusal' in checkpoint) return unlessAnswered(ctx, checkpoint, { replay })
  return transactInTurn(
    ctx,
    [params.vaultId],
    async (ctx) => {
      await lockOrgLog(ctx)
      const vault = ensureWritable(await openVault(ctx, params.vaultId, 'attachment_not_found'))
      const placeholder = await takeFinalized(ctx, vault, params.assetId, checkpoint)
      const item = found(await vaultStore.item(ctx.db, vault, placeholder.itemId), 'attachment_not_found')
      const rule = attachesOnly(checkpoint, peekDocument(itemDetail, item.detail).payload)
      // Before the commit, which takes no content that is not stored.
      const { assetId, assetVersion, itemId, uploadId } = placeholder
      const stored = { assetId, assetVersion, uploadId, at: ctx.now() }
      if (!(await store.setStored(ctx.db, vault, stored))) throw new ApiError('attachment_not_found')
      const { index } = await commitVault(ctx, vault.vaultId, body.commit, { rule, action: 'item.attach' })
      const targets = targetsOf(vault.vaultId, { item: itemId, attachment: assetId })
      await record(ctx, { action: 'attachment.finish', targets, metadata: { index } })
      return answerOf(ctx, { index, vaultId: vault.vaultId, assetId, assetVersion })
    },
    { replay },
  )
}

interface Place {
  readonly index: number
  readonly vaultId: string
  readonly assetId: string
  readonly assetVersion: number
}

const replay: Replay<Output<typeof attachments.finish>> = {
  kept: ({ index, attachment: { vaultId, assetId, assetVersion } }) => ({ index, vaultId, assetId, assetVersion }),
  again: async (ctx, kept) => {
    const place = kept as Place
    // Who has left the list since is shown nothing of now, not even for an old key.
    await openVault(ctx, place.vaultId, 'attachment_not_found')
    return answerOf(ctx, place)
  },
}

async function answerOf(ctx: TxCtx, { index, vaultId, assetId, assetVersion }: Place) {
  const { orgId } = ctx.principal
  const receipt = await receiptOf(ctx, { orgId, vaultId }, index)
  const row = found(await store.attachment(ctx.db, orgId, { assetId, assetVersion }), 'attachment_not_found')
  return { ...receipt, attachment: attachmentAnswer({ ...row, vaultId }) }
}

/** A last look into storage, before the transaction: what was read once could have been lost since. */
async function ensureThere(
  ctx: Ctx,
  { vaultId, assetId }: { vaultId: string; assetId: string },
  commit: Commit,
): Promise<Checkpoint> {
  const { checkpoint, placeholder } = await look(ctx, async (ctx) => {
    const vault = ensureWritable(await openVault(ctx, vaultId, 'attachment_not_found'))
    const checkpoint = await refusing(async () => peekCheckpoint(commit))
    const { assetVersion } = checkpoint
    const placeholder = await store.takePlaceholder(ctx.db, vault, ctx.principal.id, { assetId, assetVersion })
    return { checkpoint, placeholder }
  })
  if (placeholder?.uploadStatus !== 'finalized' || placeholder.key === null) return checkpoint
  const there = await objectStorage(ctx).stat(placeholder.key)
  if (there?.size !== checkpoint.ciphertextSize)
    throw new ApiError('attachment_mismatch', { details: { member: 'ciphertextSize' } })
  return checkpoint
}

/** One's own placeholder whose content was read and is the one that was signed. */
async function takeFinalized(
  ctx: TxCtx,
  vault: WritableVault,
  assetId: string,
  checkpoint: Checkpoint,
): Promise<store.PlaceholderRow & { uploadId: string }> {
  refuseUnless(checkpoint.assetId === assetId, 'another_attachment')
  const { assetVersion } = checkpoint
  const placeholder = found(
    await store.takePlaceholder(ctx.db, vault, ctx.principal.id, { assetId, assetVersion }),
    'attachment_not_found',
  )
  const { status, uploadId, uploadStatus } = placeholder
  if (status === 'stored') throw new ApiError('attachment_stored')
  if (uploadId === null || uploadStatus === 'ending') throw new ApiError('attachment_not_found')
  if (uploadStatus !== 'finalized') throw new ApiError('upload_not_finalized')
  for (const member of ['ciphertextSize', 'ciphertextHash', 'itemId'] as const)
    if (placeholder[member] !== checkpoint[member]) throw new ApiError('attachment_mismatch', { details: { member } })
  return { ...placeholder, uploadId }
}

/** What an item is besides its attachments. */
const rest = ({ name, website, status, fields }: ItemDetailPayload): string =>
  canonicalText({ name, website, status, fields } as unknown as Json)

/** Exactly this attachment, and its item only to list it. */
const attachesOnly =
  (checkpoint: Checkpoint, item: ItemDetailPayload): CommitRule =>
  ({ assets, items, acts, head }, before) => {
    const { assetId, docHash } = checkpoint
    refuseUnless(acts.length === 1 && assets.length === 1 && assets[0]?.docHash === docHash, 'only_this_attachment')
    refuseUnless(canonicalText(head.meta) === canonicalText(before?.meta ?? null), 'only_this_attachment')
    const [changed] = items
    if (!changed) {
      refuseUnless(item.assets.includes(assetId), 'the_item_lists_it')
      return
    }
    const listed = [...new Set([...item.assets, assetId])].sort()
    refuseUnless(items.length === 1 && changed.detail.itemId === item.itemId, 'only_its_item')
    refuseUnless(rest(changed.detail) === rest(item), 'only_the_list_of_attachments')
    refuseUnless(canonicalText([...changed.detail.assets]) === canonicalText(listed), 'the_item_lists_it')
  }
