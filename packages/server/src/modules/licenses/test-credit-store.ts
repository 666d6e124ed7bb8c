import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'

// Test credit pays for licences of the sandbox alone (migration 0069). It takes the lock of the credit: call these where the ledger's turn is.

interface Bought {
  readonly orgId: string
  readonly purchaseId: string
}

/**
 * Before anything more is taken for what this purchase has brought, be it held again, renewed or used: unless that is of the sandbox, what is
 * left of the test credit goes.
 */
export async function endTestCredit(db: Db, { orgId, purchaseId }: Bought, at: Date): Promise<void> {
  await sql`
    select end_test_credit(${orgId}, ${at}) from license_purchase
    where org_id = ${orgId} and purchase_id = ${purchaseId} and not is_test`.execute(db)
}

/** After so much has come back from this purchase: what of it was test credit does not stay, once that has ended. */
export async function takeBackTestCredit(db: Db, { orgId, purchaseId }: Bought, back: bigint, at: Date): Promise<void> {
  await sql`select take_back_test_credit(${orgId}, ${purchaseId}, ${back.toString()}, ${at})`.execute(db)
}
