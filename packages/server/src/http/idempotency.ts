import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { TxCtx } from '../context.ts'
import { ApiError } from '../errors.ts'

// `Idempotency-Key`: the same key and request give the same effect once. The row is written in the transaction of the effect,
// so that a crash leaves both or neither.

export interface IdempotentRequest {
  readonly keyHash: Buffer
  readonly requestHash: Buffer
  readonly status: number
  /** Members of the answer that are shown once. */
  readonly onceOnly: readonly string[]
}

const KEY = /^[\x21-\x7e]{1,255}$/

export function readIdempotencyKey(
  header: string | undefined,
  request: { method: string; url: string; body: unknown },
  route: { status: number; onceOnly: readonly string[] },
): IdempotentRequest | undefined {
  if (header === undefined) return undefined
  if (!KEY.test(header)) throw new ApiError('validation_failed', { details: { header: 'Idempotency-Key' } })
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return {
    keyHash: hash(header),
    requestHash: hash(`${request.method} ${request.url}\n${JSON.stringify(request.body ?? null)}`),
    ...route,
  }
}

interface Claimed {
  readonly requestHash: string
  readonly body: unknown
}

/**
 * Names the organisation of the transaction and claims the key in it, or gives the stored answer. A concurrent twin waits here for
 * the first, at most as long as lock_timeout.
 */
export async function startIdempotent(ctx: TxCtx, request: IdempotentRequest): Promise<{ body: unknown } | undefined> {
  const { principal, db } = ctx
  const { rows } = await sql<{ stored: Claimed | null }>`
    select claim_request(${principal.orgId}, ${principal.id}, ${request.keyHash}, ${request.requestHash}, ${ctx.now()})
      as stored`
    .execute(db)
    .catch((error: { code?: string }) => {
      if (error.code === '55P03') throw new ApiError('idempotency_in_progress', { headers: { 'retry-after': '1' } })
      throw error
    })
  const stored = rows[0]?.stored
  if (!stored) return undefined
  if (stored.requestHash !== request.requestHash.toString('hex')) throw new ApiError('idempotency_key_reused')
  return { body: stored.body }
}

export async function finishIdempotent(ctx: TxCtx, request: IdempotentRequest, result: unknown): Promise<void> {
  await ctx.db
    .updateTable('idempotency')
    .set({ status: request.status, body: JSON.stringify(redact(result, request.onceOnly)) })
    .where('org_id', '=', ctx.principal.orgId)
    .where('principal', '=', ctx.principal.id)
    .where('key_hash', '=', request.keyHash)
    .execute()
}

/**
 * What is kept in place of an answer while its work goes on outside of a transaction. Whoever comes with the key meanwhile comes again;
 * when the time is over and there is no answer, the work was lost, and the next one begins it again.
 */
export interface Lease {
  readonly leasedUntil: string
}

export const isLease = (kept: unknown): kept is Lease =>
  typeof kept === 'object' && kept !== null && 'leasedUntil' in kept

/** Takes over work whose time is over. */
export async function renewLease(ctx: TxCtx, request: IdempotentRequest, lease: Lease): Promise<void> {
  const { db, principal } = ctx
  const { numAffectedRows } = await sql`
    update idempotency set body = ${JSON.stringify(lease)}::jsonb
    where org_id = ${principal.orgId} and principal = ${principal.id} and key_hash = ${request.keyHash}
      and (body ->> 'leasedUntil')::timestamptz <= ${ctx.now()}`.execute(db)
  if (numAffectedRows !== 1n) throw new ApiError('idempotency_in_progress', { headers: { 'retry-after': '1' } })
}

/** The key is free again, as after every refusal; not if others have taken the work over. */
export async function dropLease({ db, principal }: TxCtx, request: IdempotentRequest, lease: Lease): Promise<void> {
  await sql`
    delete from idempotency
    where org_id = ${principal.orgId} and principal = ${principal.id} and key_hash = ${request.keyHash}
      and body = ${JSON.stringify(lease)}::jsonb`.execute(db)
}

/** A secret that is shown once is not stored to be shown twice. */
function redact(result: unknown, onceOnly: readonly string[]): unknown {
  if (onceOnly.length === 0 || typeof result !== 'object' || result === null) return result
  return { ...result, ...Object.fromEntries(onceOnly.map((member) => [member, null])), secretRedacted: true }
}
