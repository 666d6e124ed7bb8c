import { sql } from 'kysely'
import type { Deps } from '../context.ts'
import type { Db } from '../db/database.ts'

/** Numbers of addresses go up one at a time and never reach a second since then, so that the clock is always ahead of them. */
const EPOCH_MS = Date.UTC(2026, 0, 1)
const MOST = 2_147_483_647

/**
 * Addresses that were given out after the backup are in no row, and whoever was told one may still pay to it: it must not be given to
 * somebody else. The next number is the second of the restore, beyond all that can have been used, also by an earlier restore of the
 * same backup.
 */
export async function leaveAddressGap({ now }: Pick<Deps, 'now'>, db: Db): Promise<void> {
  const second = Math.floor((now().getTime() - EPOCH_MS) / 1000)
  if (second < 1 || second >= MOST) throw new Error('the clock is wrong: no address could be given out')
  await sql`
    select setval(name::regclass, greatest(${second}, coalesce(pg_sequence_last_value(name::regclass), 0)))
    from pg_get_serial_sequence('strongroom.funding_intent', 'address_index') as name`.execute(db)
}
