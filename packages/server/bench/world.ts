import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { inOrg } from '../src/context.ts'
import { type Database, openDatabase } from '../src/db/database.ts'
import { makeApiKey } from '../src/secrets/credentials.ts'
import { loadRootKey } from '../src/secrets/root-key.ts'
import { loadPepper } from '../src/secrets/server-secrets.ts'
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

export async function makeWorld(dataDirectory: string): Promise<World> {
  const login = loginOf(dataDirectory)
  const admin = new pg.Client({ ...login, database: 'strongroom' })
  await admin.connect()
  const database = openDatabase({ connection: { ...login, database: 'strongroom' }, poolSize: 1 }, () => undefined)
  try {
    const apiKeys = await seedAgents(database, dataDirectory)
    const bareKeys = await seedBare(admin, login)
    await admin.query('analyze')
    const bareUrl = `postgres://postgres:${login.password}@/bench?host=${encodeURIComponent(login.host)}`
    return { apiKeys, bareUrl, bareKeys, admin, close: () => admin.end() }
  } finally {
    await database.close()
  }
}

async function seedAgents(database: Database, dataDirectory: string): Promise<string[]> {
  const now = (): Date => new Date()
  const config = readConfig({ STRONGROOM_DATA: dataDirectory }, [])
  const pepper = await loadPepper({ database, rootKey: loadRootKey(config), now })
  const own = { org_id: newId('org'), created_at: now() }
  const tenant = { ...own, tenant_id: newId('ten') }
  const agents = Array.from({ length: AGENTS }, () => ({ id: newId('agt'), key: makeApiKey(pepper) }))
  await inOrg({ database }, own.org_id, async (db) => {
    await db
      .insertInto('org')
      .values({ ...own, name: 'bench', genesis_hash: '', log_origin: `bench/${own.org_id}` })
      .execute()
    await db
      .insertInto('tenant')
      .values({ ...tenant, parent_id: null, name: 'main', status: 'active' })
      .execute()
    await db
      .insertInto('agent')
      .values(
        agents.map(({ id }) => ({
          ...tenant,
          agent_id: id,
          name: `deploy ${id}`,
          status: 'active',
          permissions: ['machine.vault.read', 'machine.agent.read'],
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
        agents.map(({ id, key }) => ({
          ...own,
          key_id: newId('key'),
          access_key: key.accessKey,
          secret_hmac: key.secretHmac,
          agent_id: id,
          user_id: null,
          status: 'active',
          ended_at: null,
        })),
      )
      .execute()
    await db
      .insertInto('tenant_role')
      .values(
        agents.map(({ id }) => ({
          org_id: own.org_id,
          tenant_id: tenant.tenant_id,
          role: 'TENANT_MEMBER',
          user_id: null,
          agent_id: id,
          group_id: null,
        })),
      )
      .execute()
  })
  return agents.map(({ key }) => key.apiKey)
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
