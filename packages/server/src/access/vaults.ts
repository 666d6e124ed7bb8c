import type { ErrorCode } from '@strongroom/contract'
import type { TxCtx } from '../context.ts'
import type { Db } from '../db/database.ts'
import { ApiError, found } from '../errors.ts'

// Who may touch a vault. Only these functions make handles, and stores take nothing else: what was not opened cannot be read.

export type VaultRole = 'read' | 'write' | 'admin'

declare const readable: unique symbol
/** A vault whose access list names the caller. */
export interface ReadableVault {
  readonly [readable]: true
  readonly orgId: string
  readonly vaultId: string
  readonly role: VaultRole
  readonly status: 'active' | 'archived'
  readonly headVersion: number
  readonly headHash: string
}

declare const writable: unique symbol
export interface WritableVault extends ReadableVault {
  readonly [writable]: true
}

const selectVault = (db: Db, orgId: string, principal: string) =>
  db
    .selectFrom('vault as v')
    .innerJoin('vault_access as a', (join) =>
      join.onRef('a.org_id', '=', 'v.org_id').onRef('a.vault_id', '=', 'v.vault_id'),
    )
    .select([
      'v.org_id as orgId',
      'v.vault_id as vaultId',
      'a.role',
      'v.status',
      'v.head_version as headVersion',
      'v.head_hash as headHash',
    ])
    .where('v.org_id', '=', orgId)
    .where('a.principal', '=', principal)
    .where('a.role', 'is not', null)

/** A vault whose access list does not name the caller does not exist for them. */
export async function openVault(
  { db, principal }: TxCtx,
  vaultId: string,
  absent: ErrorCode = 'vault_not_found',
): Promise<ReadableVault> {
  const row = await selectVault(db, principal.orgId, principal.id).where('v.vault_id', '=', vaultId).executeTakeFirst()
  return found(row, absent) as unknown as ReadableVault
}

/** A row of a statement that asked for the caller's name on the access list itself. */
export interface OpenedVaultRow {
  readonly orgId: string
  readonly vaultId: string
  readonly role: VaultRole
  readonly status: 'active' | 'archived'
  readonly headVersion: number
  readonly headHash: string
}

export const foundVault = (row: OpenedVaultRow | undefined, absent: ErrorCode = 'vault_not_found'): ReadableVault =>
  found(row, absent) as unknown as ReadableVault

/** The vault an item lies in. */
export async function openVaultOf({ db, principal }: TxCtx, itemId: string): Promise<ReadableVault> {
  const row = await selectVault(db, principal.orgId, principal.id)
    .innerJoin('vault_item as i', (join) =>
      join.onRef('i.org_id', '=', 'v.org_id').onRef('i.vault_id', '=', 'v.vault_id'),
    )
    .where('i.item_id', '=', itemId)
    .executeTakeFirst()
  return found(row, 'vault_item_not_found') as unknown as ReadableVault
}

/** Every vault whose access list names the caller. */
export const visibleVaultIds = async ({ db, principal }: TxCtx): Promise<string[]> =>
  (await selectVault(db, principal.orgId, principal.id).execute()).map(({ vaultId }) => vaultId)

const RANK: Readonly<Record<VaultRole, number>> = { read: 0, write: 1, admin: 2 }

/** Whether the role allows it is asked before whether the vault still changes: a reader learns no more than a reader. */
export function ensureWritable(vault: ReadableVault, needed: 'write' | 'admin' = 'write'): WritableVault {
  ensureRole(vault, needed)
  if (vault.status !== 'active') throw new ApiError('vault_archived')
  return vault as WritableVault
}

/** An archived vault takes one change: the one that makes it active again. */
export function ensureRestorable(vault: ReadableVault): WritableVault {
  ensureRole(vault, 'admin')
  if (vault.status !== 'archived') throw new ApiError('vault_not_archived')
  return vault as WritableVault
}

function ensureRole({ role }: ReadableVault, needed: VaultRole): void {
  if (RANK[role] < RANK[needed]) throw new ApiError('vault_access_denied', { details: { role: needed.toUpperCase() } })
}
