import type { Database } from './database.ts'

// What would wait for one lock of the database anyway waits in the process instead, and goes together.

interface Line<W> {
  waiting: W[]
  isMoving: boolean
  /** Whom the next group waits for: how many, and what is done once they are there. */
  awaited: { readonly count: number; come(): void } | undefined
}

export interface Together<W> {
  readonly most: number
  /** Of each name only the first one goes; who has the same name as one before comes after it. */
  namesOf(one: W): readonly string[]
  /** Answers all of them; never fails itself. */
  go(group: readonly W[]): Promise<void>
}

/** Lets those of one line go one group after the other; what comes in with one turn of the event loop is in the first. */
export function makeLines<W>(together: Together<W>): (database: Database, name: string, one: W) => void {
  // One set for each process, which has one pool.
  const linesOf = new WeakMap<Database, Map<string, Line<W>>>()
  return (database, name, one) => {
    const lines = linesOf.get(database) ?? new Map<string, Line<W>>()
    linesOf.set(database, lines)
    const line = lines.get(name) ?? { waiting: [], isMoving: false, awaited: undefined }
    lines.set(name, line)
    line.waiting.push(one)
    if (line.awaited && line.waiting.length >= line.awaited.count) line.awaited.come()
    if (line.isMoving) return
    line.isMoving = true
    setImmediate(() => void move(together, line, () => lines.delete(name)))
  }
}

async function move<W>(together: Together<W>, line: Line<W>, end: () => void): Promise<void> {
  while (line.waiting.length > 0) {
    const group = nextOf(together, line.waiting)
    line.waiting = line.waiting.filter((one) => !group.includes(one))
    await together.go(group)
    await gather(line, Math.min(group.length + line.waiting.length, together.most))
  }
  // In the same turn in which nobody was left: whoever comes later begins a line.
  end()
}

const GATHER_MS = 2

/**
 * Whoever was answered in company often comes again at once, and so would find a group just gone without it: as many as were there are
 * waited for, and hardly longer than one of them takes to come.
 */
async function gather<W>(line: Line<W>, count: number): Promise<void> {
  if (count < 2 || line.waiting.length >= count) return
  await new Promise<void>((resolve) => {
    const late = setTimeout(resolve, GATHER_MS)
    const come = (): void => {
      clearTimeout(late)
      resolve()
    }
    line.awaited = { count, come }
  })
  line.awaited = undefined
}

function nextOf<W>({ most, namesOf }: Together<W>, waiting: readonly W[]): W[] {
  const taken = new Set<string>()
  return waiting
    .filter((one) => {
      const names = namesOf(one)
      const isFree = names.every((name) => !taken.has(name))
      for (const name of names) taken.add(name)
      return isFree
    })
    .slice(0, most)
}
