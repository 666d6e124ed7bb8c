import { PART_BYTES } from '@strongroom/contract'
import type { WritableVault } from '../../access/vaults.ts'
import type { TxCtx } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import * as store from './store.ts'

// Room is given when addresses for parts are: whoever has one may send as much as it says, and no more. So what is reserved and
// what is stored together never exceed a limit, however many upload at once.

const MAX_OPEN_UPLOADS = 1000

function exceeded(scope: 'uploads' | 'vault' | 'organisation', limit: number, used: number): ApiError {
  return new ApiError('attachment_quota_exceeded', { details: { scope, limit, used } })
}

export async function ensureRoomForUpload(ctx: TxCtx, vault: WritableVault): Promise<void> {
  const { uploads } = await store.usage(ctx.db, vault, '')
  if (uploads >= MAX_OPEN_UPLOADS) throw exceeded('uploads', MAX_OPEN_UPLOADS, uploads)
}

/** Reserves room up to the end of the last of these parts. */
export async function reserveParts(
  ctx: TxCtx,
  vault: WritableVault,
  { uploadId, reservedBytes }: store.UploadRow,
  parts: readonly { readonly partNumber: number; readonly size: number }[],
): Promise<void> {
  const limits = ctx.config.attachmentLimits
  const end = Math.max(reservedBytes, ...parts.map(({ partNumber, size }) => (partNumber - 1) * PART_BYTES + size))
  if (end > limits.asset) throw new ApiError('attachment_too_large', { details: { limit: limits.asset } })
  await store.lockQuota(ctx.db, vault)
  const used = await store.usage(ctx.db, vault, uploadId)
  if (used.vault + end > limits.vault) throw exceeded('vault', limits.vault, used.vault)
  if (used.org + end > limits.org) throw exceeded('organisation', limits.org, used.org)
  await store.reserve(ctx.db, vault, { uploadId, reservedBytes: end, at: ctx.now() })
}
