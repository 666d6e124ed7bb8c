import { type Client, createClient } from '@strongroom/sdk'
import { inOrg } from '../src/context.ts'
import { makeAccessToken } from '../src/secrets/credentials.ts'
import type { Harness } from './harness.ts'

// A person put straight into the database, logged in and without a passphrase: for tests in which only their roles matter.

export interface Roles {
  readonly orgRoles?: readonly string[]
  readonly tenantRoles?: readonly { readonly tenantId: string; readonly role: string }[]
  readonly name?: string
}

export interface SeededPerson {
  readonly userId: string
  readonly sessionId: string
  readonly accessToken: string
  readonly client: Client
}

const TWELVE_HOURS_MS = 43_200_000

export async function seedPerson(
  { deps, url }: Harness,
  { orgId, tenantId }: { readonly orgId: string; readonly tenantId: string },
  { orgRoles = [], tenantRoles = [], name }: Roles = {},
): Promise<SeededPerson> {
  const [userId, sessionId] = [deps.newId('usr'), deps.newId('ses')]
  const { token, hash } = makeAccessToken()
  const at = deps.now()
  const person = {
    user_id: userId,
    email: `${userId}@example.org`,
    name: name ?? userId,
    status: 'active',
    org_roles: [...orgRoles],
    tenant_id: tenantId,
    created_at: at,
  }
  const session = {
    session_id: sessionId,
    token_hash: hash,
    user_id: userId,
    device_installation_id: null,
    created_at: at,
    last_used_at: at,
    expires_at: new Date(at.getTime() + TWELVE_HOURS_MS),
    revoked_at: null,
  }
  await inOrg(deps, orgId, async (db) => {
    await db
      .insertInto('org_user')
      .values({ org_id: orgId, ...person })
      .execute()
    await db
      .insertInto('session')
      .values({ org_id: orgId, ...session })
      .execute()
    for (const entry of tenantRoles)
      await db
        .insertInto('tenant_role')
        .values({
          org_id: orgId,
          tenant_id: entry.tenantId,
          role: entry.role,
          user_id: userId,
          agent_id: null,
          group_id: null,
        })
        .execute()
  })
  return { userId, sessionId, accessToken: token, client: createClient({ baseUrl: url, accessToken: token }) }
}
