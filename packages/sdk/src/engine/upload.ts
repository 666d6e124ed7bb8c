import {
  type AssetPlace,
  ciphertextSizeOf,
  type Dek,
  draftAttachment,
  encryptDraft,
  makeId,
  partsOf,
} from '@strongroom/protocol'
import type { Client } from '../client.ts'
import { ApiError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { refuseUnless } from './answers.ts'
import { absentAsset, keyOf, readAssets } from './assets.ts'
import { type Committed, ensureRotated } from './commit.ts'
import { loadVault } from './content.ts'
import { absent } from './item-changes.ts'
import type { KnownVault } from './memory.ts'
import type { ObjectStore } from './object-store.ts'
import { pause } from './queue.ts'
import type { Receipt } from './receipt.ts'
import { type PartsThere, type SentParts, sendParts } from './upload-parts.ts'
import { formatUploadTicket, parseUploadTicket, type UploadTicket } from './upload-ticket.ts'
import { attachContent } from './write-assets.ts'
import { currentDek } from './write-items.ts'

// An attachment on its way up: encrypted as it is read, cut into parts, sent, put together, and attached by a signed commit. Memory
// does not grow with the file.

export interface NewAttachment {
  readonly vaultId: string
  readonly itemId: string
  readonly name: string
  readonly mediaType: string
  /** An attachment of the item that this is the next version of. */
  readonly replaces?: string | undefined
}

export interface UploadSource {
  readonly chunks: AsyncIterable<Uint8Array>
  /** In bytes, where it is known beforehand. */
  readonly size?: number | undefined
}

export interface UploadOptions extends CallerOptions {
  /** How many parts of 8 MiB are under way, and in memory, at once. */
  readonly concurrency?: number | undefined
  /** Bytes of the content that have arrived; never fewer than before, and at the end all. */
  readonly onProgress?: ((sent: number, total: number | undefined) => void) | undefined
  /** For what is to be said after the caller has given up; the actor's own if absent. */
  readonly afterwards?: Client | undefined
  /** The ticket to go on with after an interruption; waited for before the first byte is sent. */
  readonly onStart?: ((ticket: string) => unknown) | undefined
}

export interface Uploaded {
  readonly assetId: string
  readonly assetVersion: number
  readonly itemId: string
  readonly size: number
  readonly receipt: Receipt
}

export async function uploadAttachment(
  actor: Actor,
  store: ObjectStore,
  given: NewAttachment,
  source: UploadSource,
  options: UploadOptions = {},
): Promise<Uploaded> {
  const { ticket, dek } = await begin(actor, given, source.size, options)
  await options.onStart?.(formatUploadTicket(ticket))
  const sending = sendContent(actor, store, { ticket, dek, there: new Map() }, source, options)
  const sent = await (options.onStart ? sending : orGiveUp(actor, ticket, sending, options))
  return attach(actor, ticket, dek, sent, options)
}

/** Nobody has the ticket, so nobody can go on: the room is given back at once instead of in a day. */
async function orGiveUp<T>(
  { client }: Actor,
  { vaultId, uploadId }: UploadTicket,
  work: Promise<T>,
  { afterwards = client }: UploadOptions,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    await afterwards.attachments.abort({ params: { vaultId, uploadId } }).catch(() => undefined)
    throw error
  }
}

/** Everything that can be refused is refused here, before a byte is sent. */
async function begin(
  actor: Actor,
  { vaultId, itemId, replaces, ...meta }: NewAttachment,
  size: number | undefined,
  options: UploadOptions,
): Promise<{ ticket: UploadTicket; dek: Dek }> {
  const known = await loadVault(actor, vaultId, options)
  const place = placeOf(actor, known, itemId, replaces)
  const dek = await currentDek(actor, known, options)
  const draft = await draftAttachment(dek, place, meta)
  const { assetId, assetVersion } = place
  const { uploadId } = await actor.client.attachments.initialize({ params: { vaultId } }, call(options))
  const ticket: UploadTicket = { org: actor.org, vaultId, itemId, assetId, assetVersion, uploadId, draft, size }
  await orGiveUp(actor, ticket, announce(actor, ticket, options), options)
  return { ticket, dek }
}

async function announce(actor: Actor, ticket: UploadTicket, options: CallerOptions): Promise<void> {
  if (ticket.size !== undefined) await reserve(actor, ticket, ticket.size, options)
  await placeholder(actor, ticket, options)
}

const placeholder = (
  { client }: Actor,
  { vaultId, uploadId, assetId, assetVersion, itemId }: UploadTicket,
  options: CallerOptions,
): Promise<unknown> =>
  client.attachments.create({ params: { vaultId }, body: { uploadId, assetId, assetVersion, itemId } }, call(options))

const call = ({ signal }: CallerOptions) => (signal ? { signal } : {})

function placeOf(
  { org }: Actor,
  { head, content }: KnownVault,
  itemId: string,
  replaces: string | undefined,
): AssetPlace {
  const { vaultId } = head.vault
  if (content.items.get(itemId)?.status !== 'active') throw absent('vault_item_not_found')
  if (replaces === undefined) return { org, vaultId, assetId: makeId('ast'), assetVersion: 1 }
  const row = content.assets.get(replaces)
  if (row?.itemId !== itemId) throw absentAsset()
  return { org, vaultId, assetId: replaces, assetVersion: row.assetVersion + 1 }
}

