import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { cosignatureLines } from '../../log/cosignature-store.ts'

// Reads of what the log has written. Nothing here ever changes, so no two reads can disagree.

export interface Span {
  readonly start: number
  /** Not included. */
  readonly end: number
}

/** The hashes of consecutive subtrees of one level; fewer than asked for where the log ends. */
export async function hashes(db: Db, orgId: string, level: number, { start, end }: Span): Promise<readonly Buffer[]> {
  const rows = await db
    .selectFrom('log_node')
    .select('hash')
    .where('org_id', '=', orgId)
    .where('level', '=', level)
    .where('node_index', '>=', start)
    .where('node_index', '<', end)
    .orderBy('node_index')
    .execute()
  return rows.map(({ hash }) => hash)
}

export interface StoredEntry {
  readonly index: number
  readonly leaf: Buffer
  readonly updates: Buffer | null
  readonly documents: Buffer | null
}

export async function leaves(db: Db, orgId: string, { start, end }: Span): Promise<readonly Buffer[]> {
  const rows = await db
    .selectFrom('log_leaf')
    .select('leaf')
    .where('org_id', '=', orgId)
    .where('leaf_index', '>=', start)
    .where('leaf_index', '<', end)
    .orderBy('leaf_index')
    .execute()
  return rows.map(({ leaf }) => leaf)
}

/** As many entries as fit into `maxBytes`, and always the first. */
export async function entries(
  db: Db,
  orgId: string,
  { start, end }: Span,
  maxBytes: number,
): Promise<readonly StoredEntry[]> {
  const { rows } = await sql<StoredEntry>`
    select index, leaf, updates, documents from (
      select leaf_index as index, leaf, updates, documents, sum(
        octet_length(leaf) + coalesce(octet_length(updates), 0) + coalesce(octet_length(documents), 0)
      ) over (order by leaf_index) as total
      from log_leaf where org_id = ${orgId} and leaf_index >= ${start} and leaf_index < ${end}
    ) as running
    where total <= ${maxBytes} or index = ${start} order by index`.execute(db)
  return rows
}

/** The newest checkpoint, and since when the log waits for the statement that it was restored. */
export const restoredLog = (db: Db, orgId: string): Promise<{ restoredAt: Date | null; note: string } | undefined> =>
  db
    .selectFrom('log_state')
    .select(['restored_at as restoredAt', 'note'])
    .where('org_id', '=', orgId)
    .where('size', '>', 0)
    .executeTakeFirst()

/** The checkpoint of a size, with the cosignatures that are known for it. */
export async function checkpointOf(db: Db, orgId: string, size: number): Promise<{ note: string } | undefined> {
  const { rows } = await sql<{ note: string }>`
    select note || ${cosignatureLines(orgId, size)} as note
    from log_checkpoint where org_id = ${orgId} and size = ${size}`.execute(db)
  return rows[0]
}
