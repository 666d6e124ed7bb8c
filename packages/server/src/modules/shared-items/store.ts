import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'

export interface SharedRow {
  readonly sharedItemId: string
  readonly itemId: string | null
  readonly status: 'active' | 'used' | 'expired'
  readonly views: number
  readonly maxViews: number
  readonly expiresAt: Date
  readonly createdAt: Date
}

export interface Owner {
  readonly orgId: string
  readonly principal: string
}

export interface NewShared {
  readonly sharedItemId: string
  readonly itemId: string | null
  readonly sealed: string
  readonly maxViews: number
  readonly expiresAt: Date
  readonly at: Date
}

export async function insert(db: Db, { orgId, principal }: Owner, shared: NewShared): Promise<void> {
  await db
    .insertInto('shared_item')
    .values({
      org_id: orgId,
      shared_item_id: shared.sharedItemId,
      created_by: principal,
      item_id: shared.itemId,
      sealed: shared.sealed,
      max_views: shared.maxViews,
      expires_at: shared.expiresAt,
      created_at: shared.at,
    })
    .execute()
}

export const list = (db: Db, { orgId, principal }: Owner, at: Date, page: PageQuery): Promise<Listed<SharedRow>> => {
  const select: Expression<SharedRow> = db
    .selectFrom('shared_item')
    .select([
      'shared_item_id as sharedItemId',
      'item_id as itemId',
      sql<
        SharedRow['status']
      >`case when sealed is null then 'used' when expires_at <= ${at} then 'expired' else 'active' end`.as('status'),
      'views',
      'max_views as maxViews',
      'expires_at as expiresAt',
      'created_at as createdAt',
    ])
    .where('org_id', '=', orgId)
    .where('created_by', '=', principal)
  return listRows(db, select, { time: 'createdAt', id: 'sharedItemId' }, page)
}

/** The organisation of a shared item; the transaction then works in it. */
export async function findOrg(db: Db, sharedItemId: string): Promise<string | undefined> {
  const { rows } = await sql<{ org: string | null }>`select find_shared_item(${sharedItemId}) as org`.execute(db)
  return rows[0]?.org ?? undefined
}

export interface Place {
  readonly orgId: string
  readonly sharedItemId: string
}

export interface Held {
  readonly sealed: string
  readonly views: number
  readonly maxViews: number
  readonly expiresAt: Date
}

/** What can be seen once more; nobody else sees it until the transaction ends. Whoever waited sees what is left then. */
export const hold = async (db: Db, { orgId, sharedItemId }: Place, at: Date): Promise<Held | undefined> =>
  (
    await sql<Held>`
      select sealed, views, max_views as "maxViews", expires_at as "expiresAt" from shared_item
      where org_id = ${orgId} and shared_item_id = ${sharedItemId} and sealed is not null and expires_at > ${at}
      for update`.execute(db)
  ).rows[0]

/** Of what is held. The last view leaves nothing to be seen. */
export async function countView(db: Db, { orgId, sharedItemId }: Place): Promise<void> {
  await sql`
    update shared_item set views = views + 1, sealed = case when views + 1 < max_views then sealed end
    where org_id = ${orgId} and shared_item_id = ${sharedItemId}`.execute(db)
}

/** false if the owner has none of this id. */
export async function remove(db: Db, { orgId, principal }: Owner, sharedItemId: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('shared_item')
    .where('org_id', '=', orgId)
    .where('created_by', '=', principal)
    .where('shared_item_id', '=', sharedItemId)
    .executeTakeFirst()
  return deleted.numDeletedRows === 1n
}

const ROWS_PER_REMOVAL = 500

/** Removes some of what has expired, in every organisation; how many. */
export async function removeExpired(db: Db, at: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from shared_item where (org_id, shared_item_id) in (
      select org_id, shared_item_id from shared_item where expires_at <= ${at} limit ${ROWS_PER_REMOVAL})`.execute(db)
  return Number(numAffectedRows)
}
