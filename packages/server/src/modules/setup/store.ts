import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'

/** How many organisations there are, whoever's; two stands for any number more. */
async function countOrgs(db: Db): Promise<number> {
  await sql`select set_config('app.operator', 'yes', true)`.execute(db)
  const orgs = await db.selectFrom('org').select('org_id').limit(2).execute()
  await sql`select set_config('app.operator', '', true)`.execute(db)
  return orgs.length
}

/** Is there any organisation, whoever's? Asked before there is one to ask for. */
export const anyOrg = async (db: Db): Promise<boolean> => (await countOrgs(db)) > 0

export const severalOrgs = async (db: Db): Promise<boolean> => (await countOrgs(db)) > 1

export async function replaceToken(db: Db, tokenHash: Buffer, at: Date): Promise<void> {
  const fresh = { token_hash: tokenHash, created_at: at, used_at: null }
  await db
    .insertInto('setup_token')
    .values(fresh)
    .onConflict((conflict) => conflict.column('singleton').doUpdateSet(fresh))
    .execute()
}

export async function isUnusedToken(db: Db, tokenHash: Buffer): Promise<boolean> {
  const row = await db
    .selectFrom('setup_token')
    .select('singleton')
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Checked and used in one statement; whoever else comes with it waits here, and comes too late. */
export async function useToken(db: Db, tokenHash: Buffer, at: Date): Promise<boolean> {
  const used = await db
    .updateTable('setup_token')
    .set({ used_at: at })
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return used.numUpdatedRows === 1n
}

export interface NewOrg {
  readonly orgId: string
  readonly name: string
  readonly genesisHash: string
  readonly origin: string
  readonly at: Date
}

export async function insertOrg(db: Db, { orgId, name, genesisHash, origin, at }: NewOrg): Promise<void> {
  await db
    .insertInto('org')
    .values({ org_id: orgId, name, genesis_hash: genesisHash, log_origin: origin, created_at: at })
    .execute()
}

export const org = (db: Db, orgId: string): Promise<{ name: string }> =>
  db.selectFrom('org').select('name').where('org_id', '=', orgId).executeTakeFirstOrThrow()
