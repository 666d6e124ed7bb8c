import { type Client, createClient } from '@strongroom/sdk'
import pg from 'pg'
import { inject } from 'vitest'
import { inOrg } from '../src/context.ts'
import { makeAccessToken, makeApiKey } from '../src/secrets/credentials.ts'
import type { Harness } from './harness.ts'

// People and operators, put straight into the database, and the superuser who can change what nobody else can.

interface Place {
  readonly orgId: string
  readonly tenantId: string
}

export interface TestUser {
  readonly userId: string
  readonly token: string
  readonly client: Client
}

const TWELVE_HOURS_MS = 43_200_000

/** A person with these roles, logged in. */
export async function seedUser(
  { deps, url }: Harness,
  { orgId, tenantId }: Place,
  { orgRoles = [], tenantRoles = [] }: { orgRoles?: readonly string[]; tenantRoles?: readonly string[] } = {},
): Promise<TestUser> {
  const userId = deps.newId('usr')
  const { token, hash } = makeAccessToken()
  const at = deps.now()
  await inOrg(deps, orgId, async (db) => {
    await db
      .insertInto('org_user')
      .values({
        org_id: orgId,
        user_id: userId,
        email: `${userId}@example.org`,
        name: `user ${userId}`,
        status: 'active',
        org_roles: [...orgRoles],
        tenant_id: tenantId,
        created_at: at,
      })
      .execute()
    await db
      .insertInto('session')
      .values({
        org_id: orgId,
        session_id: deps.newId('ses'),
        token_hash: hash,
        user_id: userId,
        device_installation_id: null,
        created_at: at,
        last_used_at: at,
        expires_at: new Date(at.getTime() + TWELVE_HOURS_MS),
        revoked_at: null,
      })
      .execute()
    for (const role of tenantRoles)
      await db
        .insertInto('tenant_role')
        .values({ org_id: orgId, tenant_id: tenantId, role, user_id: userId, agent_id: null, group_id: null })
        .execute()
  })
  return { userId, token, client: createClient({ baseUrl: url, accessToken: token }) }
}

/** A key made by the operator on the host. */
export async function seedOperator(
  { deps, url }: Harness,
  { orgId }: Place,
): Promise<{ apiKey: string; client: Client }> {
  const key = makeApiKey(deps.pepper)
  await inOrg(deps, orgId, (db) =>
    db
      .insertInto('api_key')
      .values({
        org_id: orgId,
        key_id: deps.newId('key'),
        access_key: key.accessKey,
        secret_hmac: key.secretHmac,
        agent_id: null,
        user_id: null,
        global_admin: true,
        status: 'active',
        created_at: deps.now(),
        ended_at: null,
      })
      .execute(),
  )
  return { apiKey: key.apiKey, client: createClient({ baseUrl: url, apiKey: key.apiKey }) }
}

/** A connection past row-level security and foreign keys, on the harness's own database. */
export async function asSuperuser<T>({ worker }: Harness, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    ...inject('postgres').superuser,
    database: worker.pool.options.database,
    options: '-c search_path=strongroom -c session_replication_role=replica',
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
