import { auditLeaf, documentsOf, type Envelope, type Ledger, makeLedger, parseLeaf } from '@strongroom/protocol'
import { type Deps, inOrg } from '../src/context.ts'
import type { LogOrg } from './log-org.ts'

// An auditor that reads the tables themselves: every leaf replayed by the protocol's rules from nothing.

export interface Audit {
  readonly ledger: Ledger
  readonly leaves: readonly Buffer[]
}

export async function audit(deps: Pick<Deps, 'database'>, { orgId }: Pick<LogOrg, 'orgId'>): Promise<Audit> {
  const { rows, documents } = await inOrg(deps, orgId, async (db) => ({
    rows: await db.selectFrom('log_leaf').selectAll().where('org_id', '=', orgId).orderBy('leaf_index').execute(),
    documents: await db.selectFrom('log_document').selectAll().where('org_id', '=', orgId).execute(),
  }))
  const byHash = new Map(documents.map(({ doc_hash, envelope }) => [doc_hash, envelope as Envelope]))
  const ledger = makeLedger(orgId)
  for (const [i, row] of rows.entries()) {
    if (row.leaf_index !== i) throw new Error(`leaf ${i} is missing`)
    const named = documentsOf(parseLeaf(row.leaf), row.documents ?? undefined)
    await auditLeaf(ledger, {
      leaf: row.leaf,
      docs: named.map((hash) => byHash.get(hash) as Envelope),
      ...(row.updates && { updates: row.updates }),
      ...(row.documents && { documents: row.documents }),
    })
  }
  return { ledger, leaves: rows.map(({ leaf }) => leaf) }
}

/** How many rows the log of an organisation has, and where it stands: equal before and after whatever is refused. */
export const logCounts = ({ database }: Pick<Deps, 'database'>, orgId: string): Promise<unknown> =>
  inOrg({ database }, orgId, async (db) => {
    const tables = [
      'log_leaf',
      'log_node',
      'log_document',
      'log_checkpoint',
      'map_state',
      'map_node',
      'audit_event',
    ] as const
    const counts: Record<string, unknown> = {}
    for (const table of tables) {
      const { count } = await db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      counts[table] = count
    }
    return { ...counts, state: await db.selectFrom('log_state').selectAll().executeTakeFirst() }
  })
