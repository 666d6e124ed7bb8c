import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import type { Receipt } from './receipt.ts'

export interface Attachment {
  readonly assetId: string
  readonly itemId: string
  readonly name: string
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
  readonly version: number
  /** Whose signature the content is under. */
  readonly signerKeyId: string
  /** When, as the signer says: it was attached, replaced, renamed, or its vault got a new key. */
  readonly signedAt: Date
}

/** A path only where there are files. A stream can be read once, so only the others can be taken up again. */
export type AttachmentSource = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

type TransferOptions = Omit<RequestOptions, 'idempotencyKey' | 'query'>

export interface UploadOptions extends TransferOptions {
  /** For people, and sealed. Of a path or a `File` its own, if absent. */
  readonly name?: string
  readonly mediaType?: string
  /** An attachment of the item that this is the next version of. */
  readonly replaces?: string
  /** Bytes that have arrived, of all where that is known. Never fewer than before; at the end all. */
  readonly onProgress?: (sent: number, total: number | undefined) => void
  /** How many parts of 8 MiB are under way at once; 3 if absent. */
  readonly concurrency?: number
  /**
   * Told once, before the first byte is sent, and waited for: what `resume` takes after an interruption, in this process or in
   * another. It needs no keeping secret, and is of use to the same agent or person only, for a day.
   */
  readonly onStart?: (ticket: string) => unknown
  /** Goes on with an upload that was begun: the same content again, of which only what is missing is sent. */
  readonly resume?: string | undefined
}

export interface UploadedAttachment {
  readonly assetId: string
  readonly itemId: string
  readonly size: number
  readonly version: number
  readonly receipt: Receipt
}

export interface Download extends Attachment {
  readonly receipt: Receipt
  /**
   * The content as it arrives, each segment after it was verified. It is whole only when the stream has ended: one that was cut,
   * exchanged or altered ends in an IntegrityError instead.
   */
  readonly stream: ReadableStream<Uint8Array>
  /** All of it, in memory. */
  bytes(): Promise<Uint8Array>
  /** Under this name appears the whole verified content or nothing. Only where there are files. */
  saveTo(path: string): Promise<void>
}

export interface Attachments {
  /** Encrypts, sends and attaches a file to an item. Memory does not grow with the file. */
  upload(vault: string, item: string, source: AttachmentSource, options?: UploadOptions): ApiPromise<UploadedAttachment>
  /** Verifies what an attachment is; its content is fetched when it is asked for. */
  download(vault: string, assetId: string, options?: TransferOptions): ApiPromise<Download>
  list(vault: string, item: string, options?: RequestOptions): ApiPromise<readonly Attachment[]>
  rename(
    vault: string,
    assetId: string,
    to: { readonly name?: string; readonly mediaType?: string },
    options?: RequestOptions,
  ): ApiPromise<void>
  /** The item lists it no more. */
  remove(vault: string, assetId: string, options?: RequestOptions): ApiPromise<void>
  /** Ends an upload that nobody will go on with, by its ticket. */
  abort(ticket: string, options?: RequestOptions): ApiPromise<void>
}

const transfers = () => import('./attachment-transfers.ts')

export function attachmentsOf(core: Core): Attachments {
  return {
    upload: (
      vault,
      item,
      source,
      { name, mediaType, replaces, onProgress, concurrency, onStart, resume, ...options } = {},
    ) => {
      const wanted = { vault, item, source, name, mediaType, replaces, resume }
      const how = { onProgress, concurrency, onStart }
      return core.keyed(options, async (place) => (await transfers()).upload(place, wanted, how))
    },
    download: (vault, assetId, options) =>
      core.keyed(options, async (place) => (await transfers()).download(place, vault, assetId)),
    list: (vault, item, options) => core.keyed(options, async (place) => (await transfers()).list(place, vault, item)),
    rename: (vault, assetId, to, options) =>
      core.keyed(options, async (place) => (await transfers()).rename(place, vault, assetId, to)),
    remove: (vault, assetId, options) =>
      core.keyed(options, async (place) => (await transfers()).remove(place, vault, assetId)),
    abort: (ticket, options) => core.keyed(options, async (place) => (await transfers()).abort(place, ticket)),
  }
}
