import { platform } from '#platform'
import { toBase64url } from '../encoding/base64.ts'
import type { Bytes } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import type { Dek } from '../values/dek.ts'
import { type AssetContent, contentKeyOf, MAX_CIPHERTEXT_BYTES, PART_BYTES, type VerifiedAsset } from './checkpoint.ts'
import {
  type AssetMeta,
  type AssetPlace,
  bodyContext,
  type ContentKey,
  contentKeyBytes,
  makeContentKey,
  makePlaintextHash,
  openAssetMeta,
  repeatableNonces,
  rewrapContentKey,
  sealAssetMeta,
  unwrapContentKey,
  wrapContentKey,
} from './content-key.ts'
import {
  type ByteSource,
  encryptStream,
  type FloeStreamOptions,
  openSegments,
  type StreamOptions,
} from './floe-stream.ts'

// Section 7: attachments on their way up and down.
//
// Release rule: plaintext is given out segment by segment, each after its tag verified, but the file is whole only when the
// generator has ended without an error. So write to a temporary name and rename after the end; delete the file on an error.

const ensureUploadable = (ciphertextSize: number): void =>
  ensure(ciphertextSize <= MAX_CIPHERTEXT_BYTES, 'limit_exceeded', 'an attachment is larger than 10,000 parts of 8 MiB')

export interface Part {
  /** From 1, as object stores count. */
  readonly partNumber: number
  readonly offset: number
  readonly size: number
}

/** Fixed parts of 8 MiB of the ciphertext, independent of segments; the last is smaller. */
export function partsOf(ciphertextSize: number): readonly Part[] {
  ensureUploadable(ciphertextSize)
  return Array.from({ length: Math.ceil(ciphertextSize / PART_BYTES) }, (_, index) => {
    const offset = index * PART_BYTES
    return { partNumber: index + 1, offset, size: Math.min(PART_BYTES, ciphertextSize - offset) }
  })
}

export interface EncryptAttachmentInput extends StreamOptions {
  readonly dek: Dek
  readonly place: AssetPlace
  readonly source: ByteSource
  readonly name: string
  readonly mediaType: string
}

/** An attachment before its content: what to keep of an upload to go on with it later. Sealed, so it may be kept anywhere. */
export type AttachmentDraft = Pick<AssetContent, 'dekVersion' | 'cek' | 'meta'>

/** Makes the content key of an attachment that is encrypted with `encryptDraft`. */
export async function draftAttachment(
  dek: Dek,
  place: AssetPlace,
  { name, mediaType }: AssetMeta,
): Promise<AttachmentDraft> {
  const key = makeContentKey()
  const cek = await wrapContentKey(dek, place, key)
  return { dekVersion: dek.dekVersion, cek, meta: await sealAssetMeta(key, place, { mediaType, name }) }
}

export interface EncryptDraftInput extends StreamOptions {
  /** Of the version the draft is under. */
  readonly dek: Dek
  readonly place: AssetPlace
  readonly draft: AttachmentDraft
  readonly source: ByteSource
}

/** Encrypts the content of a draft: the same content again to the same bytes, in this process or in another. */
export async function encryptDraft({ draft, dek, place, ...rest }: EncryptDraftInput): Promise<EncryptedAttachment> {
  const key = await unwrapContentKey(dek, place, draft.cek)
  // A name that does not open would be found out after the upload, by everybody else.
  await openAssetMeta(key, place, draft.meta)
  return encrypting(draft, key, { place, ...rest, nonces: repeatableNonces(key) })
}

/** The content of a draft to sign, if the vault key was changed since it was begun. */
export const rewrapDraft = async (
  content: AssetContent,
  place: AssetPlace,
  from: Dek,
  to: Dek,
): Promise<AssetContent> =>
  from.dekVersion === to.dekVersion
    ? content
    : { ...content, cek: await rewrapContentKey(from, to, place, content.cek), dekVersion: to.dekVersion }

export interface EncryptedAttachment {
  /** Can be read once. */
  readonly ciphertext: AsyncIterable<Bytes>
  /** What to sign; refuses until `ciphertext` was read to its end. */
  content(): AssetContent
}

