import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { constants, openSync, rmSync } from 'node:fs'
import { lstat, rename, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { extname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { DIALECTS, type Dialect } from '../dotenv/format.ts'
import { CliError } from '../errors/cli-error.ts'

// A file that is no file: whoever opens it gets the variables once, from memory, and nothing of them is ever on a disk.

export interface MountOrder {
  readonly path: string
  readonly dialect: Dialect
}

const BY_ENDING: Readonly<Record<string, Dialect>> = {
  '.json': 'json',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.sh': 'shell',
}

/** `PATH` or `PATH:FORMAT`. What looks like a format and is none is refused: it would be the name of a pipe that nobody reads. */
export function mountOrder(given: string, cwd: string): MountOrder {
  const [, before, format] = /^(.+):([a-z]*)$/.exec(given) ?? []
  const named = DIALECTS.find((dialect) => dialect === format)
  if (format !== undefined && !named)
    throw new CliError('usage', `--mount knows no format "${format}"`, { fix: `use one of ${DIALECTS.join(', ')}` })
  const path = before ?? given
  if (path === '') throw new CliError('usage', '--mount needs a path', { fix: '--mount .env.local:dotenv' })
  return { path: resolve(cwd, path), dialect: named ?? BY_ENDING[extname(path)] ?? 'dotenv' }
}

const run = promisify(execFile)

async function makeFifo(path: string): Promise<void> {
  await run('mkfifo', ['-m', '600', path]).catch((cause: unknown) => {
    throw new CliError('mount_failed', `${path} cannot be made a pipe`, {
      fix: 'check that the folder is there and yours, and that mkfifo is installed',
      cause,
    })
  })
}

export interface Mount {
  close(): Promise<void>
}

const LOOK_MS = 15

/** The writing end, once somebody reads; undefined while nobody does. Waiting in `open` would take a thread for each of them. */
function writingEnd(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') return undefined
    throw error
  }
}

/** A reader that goes away in between has what it wanted. */
const writeAll = (fd: number, text: string): Promise<void> =>
  new Promise((resolve) => {
    const pipe = new Socket({ fd, readable: false, writable: true })
    pipe.once('close', () => resolve()).on('error', () => pipe.destroy())
    pipe.end(text)
  })

/** Serves `content` to each reader in turn, `reads` times at most; the path is gone afterwards. Refuses where something is there. */
export async function mount(
  { path }: MountOrder,
  content: () => string,
  reads = Number.POSITIVE_INFINITY,
): Promise<Mount> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  )
  if (isThere)
    throw new CliError('mount_failed', `${path} is there already`, { fix: 'remove it, or give another path' })
  await makeFifo(path)
  const removeAtExit = (): void => rmSync(path, { force: true })
  process.on('exit', removeAtExit)
  const ended = new AbortController()
  const serving = serve(path, content, reads, ended.signal).catch(() => undefined)
  return {
    close: async () => {
      ended.abort()
      await serving
      process.off('exit', removeAtExit)
      await rm(path, { force: true })
    },
  }
}

async function serve(path: string, content: () => string, reads: number, signal: AbortSignal): Promise<void> {
  for (let served = 0; served < reads && !signal.aborted; ) {
    const pipe = writingEnd(path)
    if (pipe === undefined) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      continue
    }
    served += 1
    // The next reader gets a pipe of its own: on this one it would read on where this reader stops.
    if (served < reads) await replace(path)
    else await rm(path, { force: true })
    await writeAll(pipe, content())
  }
}

async function replace(path: string): Promise<void> {
  const next = `${path}.${randomUUID().slice(0, 8)}`
  await makeFifo(next)
  await rename(next, path)
}
