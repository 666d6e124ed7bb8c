// Where ciphertexts of attachments lie. A key names one object for ever; its content never changes once it is complete. Every call
// can be repeated: after a crash nobody knows whether the last one happened.

export interface Upload {
  readonly key: string
  /** What the storage itself calls the upload. */
  readonly storageId: string
}

export interface StoredPart {
  readonly partNumber: number
  readonly size: number
  readonly etag: string
}

/** A part as its sender knows it; `sha256` in base64url. */
export interface SentPart extends StoredPart {
  readonly sha256: string
}

export type Completion =
  | { readonly state: 'complete' }
  /** These are missing, or other bytes than were sent; the upload goes on. */
  | { readonly state: 'refused'; readonly parts: readonly number[] }
  | { readonly state: 'gone' }

export interface ObjectStorage {
  startUpload(key: string): Promise<string>
  /** For one PUT of exactly this part, of exactly this size. */
  presignPart(upload: Upload, part: Pick<StoredPart, 'partNumber' | 'size'>, expiresAt: Date): string
  /** undefined if there is no such upload any more. */
  listParts(upload: Upload): Promise<readonly StoredPart[] | undefined>
  completeUpload(upload: Upload, parts: readonly SentPart[]): Promise<Completion>
  abortUpload(upload: Upload): Promise<void>
  presignDownload(key: string, expiresAt: Date): string
  read(key: string): AsyncIterable<Uint8Array>
  stat(key: string): Promise<{ readonly size: number } | undefined>
  delete(key: string): Promise<void>
  /** Uploads that nothing was sent to since. */
  uploadsBefore(time: Date): AsyncIterable<Upload>
  objects(): AsyncIterable<string>
}

export const isObjectKey = (text: string): boolean => /^obj_[0-9a-z]{22}$/.test(text)
