import { type Attachment, type attachments, MAX_PARTS, PART_BYTES } from '@strongroom/contract'
import { itemDetail, peekDocument } from '@strongroom/protocol'
import { ensureWritable, openVault, type WritableVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { objectStorage } from '../../outside/object-storage-choice.ts'
import * as vaultStore from '../vaults/store.ts'
import { ensureRoomForUpload, reserveParts } from './quota.ts'
import * as store from './store.ts'

// Attachments on their way up and down (docs/reference/protocol.md 7). The bytes go past the API, to addresses that are given out here; the
// server learns their size and hash by reading them once, and never what they mean.

const PART_URL_MS = 15 * 60_000

/** A transaction before the one that answers: what it finds out may be out of date by then, and is asked again there. */
export const look = <T>(ctx: Ctx, work: (ctx: TxCtx) => Promise<T>): Promise<T> =>
  transact({ ...ctx, idempotent: undefined }, work)

export async function openUpload(
  ctx: TxCtx,
  vaultId: string,
  uploadId: string,
): Promise<{ vault: WritableVault; upload: store.UploadRow }> {
  const vault = ensureWritable(await openVault(ctx, vaultId))
  const upload = found(await store.takeUpload(ctx.db, vault, ctx.principal.id, uploadId), 'upload_not_found')
  return { vault, upload }
}

export const targetsOf = (vaultId: string, more: Readonly<Record<string, string>>) => [
  { type: 'vault', id: vaultId },
  ...Object.entries(more).map(([type, id]) => ({ type, id })),
]

/** In this order: what a crash leaves behind is an upload in storage without a row, and those are swept. */
export const initialize: Handler<typeof attachments.initialize> = async (ctx, { params }) => {
  await look(ctx, async (ctx) => ensureRoomForUpload(ctx, ensureWritable(await openVault(ctx, params.vaultId))))
  const key = ctx.newId('obj')
  const storageId = await objectStorage(ctx).startUpload(key)
  return transact(ctx, async (ctx) => {
    const vault = ensureWritable(await openVault(ctx, params.vaultId))
    const uploadId = ctx.newId('upl')
    await store.insertUpload(ctx.db, vault, { uploadId, key, storageId, principal: ctx.principal.id, at: ctx.now() })
    await record(ctx, { action: 'attachment.upload.start', targets: targetsOf(vault.vaultId, { upload: uploadId }) })
    return { uploadId, partSize: PART_BYTES, maxParts: MAX_PARTS, maxSize: ctx.config.attachmentLimits.asset }
  })
}

export const presign: Handler<typeof attachments.presign> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { vault, upload } = await openUpload(ctx, params.vaultId, body.uploadId)
    if (upload.status !== 'open') throw new ApiError('upload_finalized')
    await reserveParts(ctx, vault, upload, body.parts)
    await record(ctx, {
      action: 'attachment.upload.presign',
      targets: targetsOf(vault.vaultId, { upload: upload.uploadId }),
      metadata: { parts: body.parts.length },
    })
    const expiresAt = new Date(ctx.now().getTime() + PART_URL_MS)
    const storage = objectStorage(ctx)
    const data = body.parts.map((part) => ({
      partNumber: part.partNumber,
      url: storage.presignPart(upload, part, expiresAt),
    }))
    return { data, expiresAt: expiresAt.toISOString() }
  })

export const upload: Handler<typeof attachments.upload> = async (ctx, { params }) => {
  const { upload } = await look(ctx, (ctx) => openUpload(ctx, params.vaultId, params.uploadId))
  const { uploadId, status } = upload
  const parts = status === 'open' ? await objectStorage(ctx).listParts(upload) : []
  return { uploadId, status, data: parts?.map(({ partNumber, size, etag }) => ({ partNumber, size, etag })) ?? [] }
}

/** Room is given back by the sweeper, which knows when the bytes are gone. */
export const abort: Handler<typeof attachments.abort> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { vault, upload } = await openUpload(ctx, params.vaultId, params.uploadId)
    const { uploadId } = upload
    await store.endUpload(ctx.db, vault.orgId, uploadId, ctx.now())
    await record(ctx, { action: 'attachment.upload.abort', targets: targetsOf(vault.vaultId, { upload: uploadId }) })
    return { uploadId }
  })

export const attachmentAnswer = ({ createdAt, ...row }: store.AttachmentRow): Attachment => ({
  ...row,
  createdAt: createdAt.toISOString(),
})

export const create: Handler<typeof attachments.create> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { vault, upload } = await openUpload(ctx, params.vaultId, body.uploadId)
    const { assetId, assetVersion, itemId } = body
    const item = found(await vaultStore.item(ctx.db, vault, itemId), 'vault_item_not_found')
    if (peekDocument(itemDetail, item.detail).payload.status !== 'active') throw new ApiError('vault_item_not_found')
    await ensureNext(ctx, vault, body)
    const { uploadId } = upload
    const placeholder = { assetId, assetVersion, itemId, uploadId, principal: ctx.principal.id, at: ctx.now() }
    const row = await refusingIds(store.putPlaceholder(ctx.db, vault, placeholder))
    if (!row) throw new ApiError('id_conflict')
    await record(ctx, {
      action: 'attachment.create',
      targets: targetsOf(vault.vaultId, { item: itemId, attachment: assetId, upload: uploadId }),
    })
    return { attachment: attachmentAnswer(row) }
  })

/** An id is new in the organisation, or the next version of an attachment of this very item. */
async function ensureNext(
  { db }: TxCtx,
  { orgId, vaultId }: WritableVault,
  { assetId, assetVersion, itemId }: { assetId: string; assetVersion: number; itemId: string },
): Promise<void> {
  const current = await store.currentAsset(db, orgId, assetId)
  // Where else it is used is not this caller's to know.
  if (current && current.vaultId !== vaultId) throw new ApiError('id_conflict')
  const next = (current?.assetVersion ?? 0) + 1
  if (assetVersion !== next || (current && current.itemId !== itemId))
    throw new ApiError('attachment_version_conflict', { details: { next } })
}

const UNIQUE_VIOLATION = '23505'

/** One upload is the content of one attachment. */
async function refusingIds<T>(write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (error) {
    throw (error as { code?: string }).code === UNIQUE_VIOLATION ? new ApiError('id_conflict') : error
  }
}
