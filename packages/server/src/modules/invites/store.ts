import type { Envelope } from '@strongroom/protocol'
import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'

export type InviteStatus = 'open' | 'accepted' | 'endorsed' | 'revoked' | 'expired'

export interface InviteRow {
  readonly inviteId: string
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly tenantId: string
  readonly status: InviteStatus
  readonly invite: Envelope
  readonly acceptance: Envelope | null
  readonly createdBy: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

export interface Sight {
  readonly orgId: string
  readonly tenantIds: readonly string[] | null
}

const statusAt = (at: Date) =>
  sql<InviteStatus>`case when i.status in ('open', 'accepted') and i.expires_at <= ${at} then 'expired' else i.status end`

const inSight = (db: Db, { orgId, tenantIds }: Sight, at: Date) => {
  const all = db
    .selectFrom('invite as i')
    .innerJoin('org_user as u', (join) => join.onRef('u.org_id', '=', 'i.org_id').onRef('u.user_id', '=', 'i.user_id'))
    .select([
      'i.invite_id as inviteId',
      'i.user_id as userId',
      'i.email',
      'u.name',
      'u.tenant_id as tenantId',
      statusAt(at).as('status'),
    ])
    .select([
      sql<Envelope>`i.envelope`.as('invite'),
      sql<Envelope | null>`i.acceptance`.as('acceptance'),
      'i.created_by as createdBy',
      'i.created_at as createdAt',
      'i.expires_at as expiresAt',
    ])
    .where('i.org_id', '=', orgId)
  return tenantIds === null ? all : all.where('u.tenant_id', '=', sql<string>`any(${[...tenantIds]}::text[])`)
}

export const list = (db: Db, sight: Sight, at: Date, page: PageQuery): Promise<Listed<InviteRow>> => {
  const select: Expression<InviteRow> = inSight(db, sight, at)
  return listRows(db, select, { time: 'createdAt', id: 'inviteId' }, page)
}

export const invite = (db: Db, sight: Sight, at: Date, inviteId: string): Promise<InviteRow | undefined> =>
  inSight(db, sight, at).where('i.invite_id', '=', inviteId).executeTakeFirst()

/** The organisation of an invite; the transaction then works in it. */
export async function findInvite(db: Db, inviteId: string): Promise<string | undefined> {
  const { rows } = await sql<{ org: string | null }>`select find_invite(${inviteId}) as org`.execute(db)
  return rows[0]?.org ?? undefined
}

export interface NewInvite {
  readonly orgId: string
  readonly inviteId: string
  readonly userId: string
  readonly email: string
  readonly docHash: string
  readonly envelope: Envelope
  readonly createdBy: string
  readonly at: Date
  readonly expiresAt: Date
}

/** false if there is one with that id. */
export async function insertInvite(db: Db, invite: NewInvite): Promise<boolean> {
  const { orgId, inviteId, userId, email, docHash, envelope, createdBy, at, expiresAt } = invite
  const made = await db
    .insertInto('invite')
    .values({
      org_id: orgId,
      invite_id: inviteId,
      doc_hash: docHash,
      envelope: JSON.stringify(envelope),
      email,
      user_id: userId,
      status: 'open',
      acceptance: null,
      created_by: createdBy,
      created_at: at,
      expires_at: expiresAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return made.numInsertedOrUpdatedRows === 1n
}

interface Named {
  readonly orgId: string
  readonly inviteId: string
}

/** Once: of two invitees with one link, one is accepted. */
export async function accept(db: Db, { orgId, inviteId }: Named, acceptance: Envelope, at: Date): Promise<boolean> {
  const done = await db
    .updateTable('invite')
    .set({ status: 'accepted', acceptance: JSON.stringify(acceptance) })
    .where('org_id', '=', orgId)
    .where('invite_id', '=', inviteId)
    .where('status', '=', 'open')
    .where('expires_at', '>', at)
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

export async function endorse(db: Db, { orgId, inviteId }: Named, at: Date): Promise<boolean> {
  const done = await db
    .updateTable('invite')
    .set({ status: 'endorsed' })
    .where('org_id', '=', orgId)
    .where('invite_id', '=', inviteId)
    .where('status', '=', 'accepted')
    .where('expires_at', '>', at)
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

export async function revoke(db: Db, { orgId, inviteId }: Named): Promise<boolean> {
  const done = await db
    .updateTable('invite')
    .set({ status: 'revoked' })
    .where('org_id', '=', orgId)
    .where('invite_id', '=', inviteId)
    .where('status', 'in', ['open', 'accepted'])
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

export async function revokeOf(
  db: Db,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<void> {
  await db
    .updateTable('invite')
    .set({ status: 'revoked' })
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('status', 'in', ['open', 'accepted'])
    .execute()
}
