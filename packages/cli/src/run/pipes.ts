import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

// Real pipes. What Node calls a pipe to a child is a socket: the child cannot open /dev/stdout on it, and gets no SIGPIPE when its
// reader goes away. Node cannot make pipes, but it can open them by name; so there is a folder with some, in which every process
// takes those that are free and gives them back when it has seen their end. Only the first starts have to make any.

export interface Pipe {
  readonly read: number
  readonly write: number
  /** Nobody has an end of it any more, so somebody else can have it. Without this it is removed. */
  giveBack(): void
}

export interface InputPipe extends Pipe {
  /** Whoever opens the pipe by name waits for a writer, also when all was written before. False once nobody can come any more. */
  letIn(): boolean
}

export interface Pipes {
  /** What the child writes: our end does not wait. */
  output(): Pipe
  /** What the child reads: our end does not wait. */
  input(): InputPipe
  /** Those that nobody took or gave back. */
  remove(): void
}

const FREE = 'free-'
const usedName = (): string => `used-${process.pid}-${randomUUID()}`

function openOutput(path: string): Pick<Pipe, 'read' | 'write'> {
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return { read, write: openSync(path, constants.O_WRONLY) }
}

function openInput(path: string): Pick<Pipe, 'read' | 'write'> {
  // Each end waits for the other to be opened; somebody who has both keeps them from waiting.
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const read = openSync(path, constants.O_RDONLY)
  const write = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  closeSync(both)
  return { read, write }
}

function letIn(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    return true
  } catch {
    return false
  }
}

/** Takes a free one; who renames it first has it. */
function claim(folder: string, free: string[]): string | undefined {
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    const path = join(folder, usedName())
    try {
      renameSync(join(folder, name), path)
      return path
    } catch {
      // Somebody else was faster.
    }
  }
  return undefined
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** What processes left behind that were killed. */
function tidy(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const [, pid] = /^used-(\d+)-/.exec(name) ?? []
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true })
  }
}

async function make(folder: string, count: number): Promise<readonly string[]> {
  const paths = Array.from({ length: count }, () => join(folder, usedName()))
  await promisify(execFile)('mkfifo', ['-m', '600', ...paths])
  return paths
}

/** So many pipes; undefined where this system has none by name. */
export async function takePipes(folder: string, count: number): Promise<Pipes | undefined> {
  if (process.platform === 'win32') return undefined
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const names = readdirSync(folder)
    const free = names.filter((name) => name.startsWith(FREE))
    const paths = Array.from({ length: count }, () => claim(folder, free)).flatMap((path) => path ?? [])
    if (paths.length < count) {
      tidy(folder, names)
      paths.push(...(await make(folder, count - paths.length)))
    }
    return pipesAt(folder, paths)
  } catch {
    return undefined
  }
}

function pipesAt(folder: string, paths: readonly string[]): Pipes {
  const left = [...paths]
  const owned = new Set(paths)
  const take = (open: (path: string) => Pick<Pipe, 'read' | 'write'>): InputPipe => {
    const path = left.pop()
    if (path === undefined) throw new Error('there are no more pipes')
    const giveBack = (): void => {
      if (owned.delete(path)) renameSync(path, join(folder, `${FREE}${randomUUID()}`))
    }
    return { ...open(path), giveBack, letIn: () => letIn(path) }
  }
  return {
    output: () => take(openOutput),
    input: () => take(openInput),
    remove: () => {
      for (const path of owned) rmSync(path, { force: true })
      owned.clear()
    },
  }
}
