import type { Db } from '../../db/database.ts'

export const tenant = (
  db: Db,
  orgId: string,
  tenantId: string,
): Promise<{ domainTenantId: string; name: string; parentId: string | null } | undefined> =>
  db
    .selectFrom('tenant')
    .select(['tenant_id as domainTenantId', 'name', 'parent_id as parentId'])
    .where('org_id', '=', orgId)
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst()