/** An address for the last part reserves room for all of them. */
async function reserve(
  { client }: Actor,
  { vaultId, uploadId }: UploadTicket,
  size: number,
  options: CallerOptions,
): Promise<void> {
  const last = partsOf(ciphertextSizeOf(size)).at(-1)
  if (!last) return
  const parts = [{ partNumber: last.partNumber, size: last.size }]
  await client.attachments.presign({ params: { vaultId }, body: { uploadId, parts } }, call(options))
}

interface Sending {
  readonly ticket: UploadTicket
  readonly dek: Dek
  /** What has arrived before; absent once the parts were put together. */
  readonly there: PartsThere | undefined
}

/** Encrypts and sends what is missing, and has the parts put together. */
async function sendContent(
  actor: Actor,
  store: ObjectStore,
  { ticket, dek, there }: Sending,
  { chunks, size }: UploadSource,
  options: UploadOptions,
): Promise<SentParts> {
  const { org, vaultId, assetId, assetVersion, draft } = ticket
  const place = { org, vaultId, assetId, assetVersion }
  const encrypted = await encryptDraft({ dek, place, draft, source: chunks, reuseBuffers: true })
  const total = size ?? ticket.size
  const sent = await sendParts(actor, store, { ticket, encrypted, there, total }, options)
  const { plaintextSize, ciphertextSize, ciphertextHash } = sent.content
  const isAsSaid = total === undefined || plaintextSize === total
  refuseUnless(isAsSaid, 'malformed', 'the content of an attachment has another size than was said')
  if (there) {
    const stored = await finalize(actor, ticket, sent, options)
    const isSame = stored.ciphertextSize === ciphertextSize && stored.ciphertextHash === ciphertextHash
    refuseUnless(isSame, 'asset_mismatch', 'what lies in storage is not what was sent', { assetId })
  }
  options.onProgress?.(plaintextSize, plaintextSize)
  return sent
}

const MAX_WAITS = 400
const LEAST_WAIT_MS = 1000

/** A large object takes the server longer to read than one request may take. */
async function finalize(
  { client }: Actor,
  { vaultId, uploadId }: UploadTicket,
  { parts }: SentParts,
  options: CallerOptions,
): Promise<{ ciphertextSize: number; ciphertextHash: string }> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await client.attachments.finalize(
        { params: { vaultId }, body: { uploadId, parts: [...parts] } },
        call(options),
      )
    } catch (error) {
      const isReading = error instanceof ApiError && error.code === 'upload_being_read'
      if (!isReading || waits >= MAX_WAITS) throw error
      await pause(Math.max(LEAST_WAIT_MS, (error.retryAfter ?? 0) * 1000), options.signal)
    }
  }
}

async function attach(
  actor: Actor,
  { org, vaultId, itemId, assetId, assetVersion }: UploadTicket,
  dek: Dek,
  { content }: SentParts,
  options: CallerOptions,
): Promise<Uploaded> {
  const place = { org, vaultId, assetId, assetVersion }
  const { receipt }: Committed = await attachContent(actor, { place, itemId, content, dek }, options)
  return { assetId, assetVersion, itemId, size: content.plaintextSize, receipt }
}

/**
 * Goes on with an upload. The source is the same content again, from its beginning: it is encrypted again, to the same bytes, and
 * only parts that have not arrived are sent. An upload that was attached already is told as such.
 */
export async function resumeUpload(
  actor: Actor,
  store: ObjectStore,
  text: string,
  source: UploadSource,
  options: UploadOptions = {},
): Promise<Uploaded> {
  const ticket = parseUploadTicket(text)
  const { vaultId, assetId, assetVersion, uploadId, draft, size } = ticket
  const isOwn = ticket.org === actor.org
  refuseUnless(isOwn, 'malformed', 'a ticket is of an upload of another organisation')
  const isSame = size === undefined || source.size === undefined || size === source.size
  refuseUnless(isSame, 'malformed', 'the content of an attachment has another size than when its upload began')
  const known = await loadVault(actor, vaultId, options)
  if (known.content.assets.get(assetId)?.assetVersion === assetVersion) return attachedAlready(actor, ticket, options)
  await ensureRotated(actor, known, options)
  const { status, data } = await actor.client.attachments.upload({ params: { vaultId, uploadId } }, call(options))
  const there = status === 'finalized' ? undefined : new Map(data.map((part) => [part.partNumber, part]))
  const dek = await keyOf(actor, known.head, draft.dekVersion, options)
  await placeholder(actor, ticket, options)
  const sent = await sendContent(actor, store, { ticket, dek, there }, source, options)
  return attach(actor, ticket, dek, sent, options)
}

async function attachedAlready(
  actor: Actor,
  { vaultId, itemId, assetId, assetVersion }: UploadTicket,
  { onProgress, ...options }: UploadOptions,
): Promise<Uploaded> {
  const { assets, receipt } = await readAssets(actor, vaultId, itemId, options)
  const asset = assets.find(({ row }) => row.assetId === assetId)
  if (!asset) throw absentAsset()
  const size = asset.content.plaintextSize
  onProgress?.(size, size)
  return { assetId, assetVersion, itemId, size, receipt }
}

/** Ends an upload that nobody will go on with. */
export async function abortUpload(actor: Actor, text: string, options: CallerOptions = {}): Promise<void> {
  const { vaultId, uploadId } = parseUploadTicket(text)
  await actor.client.attachments.abort({ params: { vaultId, uploadId } }, call(options))
}
