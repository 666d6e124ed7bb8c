import { sql } from 'kysely'
import type { TxCtx } from '../context.ts'
import { ApiError } from '../errors.ts'

/** Those of the named vaults whose access list names the caller. */
export async function readableAmong(
  { db, principal }: TxCtx,
  vaultIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (vaultIds.length === 0) return new Set()
  const { rows } = await sql<{ vaultId: string }>`
    select vault_id as "vaultId" from vault_access
    where org_id = ${principal.orgId} and principal = ${principal.id} and role is not null
      and vault_id = any(${[...vaultIds]}::text[])`.execute(db)
  return new Set(rows.map(({ vaultId }) => vaultId))
}

/** Refuses to name a vault that is not there for the caller: absent and invisible ones alike. */
export async function ensureReadable(ctx: TxCtx, vaultIds: readonly string[]): Promise<void> {
  const readable = await readableAmong(ctx, vaultIds)
  if (!vaultIds.every((vaultId) => readable.has(vaultId))) throw new ApiError('vault_not_found')
}
