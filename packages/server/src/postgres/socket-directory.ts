import { chownSync, existsSync, lstatSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Owner, ownDirectory } from './owner.ts'

// Where the socket of PostgreSQL is. In the data directory, if its path is short enough to be one of a socket.

export interface SocketDirectory {
  readonly path: string
  /** When PostgreSQL has ended. */
  remove(): void
}

/** sun_path has 108 bytes on Linux; PostgreSQL appends its own name. */
const MAX_LENGTH = 80
const SHORT = '/tmp/strongroom-'

/** PostgreSQL must not run: a socket that is left from an earlier life is removed. */
export function provideSocketDirectory(home: string, owner: Owner | undefined, socket: string): SocketDirectory {
  const near = join(home, 'run')
  if (near.length <= MAX_LENGTH) {
    ownDirectory(near, 0o700, owner)
    // Nobody else has a socket here. The number in this lock may belong to another process by now, or to one nobody has collected.
    rmSync(join(near, `${socket}.lock`), { force: true })
    return { path: near, remove: () => undefined }
  }
  return shortDirectory(join(home, 'run-directory'), owner, socket)
}

/**
 * Everybody may write there and see what is there. So it is made anew at each start, under a name that nobody had before: whoever saw
 * the last one could have put a link in its place, and what we own as root would be what that leads to.
 */
function shortDirectory(note: string, owner: Owner | undefined, socket: string): SocketDirectory {
  if (existsSync(note)) leave(readFileSync(note, 'utf8'), owner, socket)
  const path = mkdtempSync(SHORT)
  if (owner) chownSync(path, owner.uid, owner.gid)
  writeFileSync(note, path, { mode: 0o600 })
  return { path, remove: () => leave(path, owner, socket) }
}

/** Only what is ours: in the place of a link, or of what somebody else has made, nothing is removed. A directory with more in it stays. */
function leave(path: string, owner: Owner | undefined, socket: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory() || found.uid !== (owner?.uid ?? process.getuid?.())) return
  try {
    for (const name of [socket, `${socket}.lock`]) rmSync(join(path, name), { force: true })
    rmdirSync(path)
  } catch {
    // What is left there is nobody's way in: no start takes it again.
  }
}
