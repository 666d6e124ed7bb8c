import type { Ctx } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'

// Those who buy for one organisation, in the order they came. At its credit they wait for one another anyway; here they do it without a
// connection of the database, so that everybody else finds one.

/** Of the connections of this process. */
const LEFT_FOR_OTHERS = 2
/** Just before the deadline of a request: whoever was told to come again has not bought. */
const WAIT_MS = 9500

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

/** One set for each process, which has one pool. */
const linesOf = new WeakMap<Database, Map<string, Line>>()

function linesFor(database: Database): Map<string, Line> {
  const lines = linesOf.get(database) ?? new Map<string, Line>()
  linesOf.set(database, lines)
  return lines
}

/** Runs `work` when few enough of the same organisation are at it; refuses, without running it, who has waited too long `since` it came. */
export async function inLine<T>(
  ctx: Pick<Ctx, 'config' | 'database' | 'principal'>,
  since: number,
  work: () => Promise<T>,
): Promise<T> {
  const { orgId } = ctx.principal
  const lines = linesFor(ctx.database)
  const atOnce = Math.max(1, Math.min(ctx.config.purchasesAtOnce, ctx.config.poolSize - LEFT_FOR_OTHERS))
  const line = lines.get(orgId) ?? { running: 0, waiting: [] }
  lines.set(orgId, line)
  if (line.running < atOnce) line.running += 1
  // Whoever leaves gives their place to the next.
  else await new Promise<void>((resolve) => line.waiting.push(resolve))
  try {
    if (performance.now() - since > WAIT_MS) throw new ApiError('overloaded', { headers: { 'retry-after': '1' } })
    return await work()
  } finally {
    const next = line.waiting.shift()
    if (next) next()
    else line.running -= 1
    if (line.running === 0) lines.delete(orgId)
  }
}
