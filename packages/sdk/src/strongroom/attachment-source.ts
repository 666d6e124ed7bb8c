import type { UploadSource } from '../engine/upload.ts'
import type { AttachmentSource } from './attachments.ts'
import type { Files } from './options.ts'
import { ConfigError } from './public-errors.ts'

/** What a source says of itself. */
export interface OpenedSource extends UploadSource {
  readonly name?: string | undefined
  readonly mediaType?: string | undefined
}

export async function openSource(source: AttachmentSource, files: Files | undefined): Promise<OpenedSource> {
  if (typeof source === 'string') return filesOf(files).open(source)
  if (source instanceof Uint8Array) return { chunks: inPieces(source), size: source.length }
  if (source instanceof Blob) {
    const { name } = source as { name?: string }
    const mediaType = source.type === '' ? undefined : source.type
    return { chunks: chunksOf(source.stream()), size: source.size, name, mediaType }
  }
  return { chunks: source instanceof ReadableStream ? chunksOf(source) : source }
}

export function filesOf(files: Files | undefined): Files {
  if (files) return files
  throw new ConfigError('there are no files here', {
    code: 'config_invalid',
    hint: 'Give or take the content as bytes, a Blob or a stream.',
  })
}

const PIECE_BYTES = 1_048_576

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

/** Not every browser can iterate a stream. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
