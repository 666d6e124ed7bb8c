import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { shellLine } from '@strongroom/contract'
import { CliError } from '../errors/cli-error.ts'
import { utf8Text } from './utf8.ts'

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** The text of a file, or nothing where there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    if (isAbsent(cause)) return undefined
    throw new CliError('file_unreadable', `${path} cannot be read`, {
      fix: shellLine`check its owner and mode: ls -l ${path}`,
      cause,
    })
  })
  return bytes && utf8Text(bytes, path)
}

type Text = string | Uint8Array | AsyncIterable<Uint8Array>

/** Whether it is the file that failed, and not what was to be written as it came. */
const isOfFile = (error: unknown): boolean => (error as NodeJS.ErrnoException).syscall !== undefined

/** Whole or not at all, readable by nobody else, on disk before this returns. */
export async function writePrivate(path: string, text: Text, mode = 0o600): Promise<void> {
  const draft = `${path}.${randomUUID().slice(0, 8)}.tmp`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const file = await open(draft, 'wx', mode)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await chmod(draft, mode)
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined)
    if (!isOfFile(cause)) throw cause
    throw new CliError('file_unwritable', `${path} cannot be written`, {
      fix: shellLine`check that the folder is yours: ls -ld ${dirname(path)}`,
      cause,
    })
  }
}
