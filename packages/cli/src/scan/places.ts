import { execFile, spawn } from 'node:child_process'
import { open, readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { CliError } from '../errors/cli-error.ts'

// Where to look: files of a folder, what is staged, and every version git knows.

export interface Place {
  readonly path: string
  /** The object of git it is in; absent for files. */
  readonly commit?: string
  readonly bytes: Buffer
}

const SKIPPED = new Set(['node_modules', '.git', '.hg', '.svn'])
const LARGEST = 16 * 1024 * 1024

async function* filesIn(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) yield* filesIn(path)
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
  for await (const path of isFolder ? filesIn(root) : [root]) {
    const bytes = await bytesOf(path).catch(() => undefined)
    if (bytes === undefined) onSkipped(path)
    else yield { path: isFolder ? relative(root, path) : path, bytes }
  }
}

const run = promisify(execFile)

async function git(folder: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('git', ['-C', folder, ...args], { maxBuffer: 1024 * 1024 * 1024, encoding: 'latin1' })
    return stdout
  } catch (cause) {
    throw new CliError('not_a_repository', `${folder} is not a git repository`, {
      fix: 'leave --history and --staged out',
      cause,
    })
  }
}

/** What the next commit would hold. */
export async function* stagedPlaces(folder: string): AsyncGenerator<Place> {
  const names = await git(folder, ['diff', '--cached', '--name-only', '--diff-filter=ACMR', '-z'])
  for (const path of names.split('\0').filter((name) => name !== ''))
    yield {
      path: Buffer.from(path, 'latin1').toString('utf8'),
      bytes: Buffer.from(await git(folder, ['show', `:${path}`]), 'latin1'),
    }
}

interface Blob {
  readonly id: string
  readonly path: string
}

async function blobsOf(folder: string): Promise<readonly Blob[]> {
  const lines = (await git(folder, ['rev-list', '--objects', '--all'])).split('\n')
  return lines.flatMap((line) => {
    const at = line.indexOf(' ')
    return at > 0 && at < line.length - 1 ? [{ id: line.slice(0, at), path: line.slice(at + 1) }] : []
  })
}

/** Every version of every file that any branch or tag still knows, each once. */
export async function* historyPlaces(folder: string): AsyncGenerator<Place> {
  const blobs = await blobsOf(folder)
  const child = spawn('git', ['-C', folder, 'cat-file', '--batch'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const reader = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let held = Buffer.alloc(0)
  const fill = async (isEnough: () => boolean): Promise<void> => {
    while (!isEnough()) {
      const { value, done } = await reader.next()
      if (done) throw new CliError('not_a_repository', 'git ended before it had shown everything')
      held = Buffer.concat([held, value])
    }
  }
  try {
    for (const { id, path } of blobs) {
      child.stdin.write(`${id}\n`)
      await fill(() => held.includes(10))
      const end = held.indexOf(10)
      const [, type, size = '0'] = held.subarray(0, end).toString().split(' ')
      const length = Number(size)
      await fill(() => held.length >= end + 2 + length)
      const content = held.subarray(end + 1, end + 1 + length)
      if (type === 'blob' && length <= LARGEST) yield { path, commit: id, bytes: content }
      held = held.subarray(end + 2 + length)
    }
  } finally {
    child.stdin.end()
    child.kill()
  }
}
