import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'
import { vaultOfItem } from '../vaults/store.ts'
import type { PurchaseRow } from './purchase-store.ts'

export interface InstanceRow {
  readonly licenseInstanceId: string
  readonly purchaseId: string
  readonly licenseId: string
  readonly name: string
  readonly provider: string
  readonly sku: string
  readonly quantity: number
  readonly amount: string
  readonly term: 'month' | 'once'
  readonly status: 'active' | 'terminating' | 'terminated' | 'expired'
  readonly buyer: string
  readonly domainTenantId: string
  readonly vaultId: string | null
  readonly itemId: string | null
  readonly instanceRef: string
  readonly periodStart: Date
  readonly periodEnd: Date | null
  readonly revision: number
  readonly createdAt: Date
  readonly terminatedAt: Date | null
}

export const hasEnded = ({ status }: InstanceRow): boolean => status === 'terminated' || status === 'expired'

const instances = (db: Db, orgId: string) =>
  db
    .selectFrom('license_instance')
    .select([
      'instance_id as licenseInstanceId',
      'purchase_id as purchaseId',
      'slug as licenseId',
      'name',
      'provider',
      'sku',
      'quantity',
      'amount',
      sql<InstanceRow['term']>`term`.as('term'),
      sql<InstanceRow['status']>`status`.as('status'),
      'principal as buyer',
      'tenant_id as domainTenantId',
      vaultOfItem('license_instance', { vaultId: 'vault_id', itemId: 'item_id' }).as('vaultId'),
      'item_id as itemId',
      'instance_ref as instanceRef',
      'period_start as periodStart',
      'period_end as periodEnd',
      'revision',
      'created_at as createdAt',
      'terminated_at as terminatedAt',
    ])
    .where('org_id', '=', orgId)

/** Of one buyer, or of everybody. */
export function listInstances(
  db: Db,
  orgId: string,
  buyer: string | undefined,
  page: PageQuery,
): Promise<Listed<InstanceRow>> {
  const all = instances(db, orgId)
  const select: Expression<InstanceRow> = buyer === undefined ? all : all.where('principal', '=', buyer)
  return listRows(db, select, { time: 'createdAt', id: 'licenseInstanceId' }, page)
}

export const instance = (db: Db, orgId: string, id: string): Promise<InstanceRow | undefined> =>
  instances(db, orgId).where('instance_id', '=', id).executeTakeFirst()

/** Nobody else changes it until the transaction ends. */
export const lockInstance = (db: Db, orgId: string, id: string): Promise<InstanceRow | undefined> =>
  instances(db, orgId).where('instance_id', '=', id).forUpdate().executeTakeFirst()

export async function insertInstance(
  db: Db,
  row: PurchaseRow,
  given: {
    readonly instanceRef: string
    readonly periodStart: Date
    readonly periodEnd: Date | null
    readonly at: Date
  },
): Promise<void> {
  await db
    .insertInto('license_instance')
    .values({
      org_id: row.orgId,
      instance_id: row.instanceId,
      purchase_id: row.purchaseId,
      tenant_id: row.tenantId,
      principal: row.principal,
      slug: row.slug,
      name: row.name,
      provider: row.provider,
      sku: row.sku,
      term: row.term,
      quantity: row.quantity,
      amount: row.amount,
      instance_ref: given.instanceRef,
      status: 'active',
      period_start: given.periodStart,
      period_end: given.periodEnd,
      vault_id: null,
      item_id: null,
      created_at: given.at,
      terminated_at: null,
    })
    .execute()
}

export async function linkItem(
  db: Db,
  orgId: string,
  instanceId: string,
  item: { readonly vaultId: string; readonly itemId: string },
): Promise<void> {
  await db
    .updateTable('license_instance')
    .set({ vault_id: item.vaultId, item_id: item.itemId, revision: sql`revision + 1` })
    .where('org_id', '=', orgId)
    .where('instance_id', '=', instanceId)
    .execute()
}

/** Of what is to be done with a licence, `t`: its provider is none of these. */
export const notBusy = (busy: readonly string[]) => sql<boolean>`
  not exists (select 1 from license_instance i
    where i.org_id = t.org_id and i.instance_id = t.instance_id and i.provider = any(${[...busy]}::text[]))`

/** From one status to the next; false if it is not in that status. */
export async function setInstanceStatus(
  db: Db,
  orgId: string,
  instanceId: string,
  from: readonly InstanceRow['status'][],
  to: InstanceRow['status'],
  terminatedAt: Date | null = null,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('license_instance')
    .set({ status: to, terminated_at: terminatedAt, revision: sql`revision + 1` })
    .where('org_id', '=', orgId)
    .where('instance_id', '=', instanceId)
    .where('status', 'in', [...from])
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
