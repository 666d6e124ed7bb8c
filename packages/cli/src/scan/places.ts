import { open, readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { CliError } from '../errors/cli-error.ts'

// Where to look: the files of a folder.

export interface Place {
  readonly path: string
  /** The version of a file that git keeps under this id; absent for files of the folder. */
  readonly blob?: string
  readonly bytes: Buffer
}

const SKIPPED = new Set(['node_modules', '.git', '.hg', '.svn'])
export const LARGEST = 16 * 1024 * 1024

async function* filesIn(folder: string, onSkipped: (path: string) => void): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => onSkipped(folder))
  for (const entry of entries ?? []) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) yield* filesIn(path, onSkipped)
    else if (entry.isFile()) yield path
  }
}

async function bytesOf(path: string): Promise<Buffer | undefined> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    return size > LARGEST ? undefined : await file.readFile()
  } finally {
    await file.close()
  }
}

/** Every file under a path, or the file itself. Those that are too large are named, not read. */
export async function* filePlaces(root: string, onSkipped: (path: string) => void): AsyncGenerator<Place> {
  const isFolder = (
    await stat(root).catch(() => {
      throw new CliError('file_unreadable', `${root} is not there`)
    })
  ).isDirectory()
  const named = (path: string): string => (isFolder ? relative(root, path) || path : path)
  const skip = (path: string): void => onSkipped(named(path))
  for await (const path of isFolder ? filesIn(root, skip) : [root]) {
    const bytes = await bytesOf(path).catch(() => undefined)
    if (bytes === undefined) skip(path)
    else yield { path: named(path), bytes }
  }
}
