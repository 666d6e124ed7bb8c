import { type Client, createClient } from '@strongroom/sdk'
import { inOrg } from '../src/context.ts'
import { makeAccessToken } from '../src/secrets/credentials.ts'
import type { Harness } from './harness.ts'

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
export async function seedSession(
  { deps, url }: Harness,
  { orgId, tenantId }: Place,
  orgRoles: readonly string[],
  tenantRoles: readonly string[] = [],
): Promise<{ client: Client; accessToken: string; sessionId: string; userId: string }> {
  const userId = deps.newId('usr')
  const sessionId = deps.newId('ses')
  const { token, hash } = makeAccessToken()
  const at = deps.now()
  await inOrg(deps, orgId, async (db) => {
    await db
      .insertInto('org_user')
      .values({
        org_id: orgId,
        user_id: userId,
        email: `${userId}@example.test`,
        name: userId,
        status: 'active',
        org_roles: [...orgRoles],
        tenant_id: tenantId,
        created_at: at,
      })
      .execute()
    for (const role of tenantRoles)
      await db
        .insertInto('tenant_role')
        .values({ org_id: orgId, tenant_id: tenantId, role, user_id: userId, agent_id: null, group_id: null })
        .execute()
    await db
      .insertInto('session')
      .values({
        org_id: orgId,
        session_id: sessionId,
        token_hash: hash,
        user_id: userId,
        device_installation_id: null,
        created_at: at,
        last_used_at: at,
        expires_at: new Date(at.getTime() + 12 * 3_600_000),
        revoked_at: null,
      })
      .execute()
  })
  return { client: createClient({ baseUrl: url, accessToken: token }), accessToken: token, sessionId, userId }
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
