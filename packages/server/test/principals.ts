import { type Client, createClient } from '@strongroom/sdk'
import pg from 'pg'
import { inject } from 'vitest'
import { inOrg } from '../src/context.ts'
import { makeApiKey } from '../src/secrets/credentials.ts'
import type { Harness } from './harness.ts'
import { type SeededPerson, seedPerson } from './seed-person.ts'

// People and operators, put straight into the database, and the superuser who can change what nobody else can.

interface Place {
  readonly orgId: string
  readonly tenantId: string
}

export type TestUser = SeededPerson

/** A person with these roles in their own tenant, logged in. */
export const seedUser = (
  h: Harness,
  place: Place,
  { orgRoles = [], tenantRoles = [] }: { orgRoles?: readonly string[]; tenantRoles?: readonly string[] } = {},
): Promise<TestUser> => {
  const { tenantId } = place
  return seedPerson(h, place, { orgRoles, tenantRoles: tenantRoles.map((role) => ({ tenantId, role })) })
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
