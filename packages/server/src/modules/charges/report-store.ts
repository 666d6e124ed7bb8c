import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, MAX_ALL_ROWS, type PageQuery } from '../../http/pagination.ts'
import type { LineKind } from './store.ts'

// A month as it is shown. Every sum is made from the lines; none is kept.

/** Whose licences are asked for, of those that the caller sees. */
export interface Scope {
  readonly orgId: string
  readonly month: string
  /** Undefined: of everybody. Otherwise those of this buyer and of these tenants. */
  readonly seenBy: { readonly buyer: string; readonly tenants: readonly string[] } | undefined
  readonly licenseInstanceId: string | undefined
  readonly tenantId: string | undefined
}

export interface LicenseCharges {
  readonly licenseInstanceId: string
  readonly sku: string
  readonly licenseId: string
  readonly name: string
  readonly provider: string
  readonly tenantId: string
  readonly createdAt: Date
  readonly subtotal: string
  readonly recurring: string
  readonly usage: string
  readonly setup: string
  readonly credit: string
  readonly adjustment: string
}

const seen = ({ seenBy, licenseInstanceId, tenantId }: Scope) => sql`
  ${seenBy ? sql`(i.principal = ${seenBy.buyer} or i.tenant_id = any(${[...seenBy.tenants]}::text[]))` : sql`true`}
  and ${licenseInstanceId === undefined ? sql`true` : sql`i.instance_id = ${licenseInstanceId}`}
  and ${tenantId === undefined ? sql`true` : sql`i.tenant_id = ${tenantId}`}`

const linesOf = (scope: Scope) => sql`
  charge_line l join license_instance i using (org_id, instance_id)
  where l.org_id = ${scope.orgId} and l.month = ${scope.month} and ${seen(scope)}`

const ofKind = (kind: LineKind) => sql`coalesce(sum(l.amount) filter (where l.kind = ${sql.lit(kind)}), 0)::text`

export function licensesOf(db: Db, scope: Scope, page: PageQuery): Promise<Listed<LicenseCharges>> {
  const select: Expression<LicenseCharges> = sql<LicenseCharges>`(
    select i.instance_id as "licenseInstanceId", i.sku, i.slug as "licenseId", i.name, i.provider, i.tenant_id as "tenantId",
      i.created_at as "createdAt", sum(l.amount)::text as subtotal, ${ofKind('recurring')} as recurring, ${ofKind('usage')} as usage,
      ${ofKind('setup')} as setup, ${ofKind('credit')} as credit, ${ofKind('adjustment')} as adjustment
    from ${linesOf(scope)} group by i.org_id, i.instance_id)`
  return listRows(db, select, { time: 'createdAt', id: 'licenseInstanceId' }, page)
}

export async function totalOf(db: Db, scope: Scope): Promise<string> {
  const { rows } = await sql<{ total: string }>`
    select coalesce(sum(l.amount), 0)::text as total from ${linesOf(scope)}`.execute(db)
  return rows[0]?.total ?? '0'
}

export interface ShownLine {
  readonly licenseInstanceId: string
  readonly date: string
  readonly kind: LineKind
  readonly quantity: number
  readonly amount: string
  readonly correctsDate: string | null
  readonly transferId: string
}

/** Of these licences, day by day. Undefined where there are more than one answer holds. */
export async function linesIn(db: Db, scope: Scope, instanceIds: readonly string[]): Promise<ShownLine[] | undefined> {
  const { rows } = await sql<ShownLine>`
    select l.instance_id as "licenseInstanceId", l.date, l.kind, l.quantity, l.amount::text as amount,
      l.corrects_date as "correctsDate", l.transfer_id as "transferId"
    from ${linesOf(scope)} and l.instance_id = any(${[...instanceIds]}::text[])
    order by l.instance_id, l.date, l.created_at, l.line_id limit ${MAX_ALL_ROWS + 1}`.execute(db)
  return rows.length > MAX_ALL_ROWS ? undefined : rows
}
