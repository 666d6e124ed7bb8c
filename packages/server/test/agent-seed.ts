import { inOrg } from '../src/context.ts'
import type { Harness } from './harness.ts'
import { type SeededPerson, seedPerson } from './seed-person.ts'

// What tests about agents need besides an organisation: a second tenant, security groups, and a person who is logged in.

export interface Place {
  readonly orgId: string
  readonly tenantId: string
}

export async function seedTenant({ deps }: Harness, { orgId, tenantId }: Place, name: string): Promise<Place> {
  const own = deps.newId('ten')
  await inOrg(deps, orgId, (db) =>
    db
      .insertInto('tenant')
      .values({ org_id: orgId, tenant_id: own, parent_id: tenantId, name, status: 'active', created_at: deps.now() })
      .execute(),
  )
  return { orgId, tenantId: own }
}

export async function seedGroup(
  { deps }: Harness,
  { orgId, tenantId }: Place,
  name: string,
  roles: readonly string[],
): Promise<string> {
  const groupId = deps.newId('grp')
  await inOrg(deps, orgId, async (db) => {
    await db
      .insertInto('security_group')
      .values({ org_id: orgId, group_id: groupId, tenant_id: tenantId, name, created_at: deps.now() })
      .execute()
    for (const role of roles)
      await db
        .insertInto('tenant_role')
        .values({ org_id: orgId, tenant_id: tenantId, role, user_id: null, agent_id: null, group_id: groupId })
        .execute()
  })
  return groupId
}

export async function joinGroup({ deps }: Harness, { orgId }: Place, groupId: string, agentId: string): Promise<void> {
  await inOrg(deps, orgId, (db) =>
    db
      .insertInto('group_member')
      .values({ org_id: orgId, group_id: groupId, user_id: null, agent_id: agentId })
      .execute(),
  )
}

/** A person with an open session. */
export const seedSession = (
  h: Harness,
  place: Place,
  orgRoles: readonly string[],
  tenantRoles: readonly string[] = [],
): Promise<SeededPerson> => {
  const { tenantId } = place
  return seedPerson(h, place, { orgRoles, tenantRoles: tenantRoles.map((role) => ({ tenantId, role })) })
}

export const endSession = ({ deps }: Harness, { orgId }: Place, sessionId: string): Promise<unknown> =>
  inOrg(deps, orgId, (db) =>
    db
      .updateTable('session')
      .set({ revoked_at: deps.now() })
      .where('org_id', '=', orgId)
      .where('session_id', '=', sessionId)
      .execute(),
  )
