import type { Db } from '../../db/database.ts'
import type { DomainEvent } from '../../outbox/outbox.ts'
import type { Subject } from './reserve.ts'
import { tenantsOfSubject } from './store.ts'

/** Who is told of a budget: those whom it binds and who manage it. */
export async function scopeOf(
  db: Db,
  orgId: string,
  subject: Subject,
): Promise<Pick<DomainEvent, 'tenantId' | 'principal'>> {
  const tenants = await tenantsOfSubject(db, orgId, subject)
  const [tenantId] = subject.type === 'tenant' ? [subject.id] : (tenants ?? [])
  if (tenantId !== undefined) return { tenantId }
  // Somebody who works in no tenant, or is gone, is told alone; everybody would be, were there no scope at all.
  return subject.type === 'org' ? {} : { principal: `${subject.type}:${subject.id}` }
}
