import { createInterface } from 'node:readline'
import { CliError } from '../errors/cli-error.ts'
import { ensureRepository, feed, git, startGit } from './git.ts'
import { LARGEST, type Place } from './places.ts'

// What is staged, and every version git knows. Contents are asked for by their id: no name has to be written for git then.

/** A commit is kept from nothing by a file that was not looked at, so few are too large. */
const LARGEST_STAGED = 256 * 1024 * 1024
const SUBMODULE = '160000'
const UNMERGED = '000000'

interface Blob {
  readonly id: string
  readonly path: string
}

type OnSkipped = (path: string) => void

async function stagedBlobs(folder: string): Promise<readonly Blob[]> {
  const args = ['-c', 'diff.relative=false', 'diff', '--cached', '--raw', '--no-abbrev', '--no-renames', '-z']
  const fields = (await git(folder, [...args, '--diff-filter=d'])).toString('utf8').split('\0')
  const blobs: Blob[] = []
  // `:100644 100644 OLD NEW M`, then the path.
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, mode = '', , id = ''] = (fields[i] ?? '').split(' ')
    if (mode !== SUBMODULE && mode !== UNMERGED) blobs.push({ id, path: fields[i + 1] ?? '' })
  }
  return blobs
}

async function blobsOfHistory(folder: string): Promise<readonly Blob[]> {
  const lines = (await git(folder, ['rev-list', '--objects', '--all'])).toString('utf8').split('\n')
  return lines.flatMap((line) => {
    const at = line.indexOf(' ')
    return at > 0 && at < line.length - 1 ? [{ id: line.slice(0, at), path: line.slice(at + 1) }] : []
  })
}

/** Those that are files and not too large; the others are named. */
async function readable(folder: string, blobs: readonly Blob[], largest: number, onSkipped: OnSkipped) {
  const ids = blobs.map(({ id }) => `${id}\n`).join('')
  const answers = (await git(folder, ['cat-file', '--batch-check=%(objecttype) %(objectsize)'], ids)).toString('latin1')
  const lines = answers.split('\n')
  return blobs.filter(({ id, path }, i) => {
    const [type, size] = (lines[i] ?? '').split(' ')
    if (type === 'tree' || type === 'commit' || type === 'tag') return false
    const isReadable = type === 'blob' && Number(size) <= largest
    if (!isReadable) onSkipped(`${path} (git ${id.slice(0, 10)})`)
    return isReadable
  })
}

/** Reads a stream line by line and byte by byte, by turns. */
function takingFrom(stream: AsyncIterable<Buffer>) {
  const reader = stream[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const more = async (): Promise<Buffer> => {
    const { value, done } = await reader.next()
    if (done) throw new CliError('git_failed', 'git ended before it had shown everything', { fix: 'git fsck' })
    return value
  }
  const take = async (length: number): Promise<Buffer> => {
    const chunks = [held]
    let size = held.length
    while (size < length) {
      const chunk = await more()
      chunks.push(chunk)
      size += chunk.length
    }
    const all = Buffer.concat(chunks)
    held = all.subarray(length)
    return all.subarray(0, length)
  }
  const line = async (): Promise<string> => {
    while (!held.includes(10)) held = Buffer.concat([held, await more()])
    return (await take(held.indexOf(10) + 1)).toString('latin1').trimEnd()
  }
  return { take, line }
}

async function* placesOf(folder: string, blobs: readonly Blob[]): AsyncGenerator<Place> {
  const child = startGit(folder, ['cat-file', '--batch'])
  child.stdin.on('error', () => undefined)
  const { take, line } = takingFrom(child.stdout)
  try {
    for (const { id, path } of blobs) {
      child.stdin.write(`${id}\n`)
      const [, , size] = (await line()).split(' ')
      const bytes = await take(Number(size))
      await take(1)
      yield { path, blob: id, bytes }
    }
  } finally {
    child.stdin.end()
    child.kill()
  }
}

/** What the next commit would hold. */
export async function* stagedPlaces(folder: string, onSkipped: OnSkipped): AsyncGenerator<Place> {
  await ensureRepository(folder)
  const blobs = await readable(folder, await stagedBlobs(folder), LARGEST_STAGED, onSkipped)
  for await (const { path, bytes } of placesOf(folder, blobs)) yield { path, bytes }
}

/** Every version of every file that any branch or tag still knows, each once. */
export async function* historyPlaces(folder: string, onSkipped: OnSkipped): AsyncGenerator<Place> {
  await ensureRepository(folder)
  yield* placesOf(folder, await readable(folder, await blobsOfHistory(folder), LARGEST, onSkipped))
}

/** The first commit that holds each of these; one that only a tag names is in none. */
export async function commitsOf(folder: string, blobs: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const commits = new Map<string, string>()
  if (blobs.size === 0) return commits
  const oldestFirst = await git(folder, ['rev-list', '--all', '--topo-order', '--reverse'])
  const child = startGit(folder, ['diff-tree', '--stdin', '-r', '-m', '--root', '--no-renames', '--raw', '--no-abbrev'])
  feed(child, oldestFirst.toString('latin1'))
  let commit = ''
  for await (const line of createInterface({ input: child.stdout })) {
    const [, , , id = ''] = line.split(' ')
    if (!line.startsWith(':')) commit = line.split(' ')[0] ?? ''
    else if (blobs.has(id) && !commits.has(id)) commits.set(id, commit)
    if (commits.size === blobs.size) break
  }
  child.kill()
  return commits
}
