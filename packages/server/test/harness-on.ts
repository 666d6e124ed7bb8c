import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@strongroom/sdk'
import type { DestinationStream } from 'pino'
import { buildApp } from '../src/app.ts'
import { type Config, readConfig } from '../src/config.ts'
import { type Deps, inOrg } from '../src/context.ts'
import { type Database, type DatabaseLogin, openDatabase } from '../src/db/database.ts'
import { makeApiKey } from '../src/secrets/credentials.ts'
import { openRootKey } from '../src/secrets/root-key.ts'
import { loadPepper } from '../src/secrets/server-secrets.ts'
import { newId, WORKER_POOL } from '../src/start.ts'
import { makeLog } from '../src/telemetry/log.ts'
import { makeTelemetry } from '../src/telemetry/telemetry.ts'
import { watchRefusals } from './declared-refusals.ts'
import { refuseSecondConnection } from './one-connection.ts'
import type { copyDatabase } from './postgres.ts'

// A whole server on a real PostgreSQL and real HTTP, in this process: for test files through `harness.ts`, for programs as it is.

export interface TestAgent {
  readonly agentId: string
  readonly apiKey: string
  readonly client: Client
}

export interface Harness {
  readonly url: string
  readonly deps: Deps
  /** The connection of background work. Nothing runs in the background here: tests take each turn themselves. */
  readonly worker: Database
  /** Moves the server's clock. */
  advance(ms: number): void
  /** An organisation with one tenant, put straight into the database; its log is empty. */
  org(name: string): Promise<{ orgId: string; tenantId: string }>
  /** An agent holding exactly these permissions and roles in its tenant. */
  agent(
    org: { orgId: string; tenantId: string },
    permissions: readonly string[],
    roles?: readonly string[],
  ): Promise<TestAgent>
  /** What a second server process on the same database would be: an app and a pool of its own. */
  sibling(): Promise<{ readonly url: string; close(): Promise<void> }>
  close(): Promise<void>
}

type Copy = Awaited<ReturnType<typeof copyDatabase>>

export async function harnessOn(
  logins: Copy,
  overrides: Partial<Config> = {},
  logTo?: DestinationStream,
  patience = 1,
): Promise<Harness> {
  // Made by whoever writes into it first.
  const data = join(tmpdir(), `sr-data-${randomUUID()}`)
  const { STRONGROOM_LOG_LEVEL = 'silent' } = process.env
  const config: Config = { ...readConfig({ STRONGROOM_LOG_LEVEL, STRONGROOM_DATA: data }, []), ...overrides }
  const open = (connection: Copy['app'], poolSize: number): Database =>
    openTestDatabase({ connection, poolSize, patience })
  const database = open(logins.app, config.poolSize)
  const worker = open(logins.worker, WORKER_POOL)
  const telemetry = makeTelemetry({ exportsSpans: config.otlpEndpoint !== undefined })
  let skewMs = 0
  const keeper = {
    database,
    rootKey: openRootKey(new Uint8Array(32).fill(7)),
    now: () => new Date(Date.now() + skewMs),
  }
  const deps: Deps = {
    ...keeper,
    config,
    pepper: await loadPepper(keeper),
    log: makeLog(config, logTo),
    telemetry,
    newId,
  }
  const app = buildApp(deps)
  const ensureDeclared = watchRefusals(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    url,
    deps,
    worker,
    advance: (ms) => {
      skewMs += ms
    },
    org: (name) => seedOrg(deps, name),
    agent: (org, permissions, roles) => seedAgent(deps, url, org, permissions, roles),
    sibling: async () => {
      const own = open(logins.app, config.poolSize)
      const other = buildApp({ ...deps, database: own, pepper: await loadPepper({ ...keeper, database: own }) })
      const close = async (): Promise<void> => {
        await other.close()
        await own.close()
      }
      return { url: await other.listen({ host: '127.0.0.1', port: 0 }), close }
    },
    close: async () => {
      await app.close()
      telemetry.stop()
      await worker.close()
      await database.close()
      await logins.drop()
      rmSync(data, { recursive: true, force: true })
      ensureDeclared()
    },
  }
}

/** Sixteen callers of one lock are slow where the machine is: that is not what their test is about. */
export const PATIENCE = 20

export const openTestDatabase = (login: DatabaseLogin): Database =>
  refuseSecondConnection(openDatabase(login, () => undefined))

export async function seedOrg(deps: Deps, name: string): Promise<{ orgId: string; tenantId: string }> {
  const orgId = deps.newId('org')
  const tenantId = deps.newId('ten')
  await inOrg(deps, orgId, async (db) => {
    await db
      .insertInto('org')
      .values({ org_id: orgId, name, genesis_hash: '', log_origin: `test/${orgId}`, created_at: deps.now() })
      .execute()
    await db
      .insertInto('tenant')
      .values({
        org_id: orgId,
        tenant_id: tenantId,
        parent_id: null,
        name: `${name} main`,
        status: 'active',
        created_at: deps.now(),
      })
      .execute()
  })
  return { orgId, tenantId }
}

export async function seedAgent(
  deps: Deps,
  baseUrl: string,
  { orgId, tenantId }: { orgId: string; tenantId: string },
  permissions: readonly string[],
  roles: readonly string[] = [],
): Promise<TestAgent> {
  const agentId = deps.newId('agt')
  const key = makeApiKey(deps.pepper)
  await inOrg(deps, orgId, async (db) => {
    await db
      .insertInto('agent')
      .values({
        org_id: orgId,
        agent_id: agentId,
        tenant_id: tenantId,
        name: `agent ${agentId}`,
        status: 'active',
        permissions: [...permissions],
        vault_id: null,
        vault_item_id: null,
        created_by: 'test',
        created_at: deps.now(),
        archived_at: null,
      })
      .execute()
    await db
      .insertInto('api_key')
      .values({
        org_id: orgId,
        key_id: deps.newId('key'),
        access_key: key.accessKey,
        secret_hmac: key.secretHmac,
        agent_id: agentId,
        user_id: null,
        status: 'active',
        created_at: deps.now(),
        ended_at: null,
      })
      .execute()
    for (const role of roles)
      await db
        .insertInto('tenant_role')
        .values({ org_id: orgId, tenant_id: tenantId, role, user_id: null, agent_id: agentId, group_id: null })
        .execute()
  })
  return { agentId, apiKey: key.apiKey, client: createClient({ baseUrl, apiKey: key.apiKey }) }
}
