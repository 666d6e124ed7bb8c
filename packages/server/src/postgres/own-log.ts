import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'

// PostgreSQL writes to `postgres.log` for as long as it runs, and nobody else looks after the file. When it has grown, its end is kept in
// `postgres.log.1` and it is emptied: PostgreSQL has it open and appends, so it goes on at the beginning. What is said just between the
// two is lost, which is the price of a file that cannot be exchanged under its writer.

const MAX_BYTES = 8 * 1_048_576
const LOOK_EVERY_MS = 60_000

/** The end of a file that has grown beyond so many bytes, that many of them; undefined of any other. */
function grownEnd(path: string, maxBytes: number): Buffer | undefined {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size <= maxBytes) return undefined
    const end = Buffer.alloc(maxBytes)
    return end.subarray(0, readSync(file, end, 0, maxBytes, size - maxBytes))
  } finally {
    closeSync(file)
  }
}

/** Keeps the file and one former one within so many bytes each. */
export function boundLog(path: string, maxBytes = MAX_BYTES): void {
  const end = grownEnd(path, maxBytes)
  if (!end) return
  const draft = `${path}.1.draft`
  try {
    writeFileSync(draft, end, { mode: 0o600 })
    renameSync(draft, `${path}.1`)
  } catch {
    // A disk without room needs it more than the former file.
    rmSync(draft, { force: true })
  }
  truncateSync(path)
}

/** Looks at it now and then until it is stopped. */
export function keepLogBounded(path: string): { stop(): void } {
  const look = (): void => {
    try {
      boundLog(path)
    } catch {
      // There is none yet, or it cannot be read: no reason to keep the database from working.
    }
  }
  look()
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return { stop: () => clearInterval(timer) }
}
