import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { inOrg } from '../src/context.ts'
import { type Database, openDatabase } from '../src/db/database.ts'
import { makeApiKey } from '../src/secrets/credentials.ts'
import { type RootKey, readRootKey } from '../src/secrets/root-key.ts'
import { loadPepper, type Pepper } from '../src/secrets/server-secrets.ts'
import { newId } from '../src/start.ts'

// What is in the database of the server under test: agents with keys, enough of them that none meets its rate limit, and beside
// it a database with the rows of the bare server. Put there by the operator's own login, as a restore would.

export interface World {
  /** One for each agent. */
  readonly apiKeys: readonly string[]
  readonly bareUrl: string
  readonly bareKeys: readonly string[]
  /** As superuser, on the database of the server. */
  readonly admin: pg.Client
  close(): Promise<void>
}

const AGENTS = 400
const BARE_ROWS = 10_000

interface Login extends pg.ClientConfig {
  readonly host: string
  readonly password: string
}

const loginOf = (dataDirectory: string): Login => {
  const home = join(dataDirectory, 'postgres')
  const password = readFileSync(join(home, 'password'), 'utf8').trim()
  return { host: join(home, 'run'), port: 5432, user: 'postgres', password }
}

/** The operator's own way into the database of a running server. */
export interface Operator {
  readonly database: Database
  readonly rootKey: RootKey
  readonly pepper: Pepper
  now(): Date
  /** As superuser: sees every organisation. */
  readonly admin: pg.Client
  close(): Promise<void>
}

export async function openOperator(dataDirectory: string): Promise<Operator> {
  const login = loginOf(dataDirectory)
  const admin = new pg.Client({ ...login, database: 'strongroom', options: '-c search_path=strongroom' })
  await admin.connect()
  const database = openDatabase({ connection: { ...login, database: 'strongroom' }, poolSize: 1 }, () => undefined)
  const now = (): Date => new Date()
  const rootKey = readRootKey(readConfig({ STRONGROOM_DATA: dataDirectory }, []))
  const pepper = await loadPepper({ database, rootKey, now })
  const close = async (): Promise<void> => {
    await database.close()
    await admin.end()
  }
  return { database, rootKey, pepper, now, admin, close }
}

export async function makeWorld(dataDirectory: string): Promise<World> {
  const operator = await openOperator(dataDirectory)
  const { admin, close } = operator
  const place = await seedOrg(operator, 'bench')
  const agents = await seedAgents(operator, place, AGENTS, ['machine.vault.read', 'machine.agent.read'])
  const login = loginOf(dataDirectory)
  const bareKeys = await seedBare(admin, login)
  await admin.query('analyze')
  const bareUrl = `postgres://postgres:${login.password}@/bench?host=${encodeURIComponent(login.host)}`
  return { apiKeys: agents.map(({ apiKey }) => apiKey), bareUrl, bareKeys, admin, close }
}

export interface Place {
  readonly orgId: string
  readonly tenantId: string
}

export async function seedOrg({ database, now }: Operator, name: string): Promise<Place> {
  const place = { orgId: newId('org'), tenantId: newId('ten') }
  const own = { org_id: place.orgId, created_at: now() }
  await inOrg({ database }, place.orgId, async (db) => {
    await db
      .insertInto('org')
      .values({ ...own, name, genesis_hash: '', log_origin: `bench/${place.orgId}` })
      .execute()
    await db
      .insertInto('tenant')
      .values({ ...own, tenant_id: place.tenantId, parent_id: null, name: 'main', status: 'active' })
      .execute()
  })
  return place
}

export interface SeededAgent {
  readonly agentId: string
  readonly apiKey: string
}

export async function seedAgents(
  { database, pepper, now }: Operator,
  { orgId, tenantId }: Place,
  count: number,
  permissions: readonly string[],
): Promise<SeededAgent[]> {
  const own = { org_id: orgId, created_at: now() }
  const agents = Array.from({ length: count }, () => ({ agentId: newId('agt'), key: makeApiKey(pepper) }))
  await inOrg({ database }, orgId, async (db) => {
    await db
      .insertInto('agent')
      .values(
        agents.map(({ agentId }) => ({
          ...own,
          tenant_id: tenantId,
          agent_id: agentId,
          name: `deploy ${agentId}`,
          status: 'active',
          permissions: [...permissions],
          vault_id: null,
          vault_item_id: null,
          created_by: 'bench',
          archived_at: null,
        })),
      )
      .execute()
    await db
      .insertInto('api_key')
      .values(
        agents.map(({ agentId, key }) => ({
          ...own,
          key_id: newId('key'),
          access_key: key.accessKey,
          secret_hmac: key.secretHmac,
          agent_id: agentId,
          user_id: null,
          status: 'active',
          ended_at: null,
        })),
      )
      .execute()
    const role = { org_id: orgId, tenant_id: tenantId, role: 'TENANT_MEMBER', user_id: null, group_id: null }
    await db
      .insertInto('tenant_role')
      .values(agents.map(({ agentId }) => ({ ...role, agent_id: agentId })))
      .execute()
  })
  return agents.map(({ agentId, key }) => ({ agentId, apiKey: key.apiKey }))
}

/** Rows of about the size of an answer of ours. */
async function seedBare(admin: pg.Client, login: Login): Promise<string[]> {
  await admin.query('create database bench')
  const client = new pg.Client({ ...login, database: 'bench' })
  await client.connect()
  try {
    await client.query(
      'create table bench_row (key text primary key, name text not null, owner text not null, note text not null)',
    )
    await client.query(
      "insert into bench_row select 'row_' || md5(i::text), 'row ' || i, 'owner ' || (i % 100), repeat('x', 400) from generate_series(1, $1::int) as i",
      [BARE_ROWS],
    )
    await client.query('analyze')
    const { rows } = await client.query<{ key: string }>('select key from bench_row limit $1', [AGENTS])
    return rows.map(({ key }) => key)
  } finally {
    await client.end()
  }
}
