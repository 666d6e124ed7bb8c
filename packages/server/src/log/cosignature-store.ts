import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/database.ts'

// Cosignatures in their tables, and the copy of the current ones beside the checkpoint. Whoever writes here holds the row of the
// log, so that the copy is never of another size than the checkpoint it stands by.

/** The lines for a checkpoint of this size, by those who are registered now; '' where there are none. */
export const cosignatureLines = (
  orgId: string,
  size: number | RawBuilder<unknown>,
): RawBuilder<string> => sql<string>`coalesce((
  select string_agg(c.line || E'\\n', '' order by c.vkey) from log_cosignature c
  join log_witness w on w.org_id = c.org_id and w.vkey = c.vkey
  where c.org_id = ${orgId} and c.size = ${size}), '')`

export interface LogIdentity {
  readonly origin: string
  readonly vkey: string
}

/** Waits for its turn at the log; undefined where there is none. */
export const lockCosignatures = (db: Db, orgId: string): Promise<LogIdentity | undefined> =>
  db.selectFrom('log_state').select(['origin', 'vkey']).where('org_id', '=', orgId).forUpdate().executeTakeFirst()

/** What the log itself signed for a size. */
export const bareCheckpoint = (db: Db, orgId: string, size: number): Promise<{ note: string } | undefined> =>
  db.selectFrom('log_checkpoint').select('note').where('org_id', '=', orgId).where('size', '=', size).executeTakeFirst()

export async function witnessKeys(db: Db, orgId: string): Promise<readonly string[]> {
  const rows = await db.selectFrom('log_witness').select('vkey').where('org_id', '=', orgId).orderBy('vkey').execute()
  return rows.map(({ vkey }) => vkey)
}

export async function replaceWitnessKeys(db: Db, orgId: string, vkeys: readonly string[], at: Date): Promise<void> {
  const wanted = [...vkeys]
  await sql`delete from log_witness where org_id = ${orgId} and vkey <> all(${wanted}::text[])`.execute(db)
  await sql`
    insert into log_witness (org_id, vkey, created_at)
    select ${orgId}, vkey, ${at} from unnest(${wanted}::text[]) as vkey on conflict do nothing`.execute(db)
}

export interface CosignatureRow {
  readonly vkey: string
  readonly line: string
  /** In seconds. */
  readonly signedAt: number
}

/** An older one than is kept changes nothing. */
export async function keepCosignatures(
  db: Db,
  orgId: string,
  size: number,
  rows: readonly CosignatureRow[],
): Promise<void> {
  await sql`
    insert into log_cosignature (org_id, size, vkey, line, signed_at)
    select ${orgId}, ${size}, * from unnest(
      ${rows.map(({ vkey }) => vkey)}::text[], ${rows.map(({ line }) => line)}::text[],
      ${rows.map(({ signedAt }) => signedAt)}::bigint[]
    )
    on conflict (org_id, size, vkey) do update set line = excluded.line, signed_at = excluded.signed_at
    where log_cosignature.signed_at < excluded.signed_at`.execute(db)
}

/** Puts beside the newest checkpoint what is known for it. Counts only what differs: answers that are kept stay as they are. */
export async function refreshCosignatures(db: Db, orgId: string): Promise<void> {
  await sql`
    update log_state set cosignatures = lines, cosigned = cosigned + 1
    from (select ${cosignatureLines(orgId, sql`(select size from log_state where org_id = ${orgId})`)} as lines) as known
    where org_id = ${orgId} and cosignatures <> lines`.execute(db)
}