/** Encrypts an attachment under a content key of its own. Memory stays flat; the source is read as the ciphertext is. */
export async function encryptAttachment(input: EncryptAttachmentInput): Promise<EncryptedAttachment> {
  const { dek, place, name, mediaType } = input
  const key = makeContentKey()
  const cek = await wrapContentKey(dek, place, key)
  const meta = await sealAssetMeta(key, place, { mediaType, name })
  return encrypting({ dekVersion: dek.dekVersion, cek, meta }, key, input)
}

interface Encrypting extends FloeStreamOptions {
  readonly place: AssetPlace
  readonly source: ByteSource
}

function encrypting(draft: AttachmentDraft, key: ContentKey, input: Encrypting): EncryptedAttachment {
  let measured: Measured | undefined
  return {
    ciphertext: encryptMeasured(key, input, (result) => {
      measured = result
    }),
    content: () => {
      ensure(measured, 'asset_mismatch', 'an attachment was not encrypted to its end')
      const { dekVersion, cek, meta } = draft
      return { dekVersion, cek, ...measured, meta }
    },
  }
}

type Measured = Pick<AssetContent, 'ciphertextSize' | 'ciphertextHash' | 'plaintextSize' | 'plaintextHash'>

async function* encryptMeasured(
  key: ContentKey,
  { place, source, reuseBuffers, nonces }: Encrypting,
  done: (result: Measured) => void,
): AsyncGenerator<Bytes, void, undefined> {
  const plaintextHash = makePlaintextHash(key)
  const ciphertextHash = platform.makeSha256()
  let plaintextSize = 0
  let ciphertextSize = 0
  const seen = (plaintext: Uint8Array): void => {
    plaintextSize += plaintext.length
    plaintextHash.update(plaintext)
  }
  const options = { reuseBuffers, nonces }
  for await (const bytes of encryptStream(contentKeyBytes(key), bodyContext(place), source, options, seen)) {
    ciphertextSize += bytes.length
    ensureUploadable(ciphertextSize)
    ciphertextHash.update(bytes)
    yield bytes
  }
  done({
    ciphertextSize,
    ciphertextHash: toBase64url(ciphertextHash.digest()),
    plaintextSize,
    plaintextHash: toBase64url(plaintextHash.digest()),
  })
}

/** Passes a ciphertext on while it is what the checkpoint says; a byte too many is refused as soon as it is seen. */
async function* expectCiphertext(
  source: ByteSource,
  { ciphertextSize, ciphertextHash }: AssetContent,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = platform.makeSha256()
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    ensure(size <= ciphertextSize, 'asset_mismatch', 'an attachment is longer than its checkpoint says')
    hash.update(chunk)
    yield chunk
  }
  ensure(size === ciphertextSize, 'asset_mismatch', 'an attachment is shorter than its checkpoint says', {
    size,
    ciphertextSize,
  })
  ensure(
    toBase64url(hash.digest()) === ciphertextHash,
    'asset_mismatch',
    'an attachment is not the one its checkpoint says',
  )
}

export interface DecryptAttachmentInput extends StreamOptions {
  readonly dek: Dek
  readonly asset: VerifiedAsset
  /** What the object store answers; attacker-controlled. */
  readonly source: ByteSource
}

/**
 * Decrypts an attachment as a stream. The final segment is held back until size and hash of the ciphertext and size and
 * keyed hash of the plaintext all matched the checkpoint: a generator that ends has given out exactly what was attached.
 */
export async function* decryptAttachment(input: DecryptAttachmentInput): AsyncGenerator<Bytes, void, undefined> {
  const { dek, asset, source, reuseBuffers } = input
  const { place, content } = asset
  const key = await contentKeyOf(dek, asset)
  const hash = makePlaintextHash(key)
  let size = 0
  const ciphertext = expectCiphertext(source, content)
  const segments = openSegments(contentKeyBytes(key), bodyContext(place), ciphertext, { reuseBuffers })
  for await (const { plaintext, isFinal } of segments) {
    size += plaintext.length
    ensure(size <= content.plaintextSize, 'asset_mismatch', 'an attachment holds more than its checkpoint says')
    hash.update(plaintext)
    if (isFinal) {
      ensure(size === content.plaintextSize, 'asset_mismatch', 'an attachment holds less than its checkpoint says')
      const same = toBase64url(hash.digest()) === content.plaintextHash
      ensure(same, 'asset_mismatch', 'an attachment holds something else than its checkpoint says')
    }
    yield plaintext
  }
}
