import { sql } from 'kysely'
import type { ChainAsset } from '../../chain/chain-config.ts'
import type { Block } from '../../chain/transfers.ts'
import type { Db } from '../../db/database.ts'

// What the scanner keeps of the chain. It works for all organisations.

export interface Cursor {
  readonly firstBlock: number
  readonly nextBlock: number
  readonly version: number
}

export async function cursor(db: Db, chainId: number): Promise<Cursor | undefined> {
  return db
    .selectFrom('chain_cursor')
    .select(['first_block as firstBlock', 'next_block as nextBlock', 'version'])
    .where('chain_id', '=', chainId)
    .executeTakeFirst()
}

/** From here on: there was no address before. */
export async function startCursor(db: Db, chainId: number, head: number, at: Date): Promise<void> {
  await sql`
    insert into chain_cursor (chain_id, first_block, next_block, head, read_at)
    values (${chainId}, ${head + 1}, ${head + 1}, ${head}, ${at}) on conflict do nothing`.execute(db)
}

export interface CursorMove {
  readonly nextBlock: number
  readonly head: number
  readonly at: Date
}

/** False if somebody else has moved it since it was read. */
export async function moveCursor(
  db: Db,
  chainId: number,
  { version }: Pick<Cursor, 'version'>,
  { nextBlock, head, at }: CursorMove,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('chain_cursor')
    .set({ next_block: nextBlock, head, read_at: at, version: version + 1 })
    .where('chain_id', '=', chainId)
    .where('version', '=', version)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function touchCursor(db: Db, chainId: number, at: Date): Promise<void> {
  await db.updateTable('chain_cursor').set({ read_at: at }).where('chain_id', '=', chainId).execute()
}

const REMEMBERED = 512

/** Newest first. */
export const blocks = (db: Db, chainId: number): Promise<Block[]> =>
  db
    .selectFrom('chain_block')
    .select(['number', 'hash'])
    .where('chain_id', '=', chainId)
    .orderBy('number', 'desc')
    .limit(REMEMBERED)
    .execute()

/** Forgets blocks behind `base`, which are read anew, and those that are too old to matter. */
export async function keepBlocks(db: Db, chainId: number, base: number, read: readonly Block[]): Promise<void> {
  await sql`delete from chain_block where chain_id = ${chainId} and number > ${base}`.execute(db)
  for (const { number, hash } of read)
    await sql`
      insert into chain_block (chain_id, number, hash) values (${chainId}, ${number}, ${hash})
      on conflict (chain_id, number) do update set hash = excluded.hash`.execute(db)
  await sql`
    delete from chain_block where chain_id = ${chainId} and number < (
      select min(number) from (
        select number from chain_block where chain_id = ${chainId} order by number desc limit ${REMEMBERED}) kept)`.execute(
    db,
  )
}

export async function checkedAssets(db: Db, chainId: number): Promise<readonly Omit<ChainAsset, 'symbol'>[]> {
  return db.selectFrom('chain_asset').select(['contract', 'decimals']).where('chain_id', '=', chainId).execute()
}

export async function keepAsset(db: Db, chainId: number, { contract, decimals }: ChainAsset, at: Date): Promise<void> {
  await sql`
    insert into chain_asset (chain_id, contract, decimals, checked_at) values (${chainId}, ${contract}, ${decimals}, ${at})
    on conflict (chain_id, contract) do update set decimals = excluded.decimals, checked_at = excluded.checked_at`.execute(
    db,
  )
}

/** An address that was given out, and what is expected there. */
export interface WatchedIntent {
  readonly orgId: string
  readonly intentId: string
  readonly address: string
  readonly symbol: string
  readonly contract: string
  readonly decimals: number
}

/** Every address that was ever given out: somebody may pay to it in years. */
export const watchedIntents = (db: Db, chainId: number): Promise<WatchedIntent[]> =>
  db
    .selectFrom('funding_intent')
    .select(['org_id as orgId', 'intent_id as intentId', 'address', 'symbol', 'contract', 'decimals'])
    .where('chain_id', '=', chainId)
    .execute()

/** Whose time has passed without a payment. */
export const overdueIntents = (
  db: Db,
  chainId: number,
  now: Date,
): Promise<{ readonly orgId: string; readonly intentId: string }[]> =>
  db
    .selectFrom('funding_intent')
    .select(['org_id as orgId', 'intent_id as intentId'])
    .where('chain_id', '=', chainId)
    .where('status', '=', 'requires_payment')
    .where('expires_at', '<=', now)
    .limit(500)
    .execute()
