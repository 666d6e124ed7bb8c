import { type Client, createClient } from '../client.ts'
import type { Actor } from '../engine/actor.ts'
import { type AttachmentInfo, absentAsset, listAttachments } from '../engine/assets.ts'
import { type OpenedAttachment, openAttachment } from '../engine/download.ts'
import { listItems } from '../engine/items.ts'
import { abortUpload, resumeUpload, type Uploaded, type UploadOptions, uploadAttachment } from '../engine/upload.ts'
import { parseUploadTicket } from '../engine/upload-ticket.ts'
import { removeAttachment, renameAttachment } from '../engine/write-assets.ts'
import { filesOf, openSource } from './attachment-source.ts'
import type { Attachment, AttachmentSource, Download, UploadedAttachment } from './attachments.ts'
import type { Scope } from './call.ts'
import type { KeyedPlace } from './core.ts'
import { toPublic } from './error-map.ts'
import { locate } from './item-reads.ts'
import { inVault, vaultIdOf } from './names.ts'
import { ConfigError } from './public-errors.ts'
import { receiptFrom } from './receipt.ts'
import { storageOf } from './storage.ts'
import { fetchFor } from './transport.ts'

// Files of items, up and down, with names in place of ids.

export interface WantedUpload {
  readonly vault: string
  readonly item: string
  readonly source: AttachmentSource
  readonly name: string | undefined
  readonly mediaType: string | undefined
  readonly replaces: string | undefined
  readonly resume: string | undefined
}

const ANY_TYPE = 'application/octet-stream'

export async function upload(
  place: KeyedPlace,
  { vault, item, source, resume, replaces, ...given }: WantedUpload,
  how: Pick<UploadOptions, 'onProgress' | 'concurrency' | 'onStart'>,
): Promise<UploadedAttachment> {
  const { actor, scope } = place
  const store = storageOf(scope.config)
  const options = { ...place.options, ...how, afterwards: afterwards(scope) }
  const where = await locate(place, vault, item)
  const { name, mediaType = ANY_TYPE, ...opened } = await openSource(source, scope.config.files)
  if (resume !== undefined) {
    ensureOf(resume, where)
    return uploaded(await resumeUpload(actor, store, resume, opened, options))
  }
  const meta = { name: given.name ?? name ?? '', mediaType: given.mediaType ?? mediaType }
  if (meta.name === '') throw wrong('an attachment has a name', 'Give name: the name of the file.')
  return uploaded(await uploadAttachment(actor, store, { ...where, ...meta, replaces }, opened, options))
}

const LAST_WORD_MS = 3000

/** A signal ends what a call asks for; that it gives its room back is still said, and not waited for long. */
function afterwards({ config, exchange: { headers, query } }: Scope): Client {
  const exchange = { timeoutMs: LAST_WORD_MS, maxRetries: 0, headers, query }
  return createClient({ baseUrl: config.server, fetch: fetchFor(config, exchange) })
}

const wrong = (message: string, hint: string): ConfigError => new ConfigError(message, { code: 'config_invalid', hint })

function ensureOf(ticket: string, { vaultId, itemId }: { readonly vaultId: string; readonly itemId: string }): void {
  const begun = parseUploadTicket(ticket)
  if (begun.vaultId !== vaultId || begun.itemId !== itemId)
    throw wrong('the upload was begun for another item', 'Name the vault and the item that the ticket was given for.')
}

const uploaded = ({ assetId, itemId, size, assetVersion, receipt }: Uploaded): UploadedAttachment => ({
  assetId,
  itemId,
  size,
  version: assetVersion,
  receipt: receiptFrom(receipt),
})

const attachmentOf = ({
  assetId,
  itemId,
  name,
  mediaType,
  size,
  assetVersion,
  by,
  at,
}: AttachmentInfo): Attachment => ({
  assetId,
  itemId,
  name,
  mediaType,
  size,
  version: assetVersion,
  signerKeyId: by,
  signedAt: new Date(at),
})

export async function list(place: KeyedPlace, vault: string, item: string): Promise<readonly Attachment[]> {
  const { vaultId, itemId } = await locate(place, vault, item)
  const { attachments } = await listAttachments(place.actor, vaultId, itemId, place.options)
  return attachments.map(attachmentOf)
}

/** Where an attachment is, by the complete verified list of the vault. */
async function placeOf(place: KeyedPlace, vault: string, assetId: string) {
  const { actor, options } = place
  const { head, assets } = await inVault(place, vault, (vaultId) => listItems(actor, vaultId, options))
  const row = assets.find((one) => one.assetId === assetId)
  if (!row) throw absentAsset()
  return { vaultId: head.vault.vaultId, itemId: row.itemId, assetId }
}

export async function remove(place: KeyedPlace, vault: string, assetId: string): Promise<void> {
  await removeAttachment(place.actor, await placeOf(place, vault, assetId), place.options)
}

export async function rename(
  place: KeyedPlace,
  vault: string,
  assetId: string,
  to: { readonly name?: string; readonly mediaType?: string },
): Promise<void> {
  const { actor, options } = place
  const where = await placeOf(place, vault, assetId)
  const { attachments } = await listAttachments(actor, where.vaultId, where.itemId, options)
  const current = attachments.find((one) => one.assetId === assetId)
  if (!current) throw absentAsset()
  const { name = current.name, mediaType = current.mediaType } = to
  await renameAttachment(actor, where, { name, mediaType }, options)
}

export const abort = ({ actor, options }: KeyedPlace, ticket: string): Promise<void> =>
  abortUpload(actor, ticket, options)

export async function download(place: KeyedPlace, vault: string, assetId: string): Promise<Download> {
  const { scope, options } = place
  const { config, signal } = scope
  const { actor, evidence } = keepingEvidence(place.actor)
  const vaultId = await vaultIdOf(place, vault)
  const opened = await openAttachment(actor, storageOf(config), { vaultId, assetId }, options)
  const chunks = (reuseBuffers: boolean) =>
    publicly(opened.chunks({ reuseBuffers }), (error) => toPublic(error, { signal, evidence: evidence() }))
  return {
    ...attachmentOf(opened),
    receipt: receiptFrom(opened.receipt),
    get stream() {
      return streamOf(chunks(false))
    },
    bytes: () => collect(chunks(false)),
    saveTo: async (path) => filesOf(config.files).save(path, chunks(true)),
  }
}

/** Content is read after the call that opened it has ended: what is refused then has evidence of its own. */
function keepingEvidence(actor: Actor): { readonly actor: Actor; readonly evidence: () => string | undefined } {
  let kept: string | undefined
  const onEvidence: Actor['onEvidence'] = async (evidence) => {
    const place = await actor.onEvidence?.(evidence)
    kept = typeof place === 'string' && place !== '' ? place : JSON.stringify(evidence)
    return place
  }
  return { actor: { ...actor, onEvidence }, evidence: () => kept }
}

type Chunks = ReturnType<OpenedAttachment['chunks']>

async function* publicly(chunks: Chunks, toError: (error: unknown) => unknown): Chunks {
  try {
    yield* chunks
  } catch (error) {
    throw toError(error)
  }
}

const streamOf = (chunks: Chunks): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      pull: async (controller) => {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => {
        await chunks.return()
      },
    },
    // Nothing is fetched before it is wanted.
    { highWaterMark: 0 },
  )

async function collect(chunks: Chunks): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  const whole = new Uint8Array(all.reduce((size, chunk) => size + chunk.length, 0))
  let at = 0
  for (const chunk of all) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
