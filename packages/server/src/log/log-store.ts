import { type appendLeaf, claimedKind, documentHash, type Envelope, type leafOf } from '@strongroom/protocol'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { type MapWrite, upsertNodes, upsertStates } from './map-store.ts'

// The log in its tables. Leaves, nodes, documents and checkpoints are written once; log_state is the one row that moves.

const EMPTY_MAP_ROOT = Buffer.alloc(32).toString('base64url')

export const originOf = async (db: Db, orgId: string): Promise<string> =>
  (await db.selectFrom('org').select('log_origin').where('org_id', '=', orgId).executeTakeFirstOrThrow()).log_origin

export async function insertEmptyLog(db: Db, log: { orgId: string; origin: string; vkey: string }): Promise<void> {
  const { orgId, origin, vkey } = log
  await db
    .insertInto('log_state')
    .values({ org_id: orgId, size: 0, map_root: EMPTY_MAP_ROOT, origin, vkey })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export interface LockedLog {
  readonly size: number
  readonly frontier: readonly string[]
  readonly mapRoot: string
  readonly origin: string
  readonly vkey: string
  readonly lastAt: number
  /** The log comes from a backup, and nobody has stated yet that it goes on. */
  readonly restoredAt: Date | null
  readonly sealedKey: Buffer | null
}

/**
 * Waits for its turn: until the transaction ends, nobody else appends to this log. After a wait the statement sees the newest
 * version of the locked row and an older moment of everything else, so it asks for nothing else that changes.
 *
 * What a writer asks from here on is always the same and always finds few rows by a key, but planning it would cost many times
 * what running it does: so until the transaction ends plans are kept, and made such that they stay right when tables grow.
 */
export async function lockLog(db: Db, orgId: string, keyName: string): Promise<LockedLog | undefined> {
  return db
    .selectFrom('log_state')
    .select([
      'size',
      'frontier',
      'map_root as mapRoot',
      'origin',
      'vkey',
      'last_at as lastAt',
      'restored_at as restoredAt',
    ])
    .select((eb) => eb.selectFrom('server_secret').select('sealed').where('name', '=', keyName).as('sealedKey'))
    .select([
      sql`set_config('plan_cache_mode', 'force_generic_plan', true)`.as('keepsPlans'),
      sql`set_config('enable_seqscan', 'off', true)`.as('usesIndexes'),
    ])
    .where('org_id', '=', orgId)
    .forUpdate('log_state')
    .executeTakeFirst()
}

type MadeLeaf = ReturnType<typeof leafOf>
type Grown = ReturnType<typeof appendLeaf>

export interface LeafWrite extends MapWrite {
  readonly orgId: string
  readonly index: number
  readonly at: number
  readonly leaf: MadeLeaf
  readonly grown: Grown
  readonly docs: readonly Envelope[]
  readonly mapRoot: string
}

const bytes = (value: Uint8Array | undefined): Buffer | null => (value ? Buffer.from(value) : null)

/** Everything but the checkpoint, in one statement: the leaf, the subtrees it completes, its documents, the map, the row. */
export async function writeLeaf(db: Db, write: LeafWrite): Promise<void> {
  const { orgId, index, leaf, grown, docs, states, nodes, mapRoot, at } = write
  const tree = grown.nodes
  await sql`
    with leaf as (
      insert into log_leaf (org_id, leaf_index, size, leaf, updates, documents)
      values (${orgId}, ${index}, ${index + 1}, ${bytes(leaf.bytes)}, ${bytes(leaf.updates)}, ${bytes(leaf.documents)})
    ), tree as (
      insert into log_node (org_id, level, node_index, hash)
      select ${orgId}, * from unnest(
        ${tree.map(({ level }) => level)}::integer[], ${tree.map((node) => node.index)}::bigint[],
        ${tree.map(({ hash }) => bytes(hash))}::bytea[]
      )
    ), documents as (
      insert into log_document (org_id, doc_hash, kind, envelope)
      select ${orgId}, hash, kind, envelope::jsonb from unnest(
        ${docs.map(documentHash)}::text[], ${docs.map(claimedKind)}::text[],
        ${docs.map((envelope) => JSON.stringify(envelope))}::text[]
      ) as row (hash, kind, envelope)
      on conflict (org_id, doc_hash) do nothing
    ), states as (${upsertStates(orgId, states)}), paths as (${upsertNodes(orgId, nodes)})
    update log_state
    set size = ${index + 1}, frontier = ${grown.frontier.hashes.map((hash) => Buffer.from(hash).toString('base64'))}::text[],
      map_root = ${mapRoot}, last_at = ${at}
    where org_id = ${orgId}`.execute(db)
}

export async function writeCheckpoint(
  db: Db,
  { orgId, size, note, at }: { orgId: string; size: number; note: string; at: Date },
): Promise<void> {
  await sql`
    with checkpoint as (
      insert into log_checkpoint (org_id, size, leaf_index, note, created_at)
      values (${orgId}, ${size}, ${size - 1}, ${note}, ${at})
    )
    update log_state set note = ${note}, cosignatures = '' where org_id = ${orgId}`.execute(db)
}

/** From now on the log goes on. */
export async function endRestore(db: Db, orgId: string): Promise<void> {
  await db.updateTable('log_state').set({ restored_at: null }).where('org_id', '=', orgId).execute()
}

export interface Place {
  readonly level: number
  readonly index: number
}

export interface ProofMaterial {
  readonly node: (level: number, index: number) => Uint8Array
  readonly leaf: Buffer
}

const LEAF = -1

/** Stored nodes and one leaf. None of them ever changes, so at which moment they are read does not matter. */
export async function readMaterial(
  db: Db,
  orgId: string,
  places: readonly Place[],
  leafIndex: number,
): Promise<ProofMaterial> {
  const { rows } = await sql<{ level: number; index: number; bytes: Buffer }>`
    select n.level, n.node_index as index, n.hash as bytes from log_node n
    join unnest(
      ${places.map(({ level }) => level)}::integer[], ${places.map(({ index }) => index)}::bigint[]
    ) as place (l, i) on n.level = place.l and n.node_index = place.i
    where n.org_id = ${orgId}
    union all
    select ${LEAF}::integer, leaf_index, leaf from log_leaf where org_id = ${orgId} and leaf_index = ${leafIndex}`.execute(
    db,
  )
  const stored = new Map(rows.map(({ level, index, bytes }) => [`${level}/${index}`, bytes]))
  const node = (level: number, index: number): Buffer => {
    const bytes = stored.get(`${level}/${index}`)
    if (!bytes) throw new Error(`the log has no node ${level}/${index}`)
    return bytes
  }
  return { node, leaf: node(LEAF, leafIndex) }
}

export interface LogRow {
  readonly size: number
  readonly note: string
}

/** undefined where nothing was ever logged. */
export const readLog = (db: Db, orgId: string): Promise<LogRow | undefined> =>
  db
    .selectFrom('log_state')
    .select(['size', sql<string>`note || cosignatures`.as('note')])
    .where('org_id', '=', orgId)
    .where('size', '>', 0)
    .executeTakeFirst()

export interface LogBeginning extends LogRow {
  readonly origin: string
  readonly vkey: string
  readonly genesisLeaf: Buffer
}

/** What a client pins of a log. */
export const readBeginning = (db: Db, orgId: string): Promise<LogBeginning | undefined> =>
  db
    .selectFrom('log_state as s')
    .innerJoin('log_leaf as l', 'l.org_id', 's.org_id')
    .select(['s.size', 's.note', 's.origin', 's.vkey', 'l.leaf as genesisLeaf'])
    .where('s.org_id', '=', orgId)
    .where('l.leaf_index', '=', 0)
    .executeTakeFirst()
