import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'
import type { Zone, ZoneRecord } from './records.ts'

export interface DomainRow {
  readonly domain: string
  readonly managed: boolean
  readonly serial: number
  readonly createdAt: Date
}

const domainsOf = (db: Db, orgId: string) =>
  db
    .selectFrom('domain')
    .select(['name as domain', 'managed', 'serial', 'created_at as createdAt'])
    .where('org_id', '=', orgId)

export const list = (db: Db, orgId: string, page: PageQuery): Promise<Listed<DomainRow>> => {
  const select: Expression<DomainRow> = domainsOf(db, orgId)
  return listRows(db, select, { time: 'createdAt', id: 'domain' }, page)
}

/** Of several that fit, the longest. */
export const longest = (db: Db, orgId: string, names: readonly string[]): Promise<DomainRow | undefined> =>
  domainsOf(db, orgId)
    .where('name', 'in', [...names])
    .orderBy(sql`length(name)`, 'desc')
    .limit(1)
    .executeTakeFirst()

/** Until the transaction ends nobody else changes its records. */
export const lockDomain = (db: Db, orgId: string, name: string): Promise<DomainRow | undefined> =>
  domainsOf(db, orgId).where('name', '=', name).forUpdate().executeTakeFirst()

/** False if the organisation has it, or another one manages it. */
export async function insertDomain(
  db: Db,
  orgId: string,
  { name, managed, createdBy, at }: { name: string; managed: boolean; createdBy: string; at: Date },
): Promise<boolean> {
  const made = await db
    .insertInto('domain')
    .values({ org_id: orgId, name, managed, created_by: createdBy, created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return made.numInsertedOrUpdatedRows === 1n
}

export async function deleteDomain(db: Db, orgId: string, name: string): Promise<boolean> {
  const deleted = await db.deleteFrom('domain').where('org_id', '=', orgId).where('name', '=', name).executeTakeFirst()
  return deleted.numDeletedRows === 1n
}

export async function zoneOf(db: Db, orgId: string, { domain, serial }: DomainRow): Promise<Zone> {
  const records = await db
    .selectFrom('dns_record')
    .select(['name', 'type', 'content', 'ttl', 'priority', 'comment'])
    .where('org_id', '=', orgId)
    .where('domain', '=', domain)
    .orderBy('position')
    .execute()
  return { serial, records: records.map((record) => ({ ...record, disabled: false })) }
}

/** Gives the new serial. The domain is locked. */
export async function replaceRecords(
  db: Db,
  orgId: string,
  domain: string,
  records: readonly ZoneRecord[],
): Promise<number> {
  await db.deleteFrom('dns_record').where('org_id', '=', orgId).where('domain', '=', domain).execute()
  if (records.length > 0)
    await db
      .insertInto('dns_record')
      .values(records.map(({ disabled: _, ...record }, position) => ({ org_id: orgId, domain, position, ...record })))
      .execute()
  const { serial } = await db
    .updateTable('domain')
    .set((eb) => ({ serial: eb('serial', '+', 1) }))
    .where('org_id', '=', orgId)
    .where('name', '=', domain)
    .returning('serial')
    .executeTakeFirstOrThrow()
  return serial
}
