import { sql } from 'kysely'
import type pg from 'pg'
import { type AuditEvent, recordFor } from '../audit/record.ts'
import type { Config } from '../config.ts'
import type { Deps } from '../context.ts'
import { type Db, openDatabase } from '../db/database.ts'
import { copyRootKeyFile, loadRootKey, readRootKeyFile } from '../secrets/root-key.ts'
import { loadPepper } from '../secrets/server-secrets.ts'
import { newId, provideDatabase } from '../start.ts'
import { makeLog } from '../telemetry/log.ts'
import { makeTelemetry } from '../telemetry/telemetry.ts'

// What is done on the host by whoever runs the server: with the server's own secrets, and recorded like everything else.

export interface OperatorDeps extends Deps {
  /** The login that owns the tables: what the server itself may not write, a restore has to. */
  readonly owner: pg.ClientConfig
}

export interface RootKeyCopy {
  readonly from: string
  readonly to: string
}

export interface OperatorOptions {
  readonly progress?: (step: string) => void
  /** False refuses data of an older version: who wants a backup of it does not want it changed first. */
  readonly migrates?: boolean
  /** A copy of the key that becomes the key of this server, which has none yet. */
  readonly newRootKey?: RootKeyCopy
  /** Ends what is under way: an embedded PostgreSQL is stopped under it, and everything that was not committed is undone. */
  readonly signal?: AbortSignal
}

/** Opens the database without opening the door. An embedded one has to be free: its data directory belongs to one process. */
export async function asOperator<T>(
  config: Config,
  work: (deps: OperatorDeps) => Promise<T>,
  { progress = () => undefined, migrates = true, newRootKey, signal }: OperatorOptions = {},
): Promise<T> {
  const undo: (() => Promise<void>)[] = []
  let ending = Promise.resolve()
  const end = (): Promise<void> => {
    ending = ending.then(async () => {
      for (const step of undo.splice(0).reverse()) await step()
    })
    return ending
  }
  const onAbort = (): void => void end()
  try {
    const { database, logins } = await provideDatabase(config, progress, undo, { migrates })
    // Not earlier: the data directory stays ours until PostgreSQL has stopped.
    signal?.throwIfAborted()
    signal?.addEventListener('abort', onAbort)
    const telemetry = makeTelemetry({ exportsSpans: false })
    undo.push(async () => telemetry.stop())
    const rootKey = newRootKey ? readRootKeyFile(newRootKey.from) : await loadRootKey(config, database)
    const keeper = { database, rootKey, now: () => new Date() }
    const pepper = await loadPepper(keeper)
    // Not before the database has opened with it.
    if (newRootKey) copyRootKeyFile(newRootKey.from, newRootKey.to)
    return await work({
      ...keeper,
      config,
      pepper,
      log: makeLog(config),
      telemetry,
      newId,
      owner: logins.owner,
    })
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await end()
  }
}

/** One transaction of the tables' owner that takes as long as it takes. It still sees one organisation at a time. */
export async function asOwner<T>(
  { owner }: Pick<OperatorDeps, 'owner'>,
  isolation: 'read committed' | 'repeatable read',
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const database = openDatabase({ connection: owner, poolSize: 1, isUnhurried: true }, () => undefined)
  try {
    return await database.kysely
      .transaction()
      .setIsolationLevel(isolation)
      .execute(async (db) => {
        await sql`select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true), set_config('lock_timeout', '30s', true)`.execute(
          db,
        )
        return work(db)
      })
  } finally {
    await database.close()
  }
}

export async function nameOrg(db: Db, orgId: string): Promise<void> {
  await sql`select set_config('app.org', ${orgId}, true)`.execute(db)
}

/** Every organisation there is, by id. */
export async function listOrgs(db: Db): Promise<string[]> {
  await sql`select set_config('app.operator', 'yes', true)`.execute(db)
  const rows = await db.selectFrom('org').select('org_id').orderBy('org_id').execute()
  await sql`select set_config('app.operator', '', true)`.execute(db)
  return rows.map(({ org_id }) => org_id)
}

/** In the transaction of the act, like every record; the organisation is the one it names. */
export async function recordOperator(deps: OperatorDeps, db: Db, orgId: string, event: AuditEvent): Promise<void> {
  const request = { requestId: deps.newId('req'), ip: '', userAgent: 'strongroom admin', routeName: event.action }
  await nameOrg(db, orgId)
  await recordFor({ ...deps, request }, db, orgId, { type: 'operator', id: 'operator:host' }, event)
}
