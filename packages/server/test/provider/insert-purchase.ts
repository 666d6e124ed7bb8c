import { sql } from 'kysely'
import type { Db } from '../../src/db/database.ts'
import { type NewPurchase, type PurchaseRow, purchase } from '../../src/modules/licenses/purchase-store.ts'
import { insertTransition } from '../../src/modules/licenses/transition-store.ts'

/** The row of a purchase as the route leaves it, for somebody whose keys are in no log. */
export async function insertPurchase(db: Db, p: NewPurchase, at: Date): Promise<PurchaseRow> {
  await sql`
    insert into license_purchase (org_id, purchase_id, instance_id, tenant_id, principal, slug, name, provider, sku, term, quantity,
      amount, fields, vault_mode, vault_name, vault_id, recipient_kid, recipient_key, subjects, state, quote_valid_until, next_at,
      created_at, updated_at)
    values (${p.orgId}, ${p.purchaseId}, ${p.instanceId}, ${p.tenantId}, ${p.principal}, ${p.slug}, ${p.name}, ${p.provider}, ${p.sku},
      ${p.term}, ${p.quantity}, ${p.amount}, ${JSON.stringify(p.fields)}::jsonb, ${p.vaultMode}, ${p.vaultName}, ${p.vaultId},
      ${p.recipientKid}, ${JSON.stringify(p.recipientKey)}::jsonb, ${[...p.subjects]}::text[], 'reserved', ${p.quoteValidUntil}, ${at},
      ${at}, ${at})`.execute(db)
  await insertTransition(db, p.orgId, p.purchaseId, {
    seq: 1,
    from: null,
    to: 'reserved',
    cause: 'purchased',
    actor: p.principal,
    at,
  })
  return (await purchase(db, p.orgId, p.purchaseId)) as PurchaseRow
}
