import { existsSync, readFileSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'

// What the file system does not let us do. Who owns what stands in the way, and who we are, is what an operator needs to know.

const FORBIDDEN = new Set(['EACCES', 'EPERM', 'EROFS'])
const USERS = '/etc/passwd'

function nameOf(uid: number): string {
  const users = existsSync(USERS) ? readFileSync(USERS, 'utf8').split('\n') : []
  const [name] = users.map((line) => line.split(':')).find(([, , id]) => id === String(uid)) ?? []
  return name ?? `the user ${uid}`
}

/** The user this process runs as. */
export const ownName = (): string => nameOf(process.getuid?.() ?? 0)

/** What is there: the path itself, or the folder that it would be in. */
function nearest(path: string): { readonly path: string; readonly stat: Stats } {
  try {
    return { path, stat: statSync(path) }
  } catch {
    return nearest(dirname(path))
  }
}

/** Whose file or folder it is that was refused to us; undefined for any other error. */
export function whyForbidden(error: unknown): string | undefined {
  const { code = '', path } = error as NodeJS.ErrnoException
  if (!FORBIDDEN.has(code) || path === undefined) return undefined
  const found = nearest(path)
  return `${code}, since ${found.path} belongs to ${nameOf(found.stat.uid)} and this is ${ownName()}`
}
