import type { Network, OrgRole, TenantRole } from '@strongroom/contract'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Database, Db } from './db/database.ts'
import { ApiError } from './errors.ts'
import type { Connection } from './http/connection.ts'
import { finishIdempotent, type IdempotentRequest, startIdempotent } from './http/idempotency.ts'
import type { Mounted } from './http/mounted.ts'
import type { RootKey } from './secrets/root-key.ts'
import type { Pepper } from './secrets/server-secrets.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

/** What every part of the server is given; built once. */
export interface Deps {
  readonly config: Config
  readonly database: Database
  readonly rootKey: RootKey
  readonly pepper: Pepper
  readonly log: Logger
  readonly telemetry: Telemetry
  now(): Date
  newId(prefix: string): string
}

export interface Principal {
  readonly type: 'agent' | 'user' | 'operator'
  /** `agent:<agentId>`, `user:<orgUserId>` or `operator:<keyId>`. */
  readonly id: string
  readonly name: string
  readonly orgId: string
  readonly tenantId: string | null
  readonly agentId: string | null
  readonly userId: string | null
  readonly authMethod: 'api_key' | 'access_token'
  readonly keyId: string | null
  readonly sessionId: string | null
  readonly accessKey: string | null
  readonly permissions: readonly string[]
  readonly orgRoles: readonly OrgRole[]
  readonly tenantRoles: readonly { readonly tenantId: string; readonly role: TenantRole }[]
  readonly globalAdmin: boolean
  /** Absent: none. */
  readonly limits?: AgentLimits
}

/** What holds an agent back whichever key it has. */
export interface AgentLimits {
  /** Its keys are refused from then on; null: never. */
  readonly expiresAt: Date | null
  /** Where its keys may be used; none: anywhere. */
  readonly networks: readonly Network[]
}

/** What is known of the request besides its input; allow-listed, since it reaches audit rows and logs. */
export interface RequestFacts {
  readonly requestId: string
  readonly ip: string
  readonly userAgent: string
  readonly routeName: string
  /** The size of the log that the caller knows, from `Tlog-Have`. */
  readonly have?: number | undefined
  /** What an earlier conflict brought, from `Vault-Turn`. */
  readonly turn?: string | undefined
  /** The list the caller has seen, from `If-Match`. */
  readonly ifMatch?: string | undefined
}

/** One request of a known principal. `db` is there only inside `transact`. */
export interface Ctx extends Deps {
  readonly principal: Principal
  readonly request: RequestFacts
  readonly idempotent: IdempotentRequest | undefined
  /** For an answer that goes on while something happens. */
  connection(): Connection
  /** Another call by its name, such as `vaults.list`: for whoever asks what it would answer. */
  mounted(call: string): Mounted | undefined
}

export interface TxCtx extends Ctx {
  readonly db: Db
}

const isInside = (ctx: Ctx | TxCtx): ctx is TxCtx => 'db' in ctx

/** For answers too large to keep: what is kept of one for its idempotency key, and the answer made again from that. */
export interface Replay<T> {
  kept(result: T): unknown
  again(ctx: TxCtx, kept: unknown): Promise<T>
}

export interface TransactOptions<T> {
  /** Every statement sees one moment: for answers that are proven as a whole. */
  readonly atOneMoment?: boolean
  readonly replay?: Replay<T>
}

/**
 * Runs `work` in one transaction that sees only the caller's organisation. What it returns is the answer, and is stored with
 * the idempotency key of the request in the same transaction. Called inside a transaction it takes part in that one: nobody
 * ever waits for a second connection while holding the first.
 */
export async function transact<T>(
  ctx: Ctx | TxCtx,
  work: (ctx: TxCtx) => Promise<T>,
  { atOneMoment = false, replay }: TransactOptions<T> = {},
): Promise<T> {
  if (isInside(ctx)) return work(ctx)
  const { idempotent } = ctx
  if (!idempotent) return inOrg(ctx, ctx.principal.orgId, (db) => work({ ...ctx, db }), atOneMoment)
  return inTransaction(ctx, atOneMoment, async (db) => {
    const inner: TxCtx = { ...ctx, db }
    const done = await startIdempotent(inner, idempotent)
    if (done) return replay ? replay.again(inner, done.body) : (done.body as T)
    const result = await work(inner)
    await finishIdempotent(inner, idempotent, replay ? replay.kept(result) : result)
    return result
  })
}

/** What was found out before the transaction of a request, and speaks against it. */
export interface Refused {
  readonly refusal: unknown
}
export const refused = (refusal: unknown): Refused => ({ refusal })

/** What is stored under the key of the request comes before any refusal. */
export const unlessAnswered = <T>(ctx: Ctx, { refusal }: Refused, options?: TransactOptions<T>): Promise<T> =>
  transact<T>(ctx, () => Promise.reject(refusal), options)

/** A transaction for an organisation without a principal: set-up, login, the operator's and the worker's own work. */
export async function inOrg<T>(
  deps: Pick<Deps, 'database'>,
  orgId: string,
  work: (db: Db) => Promise<T>,
  atOneMoment = false,
): Promise<T> {
  return inTransaction(deps, atOneMoment, async (db) => {
    await sql`select set_config('app.org', ${orgId}, true)`.execute(db)
    return work(db)
  })
}

/** It sees no organisation until it has named one. */
async function inTransaction<T>(
  { database }: Pick<Deps, 'database'>,
  atOneMoment: boolean,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const transaction = database.kysely.transaction()
  const isolated = atOneMoment ? transaction.setIsolationLevel('repeatable read') : transaction
  return translating(() => isolated.execute(work))
}

/** A transaction that belongs to no organisation: it sees none of their rows. */
export const outsideOrgs = <T>(deps: Pick<Deps, 'database'>, work: (db: Db) => Promise<T>): Promise<T> =>
  translating(() => deps.database.kysely.transaction().execute(work))

// The last: it took longer than statement_timeout.
const RETRYABLE = new Set(['40001', '40P01', '55P03', '57014'])
const UNREACHABLE = new Set([
  '08000',
  '08003',
  '08006',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  // It does not let us in: the password was changed, the database is closed for now, or is called otherwise.
  '28000',
  '28P01',
  '3D000',
  '55000',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** Whether the database is away, or does not let us in. */
export const isUnreachable = (error: unknown): boolean =>
  UNREACHABLE.has((error as { code?: string }).code ?? '') ||
  /timeout exceeded when trying to connect|timeout expired|Connection terminated|not queryable/.test(
    (error as Error).message,
  )

/** What the database says about itself, in the API's words. */
export async function translating<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (RETRYABLE.has(code)) throw new ApiError('overloaded', { headers: { 'retry-after': '1' } })
    if (isUnreachable(error)) throw new ApiError('not_ready', { headers: { 'retry-after': '2' } })
    throw error
  }
}
