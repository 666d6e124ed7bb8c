import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unusable } from '../postgres/data-lock.ts'

// Beside a database that a restore has made and not filled. A server that starts on it takes the mark away: from then on the database is
// its own.

/** The command line looks for this name too. */
const MARK = 'restore.unfinished'

export function markUnfinished(dataDirectory: string): void {
  try {
    mkdirSync(dataDirectory, { recursive: true, mode: 0o711 })
    writeFileSync(join(dataDirectory, MARK), 'A restore into this directory has not come to its end.\n', {
      mode: 0o600,
    })
  } catch (error) {
    throw unusable(dataDirectory, error)
  }
}

export const unmark = (dataDirectory: string): void => rmSync(join(dataDirectory, MARK), { force: true })
