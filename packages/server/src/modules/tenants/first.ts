import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import * as store from './store.ts'

/** The tenant an organisation begins with. */
export async function insertFirstTenant(
  deps: Pick<Deps, 'now'>,
  db: Db,
  { orgId, tenantId, name }: { orgId: string; tenantId: string; name: string },
): Promise<void> {
  await store.insertTenant(db, { orgId, tenantId, parentId: null, name, at: deps.now() })
}
