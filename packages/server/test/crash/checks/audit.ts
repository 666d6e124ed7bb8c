import { nextHash, startOfChain } from '../../../src/audit/chain.ts'
import { sealedRows } from '../../../src/audit/store.ts'
import { type ChainEnd, verifyAuditChain } from '../../../src/audit/verify.ts'
import { inOrg } from '../../../src/context.ts'
import type { Database } from '../../../src/db/database.ts'
import type { Tally } from '../journal.ts'
import type { World } from '../world.ts'
import { failed, lost, type Problem } from '../writers/writer.ts'

// Every acknowledged write has exactly one audit row, and the chain over all rows is whole and only ever grows.

export interface AuditCheck {
  /** Thorough: the whole chain by the product's own verifier; otherwise what was sealed since the last time. */
  check(thorough: boolean): Promise<Problem[]>
}

const SEALED_WITHIN_MS = 15_000
const BATCH = 1000

interface Counted {
  readonly action: string
  readonly target: string
  readonly count: number
}

const COUNT = `select action, coalesce(targets -> 0 ->> 'id', '') as target, count(*)::int as count
  from strongroom.audit_event where org_id = $1 and outcome = 'success' group by 1, 2`

async function waitForSeal({ pool }: Database, orgId: string): Promise<Problem[]> {
  const deadline = Date.now() + SEALED_WITHIN_MS
  for (;;) {
    const { rows } = await pool.query<{ n: number }>(
      'select count(*)::int as n from strongroom.audit_unsealed where org_id = $1',
      [orgId],
    )
    if (rows[0]?.n === 0) return []
    if (Date.now() > deadline) return [failed(`${rows[0]?.n} audit rows were not sealed in time`)]
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** `before` is what the set-up had written, which nobody counted. */
function compareCounts(
  rows: readonly Counted[],
  { byTarget, byAction }: Tally,
  before: Map<string, number>,
): Problem[] {
  const there = new Map(rows.map(({ action, target, count }) => [`${action} ${target}`, count]))
  const problems = [...byTarget].flatMap(([name, expected]) => {
    const count = (there.get(name) ?? 0) - (before.get(name) ?? 0)
    if (count === expected) return []
    return [
      count < expected
        ? lost(`${count} audit rows for ${expected} × ${name}`)
        : failed(`${name} happened ${count} times, acknowledged were ${expected}`),
    ]
  })
  for (const [action, expected] of byAction) {
    const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
    const now = sum(rows.filter((row) => row.action === action).map(({ count }) => count))
    const then = sum([...before].filter(([name]) => name.startsWith(`${action} `)).map(([, count]) => count))
    if (now - then > expected)
      problems.push(failed(`${action} happened ${now - then} times, acknowledged were ${expected}`))
  }
  return problems
}

const countRows = async ({ pool }: Database, orgId: string): Promise<Counted[]> =>
  (await pool.query<Counted>(COUNT, [orgId])).rows

/** From a known end on: the same rule as the verifier, for the rows that are new. */
async function walkOn(database: Database, orgId: string, from: ChainEnd): Promise<ChainEnd | Problem> {
  let { position } = from
  let hash = Buffer.from(from.hash, 'hex')
  for (;;) {
    const rows = await inOrg({ database }, orgId, (db) => sealedRows(db, orgId, position, BATCH))
    for (const row of rows) {
      const follows = row.position === position + 1 && row.prevHash.equals(hash) && row.event !== null
      if (!follows || !nextHash(hash, orgId, row.event as never).equals(row.hash))
        return failed(`the audit chain breaks at ${row.position}`)
      position = row.position
      hash = Buffer.from(row.hash)
    }
    if (rows.length < BATCH) return { position, hash: hash.toString('hex') }
  }
}

export async function makeAuditCheck({ founder, asAuditor, journal }: World): Promise<AuditCheck> {
  const { orgId } = founder
  const rows = await asAuditor((database) => countRows(database, orgId))
  const before = new Map(rows.map(({ action, target, count }) => [`${action} ${target}`, count]))
  let end: ChainEnd = { position: 0, hash: startOfChain(orgId).toString('hex') }

  const verifyAll = async (database: Database): Promise<ChainEnd | Problem> => {
    const remembered = end.position === 0 ? {} : { remembered: end }
    const verdict = await verifyAuditChain({ database, now: () => new Date() }, orgId, {
      ...remembered,
      unsealedAfterMs: 0,
    })
    return verdict.intact ? verdict.end : failed(`audit chain: ${verdict.problem} at ${verdict.position}`)
  }
  return {
    check: (thorough) =>
      asAuditor(async (database) => {
        const problems = await waitForSeal(database, orgId)
        const result = await (thorough ? verifyAll(database) : walkOn(database, orgId, end))
        if ('what' in result) problems.push(result)
        else end = result
        return [...problems, ...compareCounts(await countRows(database, orgId), journal.tally, before)]
      }),
  }
}
