import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { DomainEvent } from '../../outbox/outbox.ts'

/**
 * Whose budget it is, for who is told of it: the principal of one that binds a single one, with its tenant; the tenant of one that binds all who
 * work there; nobody's name where it binds everybody. Purchases ask the same function.
 */
export async function scopeOf(
  db: Db,
  orgId: string,
  budgetId: string,
): Promise<Pick<DomainEvent, 'tenantId' | 'principal'>> {
  const { rows } = await sql<{ tenantId: string | null; principal: string | null }>`
    select tenant_id as "tenantId", principal from budget_scope(${orgId}, ${budgetId})`.execute(db)
  const { tenantId = null, principal = null } = rows[0] ?? {}
  return { tenantId, ...(principal !== null && { principal }) }
}
