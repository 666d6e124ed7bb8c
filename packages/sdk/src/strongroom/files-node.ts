import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Files } from './options.ts'
import { StrongroomError } from './strongroom-error.ts'

const failed = (message: string, cause: unknown): unknown =>
  StrongroomError.is(cause)
    ? cause
    : new StrongroomError(message, { code: 'file_failed', hint: 'The cause says what the system refused.', cause })

async function openFile(path: string): ReturnType<Files['open']> {
  try {
    const { size } = await stat(path)
    return { chunks: chunksOf(path), size, name: basename(path) }
  } catch (cause) {
    throw failed('the file cannot be read', cause)
  }
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* createReadStream(path, { highWaterMark: 1_048_576 }) as AsyncIterable<Uint8Array>
  } catch (cause) {
    throw failed('the file cannot be read', cause)
  }
}

/** Under a temporary name in the same directory, and on the disk before it is renamed. What is not whole is deleted. */
async function saveFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const directory = dirname(path)
  const temporary = join(directory, `.${basename(path)}.${crypto.randomUUID()}.part`)
  try {
    await writeFile(temporary, chunks)
    await rename(temporary, path)
    await syncDirectory(directory)
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw failed('the file cannot be written', cause)
  }
}

async function writeFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of chunks)
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A new name survives a power cut once its directory is on the disk; some systems cannot be asked for that. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined)
  await directory?.sync().catch(() => undefined)
  await directory?.close()
}

export const nodeFiles: Files = { open: openFile, save: saveFile }
