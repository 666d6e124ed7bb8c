import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs'
import { StartError } from '../errors.ts'

// Whom the files of PostgreSQL belong to.

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root, and initdb needs a user that exists: our own, PostgreSQL's, or nobody. */
export function unprivilegedOwner(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['strongroom', 'postgres', 'nobody']) {
    const [, , uid, gid] = users.find(([user]) => user === name) ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new StartError(
    'postgres_user_missing',
    'PostgreSQL does not run as root, and there is no user it could run as',
    'create one: useradd --system strongroom',
  )
}

export function ownDirectory(path: string, mode: number, owner: Owner | undefined): string {
  mkdirSync(path, { recursive: true })
  chmodSync(path, mode)
  if (owner) chownSync(path, owner.uid, owner.gid)
  return path
}
