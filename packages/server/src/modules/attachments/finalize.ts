import { createHash, type Hash } from 'node:crypto'
import { type attachments, PART_BYTES } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { type Ctx, inOrg, refused, transact, unlessAnswered } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import type { ObjectStorage, SentPart } from '../../outside/object-storage.ts'
import { objectStorage } from '../../outside/object-storage-choice.ts'
import { look, openUpload, targetsOf } from './service.ts'
import * as store from './store.ts'

// Parts become one object, which is then read once and compared with what its sender says of every part. Only what was read here
// is ever compared with a signed checkpoint: no store is believed.

export const finalize: Handler<typeof attachments.finalize> = async (ctx, { params, body }) => {
  const seen = await look(ctx, (ctx) => openUpload(ctx, params.vaultId, body.uploadId)).catch(refused)
  if ('refusal' in seen) return unlessAnswered(ctx, seen)
  if (seen.upload.status === 'open') await complete(ctx, seen.upload, body.parts)
  return transact(ctx, async (ctx) => {
    const { vault, upload } = await openUpload(ctx, params.vaultId, body.uploadId)
    const { uploadId, ciphertextSize, ciphertextHash } = upload
    if (ciphertextSize === null || ciphertextHash === null) throw new ApiError('upload_not_found')
    await record(ctx, {
      action: 'attachment.upload.finalize',
      targets: targetsOf(vault.vaultId, { upload: uploadId }),
      metadata: { ciphertextSize },
    })
    return { uploadId, ciphertextSize, ciphertextHash }
  })
}

const refuseParts = (parts: readonly number[]): ApiError =>
  new ApiError('upload_parts_refused', { details: { parts: parts.slice(0, 100), count: parts.length } })

/** From 1 without a gap, all of the full size but the last. */
function ensureSequence(parts: readonly SentPart[]): void {
  const isLast = (index: number): boolean => index === parts.length - 1
  const wrong = parts.filter(
    ({ partNumber, size }, index) => partNumber !== index + 1 || (!isLast(index) && size !== PART_BYTES),
  )
  if (wrong.length > 0) throw refuseParts(wrong.map(({ partNumber }) => partNumber))
}

async function complete(ctx: Ctx, upload: store.UploadRow, sent: readonly SentPart[]): Promise<void> {
  const parts = sent.map((part) => ({ ...part, etag: part.etag.replaceAll('"', '') }))
  ensureSequence(parts)
  const completion = await objectStorage(ctx).completeUpload(upload, parts)
  if (completion.state === 'refused') throw refuseParts(completion.parts)
  if (completion.state === 'gone') throw new ApiError('upload_not_found')
  await waitFor(compareOnce(ctx, upload, parts))
}

const PATIENCE_MS = 7_000

/** Reading a large object takes longer than a request may. It goes on, and the request is sent again. */
async function waitFor(work: Promise<void>): Promise<void> {
  let alarm: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    alarm = setTimeout(
      () => reject(new ApiError('upload_being_read', { headers: { 'retry-after': '3' } })),
      PATIENCE_MS,
    )
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(alarm)
  }
}

/** Objects that this process is reading, by key: keys are never used twice. */
const reading = new Map<string, Promise<void>>()

function compareOnce(ctx: Ctx, upload: store.UploadRow, parts: readonly SentPart[]): Promise<void> {
  const running = reading.get(upload.key)
  if (running) return running
  const work = compare(ctx, upload, parts).finally(() => reading.delete(upload.key))
  reading.set(upload.key, work)
  // Whoever waits is told; if nobody does any more, the next request reads again.
  work.catch(() => undefined)
  return work
}

async function compare(ctx: Ctx, upload: store.UploadRow, parts: readonly SentPart[]): Promise<void> {
  const storage = objectStorage(ctx)
  const { uploadId } = upload
  const { orgId } = ctx.principal
  const read = await measure(storage, upload.key)
  const wrong = parts.filter(({ sha256 }, index) => read.parts[index] !== sha256)
  if (wrong.length > 0 || read.parts.length !== parts.length) {
    await inOrg(ctx, orgId, (db) => store.endUpload(db, orgId, uploadId, ctx.now()))
    throw new ApiError('upload_spoiled', {
      details: { parts: wrong.map(({ partNumber }) => partNumber).slice(0, 100) },
    })
  }
  const { ciphertextSize, ciphertextHash } = read
  await inOrg(ctx, orgId, (db) =>
    store.setFinalized(db, orgId, { uploadId, ciphertextSize, ciphertextHash, at: ctx.now() }),
  )
}

interface Measured {
  readonly ciphertextSize: number
  readonly ciphertextHash: string
  /** The hash of every part, in order. */
  readonly parts: readonly string[]
}

async function measure(storage: ObjectStorage, key: string): Promise<Measured> {
  const whole = createHash('sha256')
  const parts: string[] = []
  let size = 0
  let part: Hash | undefined
  for await (const chunk of storage.read(key)) {
    whole.update(chunk)
    for (let at = 0; at < chunk.length; ) {
      part ??= createHash('sha256')
      const end = Math.min(chunk.length, at + PART_BYTES - (size % PART_BYTES))
      part.update(chunk.subarray(at, end))
      size += end - at
      at = end
      if (size % PART_BYTES === 0) {
        parts.push(part.digest('base64url'))
        part = undefined
      }
    }
  }
  if (part) parts.push(part.digest('base64url'))
  return { ciphertextSize: size, ciphertextHash: whole.digest('base64url'), parts }
}
