import { dirname } from 'node:path'
import { shellLine } from '@strongroom/contract'
import { whyForbidden } from '../forbidden.ts'
import { OperatorError } from './operator-error.ts'

// Why a file cannot be written where the operator wants it, in words that say what to do. Nothing of it is left behind.

const elsewhere = 'name a file on another disk'
const NEXT: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => shellLine`make the folder first: mkdir -p ${dirname(file)}`,
  ENOTDIR: (file) => `name a file in a folder: ${dirname(file)} is none`,
  ENOSPC: () => `make room there, or ${elsewhere}`,
  EDQUOT: () => `make room there, or ${elsewhere}`,
  EFBIG: () => elsewhere,
  EIO: () => `look at that disk, and ${elsewhere}`,
  EROFS: () => elsewhere,
  EACCES: () => 'name a file in a folder of yours',
  EPERM: () => 'name a file in a folder of yours',
}

/** The refusal for what the file system says; any other error, and what is said of a connection, as it is. */
export function unwritable(file: string, error: unknown): unknown {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  const next = NEXT[code]
  if (!next || syscall === undefined || syscall === 'connect') return error
  return new OperatorError(
    'archive_unwritable',
    `${file} cannot be written: ${whyForbidden(error) ?? code}`,
    next(file),
  )
}
