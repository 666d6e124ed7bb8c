import type { Purchase } from '@strongroom/contract'
import type { Envelope, HandoffLabel, KeyBundle } from '@strongroom/protocol'
import { sql, type Updateable } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { LicensePurchaseTable } from '../../db/schema.ts'
import { dueAt } from './due-store.ts'
import { insertTransition } from './transition-store.ts'

export type PurchaseState = Purchase['status']

export interface PurchaseRow {
  readonly orgId: string
  readonly purchaseId: string
  readonly instanceId: string
  readonly tenantId: string
  readonly principal: string
  readonly slug: string
  readonly name: string
  readonly provider: string
  readonly sku: string
  readonly term: 'month' | 'once'
  readonly quantity: number
  readonly amount: string
  readonly fields: readonly HandoffLabel[]
  readonly vaultMode: 'new' | 'existing'
  readonly vaultName: string | null
  readonly vaultId: string | null
  readonly recipientKid: string
  readonly recipientKey: KeyBundle
  readonly subjects: readonly string[]
  readonly state: PurchaseState
  readonly reason: string | null
  readonly version: number
  readonly holdNo: number
  readonly money: 'held' | 'captured' | 'released' | 'refunded'
  readonly attempts: number
  readonly reminders: number
  readonly providerRef: string | null
  readonly instanceRef: string | null
  readonly sealing: 'at_source' | 'on_receipt' | null
  readonly quoteValidUntil: Date
  readonly resumableUntil: Date | null
  readonly handoffDigest: string | null
  readonly handoffIndex: number | null
  readonly itemId: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const COLUMNS = sql`org_id as "orgId", purchase_id as "purchaseId", instance_id as "instanceId", tenant_id as "tenantId", principal,
  slug, name, provider, sku, term, quantity, amount::text as amount, fields, vault_mode as "vaultMode", vault_name as "vaultName",
  vault_id as "vaultId", recipient_kid as "recipientKid", recipient_key as "recipientKey", subjects, state, reason, version,
  hold_no as "holdNo", money, attempts, reminders, provider_ref as "providerRef", instance_ref as "instanceRef", sealing,
  quote_valid_until as "quoteValidUntil", resumable_until as "resumableUntil", handoff_digest as "handoffDigest",
  handoff_index as "handoffIndex", item_id as "itemId", created_at as "createdAt", updated_at as "updatedAt"`

export type NewPurchase = Pick<
  PurchaseRow,
  | 'orgId'
  | 'purchaseId'
  | 'instanceId'
  | 'tenantId'
  | 'principal'
  | 'slug'
  | 'name'
  | 'provider'
  | 'sku'
  | 'term'
  | 'quantity'
  | 'amount'
  | 'fields'
  | 'vaultMode'
  | 'vaultName'
  | 'vaultId'
  | 'recipientKid'
  | 'recipientKey'
  | 'subjects'
  | 'quoteValidUntil'
>

export async function purchase(db: Db, orgId: string, purchaseId: string): Promise<PurchaseRow | undefined> {
  const { rows } = await sql<PurchaseRow>`
    select ${COLUMNS} from license_purchase where org_id = ${orgId} and purchase_id = ${purchaseId}`.execute(db)
  return rows[0]
}

export async function lockPurchase(db: Db, orgId: string, purchaseId: string): Promise<PurchaseRow | undefined> {
  const { rows } = await sql<PurchaseRow>`
    select ${COLUMNS} from license_purchase where org_id = ${orgId} and purchase_id = ${purchaseId} for update`.execute(
    db,
  )
  return rows[0]
}

/** The next one that is due and not of a provider in `busy`, for as long as the lease lasts: nobody else takes its turn meanwhile. */
export async function claimPurchase(
  db: Db,
  at: Date,
  leaseMs: number,
  busy: readonly string[],
): Promise<PurchaseRow | undefined> {
  const { rows } = await sql<PurchaseRow>`
    update license_purchase set lease_until = ${new Date(at.getTime() + leaseMs)}
    where (org_id, purchase_id) in (
      select org_id, purchase_id from license_purchase
      where ${dueAt(at)} and provider <> all(${[...busy]}::text[])
      order by next_at limit 1 for update skip locked)
    returning ${COLUMNS}`.execute(db)
  return rows[0]
}

type Changes = Updateable<LicensePurchaseTable>

export interface Move {
  readonly to: PurchaseState
  readonly cause: string
  readonly actor: string
  readonly at: Date
}

/** One step, by whoever has seen this version: false if somebody else was first. */
export async function movePurchase(db: Db, row: PurchaseRow, move: Move, changes: Changes): Promise<boolean> {
  const { to, cause, actor, at } = move
  const seq = row.version + 1
  const { numUpdatedRows } = await db
    .updateTable('license_purchase')
    .set({ ...changes, state: to, version: seq, updated_at: at, lease_until: null })
    .where('org_id', '=', row.orgId)
    .where('purchase_id', '=', row.purchaseId)
    .where('state', '=', row.state)
    .where('version', '=', row.version)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await insertTransition(db, row.orgId, row.purchaseId, { seq, from: row.state, to, cause, actor, at })
  return true
}

/** Nothing has come of a turn: the next one is later. */
export async function postponePurchase(db: Db, row: PurchaseRow, changes: Changes): Promise<void> {
  await db
    .updateTable('license_purchase')
    .set({ ...changes, lease_until: null })
    .where('org_id', '=', row.orgId)
    .where('purchase_id', '=', row.purchaseId)
    .where('version', '=', row.version)
    .execute()
}

/** Somebody has said that there is news: the next turn is now, where one is waited for at all. */
export async function hurryPurchase(
  db: Db,
  { orgId, purchaseId, provider }: Pick<PurchaseRow, 'orgId' | 'purchaseId' | 'provider'>,
  at: Date,
): Promise<void> {
  await sql`
    update license_purchase set next_at = least(next_at, ${at})
    where org_id = ${orgId} and purchase_id = ${purchaseId} and provider = ${provider}
      and state in ('provisioning', 'provider_pending', 'in_review')`.execute(db)
}

export async function putSealed(
  db: Db,
  { orgId, purchaseId }: PurchaseRow,
  sealed: { readonly envelope: Envelope; readonly docHash: string },
  at: Date,
): Promise<void> {
  await db
    .insertInto('license_sealed')
    .values({
      org_id: orgId,
      purchase_id: purchaseId,
      envelope: JSON.stringify(sealed.envelope),
      doc_hash: sealed.docHash,
      created_at: at,
    })
    .execute()
}

export interface SealedRow {
  readonly envelope: Envelope
  readonly docHash: string
}

export async function sealedOf(db: Db, orgId: string, purchaseId: string): Promise<SealedRow | undefined> {
  const { rows } = await sql<SealedRow>`
    select envelope, doc_hash as "docHash" from license_sealed
    where org_id = ${orgId} and purchase_id = ${purchaseId}`.execute(db)
  return rows[0]
}

export async function dropSealed(db: Db, orgId: string, purchaseId: string): Promise<void> {
  await db.deleteFrom('license_sealed').where('org_id', '=', orgId).where('purchase_id', '=', purchaseId).execute()
}

export interface Tenancy {
  readonly isTenantActive: boolean
  readonly kid: string | null
  readonly record: Envelope | null
  readonly policy: Envelope | null
}

/** What has to be known of a buyer, in one statement: the tenant, the newest active key, and the policy of the organisation. */
export async function buyerOf(db: Db, orgId: string, tenantId: string | null, principal: string): Promise<Tenancy> {
  const { rows } = await sql<Tenancy>`
    select
      exists (select 1 from tenant where org_id = ${orgId} and tenant_id = ${tenantId} and status = 'active') as "isTenantActive",
      k.kid, k.record,
      (select d.envelope from map_state m join log_document d on d.org_id = m.org_id and d.doc_hash = m.state ->> 'policyHash'
       where m.org_id = ${orgId} and m.name = 'policy') as policy
    from (select 1) one
    left join lateral (
      select m.state ->> 'kid' as kid, d.envelope as record
      from map_state m join log_document d on d.org_id = m.org_id and d.doc_hash = m.state ->> 'rec'
      where m.org_id = ${orgId} and m.principal = ${principal} and m.state ->> 'status' = 'active'
      order by (m.state ->> 'added')::bigint desc, m.name limit 1) k on true`.execute(db)
  return rows[0] as Tenancy
}
