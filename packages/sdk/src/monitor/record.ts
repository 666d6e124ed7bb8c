import { createHash, randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

// The memory of a cosigner: for each log the newest checkpoint it has vouched for. It is kept before the cosignature exists, so
// that no crash and no second process can make it vouch for two histories.
//
// A log has files `<hash of its origin>.<n>`, and the highest n is true. A step is a new file under the next number, complete
// and on the disk before it gets that name, and a name can be given once (link): of several processes that saw the same n, one
// makes the next step and the others read again. So there is no lock that somebody killed could leave behind.

export interface Seen {
  readonly size: number
  /** base64 */
  readonly root: string
  /** As the log signed it: with another note of this log it may be the proof of a fork. */
  readonly note: string
}

export interface Remembered {
  /** How many steps were made; 0 for a log never seen. */
  readonly step: number
  readonly seen: Seen | null
}

export interface SeenRecord {
  latest(origin: string): Promise<Remembered>
  /** False if somebody else has made a step since `before`: nothing was kept, and nothing may be signed. */
  advance(origin: string, before: Remembered, next: Seen): Promise<boolean>
}

const isCode = (error: unknown, code: string): boolean => (error as { code?: string }).code === code

/** So many old steps stay: who is that far behind cannot take a number that was used before. */
const KEPT_STEPS = 8

function parseSeen(text: string, origin: string): Seen {
  const { size, root, note, origin: of } = JSON.parse(text) as Partial<Seen> & { origin?: unknown }
  const isWhole = of === origin && Number.isSafeInteger(size) && typeof root === 'string' && typeof note === 'string'
  if (!isWhole) throw new Error(`the record of ${origin} cannot be read; whoever cosigns must not guess`)
  return { size: size as number, root, note }
}

/** On the disk, not only in memory. */
async function writeSynced(path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

export function openRecord(directory: string): SeenRecord {
  const prefixOf = (origin: string): string => `${createHash('sha256').update(origin).digest('hex').slice(0, 32)}.`
  const steps = async (origin: string): Promise<readonly number[]> => {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const prefix = prefixOf(origin)
    return (await readdir(directory))
      .filter((name) => name.startsWith(prefix) && /^[1-9][0-9]{0,15}$/.test(name.slice(prefix.length)))
      .map((name) => Number(name.slice(prefix.length)))
      .sort((a, b) => a - b)
  }
  const placeOf = (origin: string, step: number): string => join(directory, `${prefixOf(origin)}${step}`)

  async function latest(origin: string): Promise<Remembered> {
    for (;;) {
      const step = (await steps(origin)).at(-1)
      if (step === undefined) return { step: 0, seen: null }
      try {
        return { step, seen: parseSeen(await readFile(placeOf(origin, step), 'utf8'), origin) }
      } catch (error) {
        // Somebody else went on many steps between the two looks.
        if (!isCode(error, 'ENOENT')) throw error
      }
    }
  }

  async function advance(origin: string, before: Remembered, next: Seen): Promise<boolean> {
    const step = before.step + 1
    const draft = join(directory, `${randomUUID()}.tmp`)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    try {
      await writeSynced(draft, `${JSON.stringify({ origin, ...next })}\n`)
      await link(draft, placeOf(origin, step))
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false
      throw error
    } finally {
      await rm(draft, { force: true })
    }
    const known = await steps(origin)
    if (known.at(-1) !== step) {
      await rm(placeOf(origin, step), { force: true })
      return false
    }
    await syncDirectory(directory)
    for (const old of known.filter((one) => one <= step - KEPT_STEPS)) await rm(placeOf(origin, old), { force: true })
    return true
  }

  return { latest, advance }
}
