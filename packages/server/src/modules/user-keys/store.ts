import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'

export interface Owner {
  readonly orgId: string
  readonly userId: string
}

export interface Secrets {
  readonly record: string
  readonly kid: string
  readonly kdf: string
  readonly bundleVersion: number
  readonly privateBundle: string
}

export interface RecoveryRow {
  readonly bundle: string
  readonly tokenHash: Buffer
  /** The version its copy was sealed for. */
  readonly version: number
}

const recoveryColumns = (recovery: RecoveryRow | undefined) => ({
  recovery_bundle: recovery?.bundle ?? null,
  recovery_version: recovery?.version ?? null,
  recovery_token_hash: recovery?.tokenHash ?? null,
})

export async function insertSecrets(
  db: Db,
  { orgId, userId }: Owner,
  secrets: Secrets,
  recovery: RecoveryRow | undefined,
  at: Date,
): Promise<void> {
  const { record, kid, kdf, bundleVersion, privateBundle } = secrets
  await db
    .insertInto('user_secret')
    .values({
      org_id: orgId,
      user_id: userId,
      opaque_record: record,
      kid,
      kdf,
      bundle_version: bundleVersion,
      private_bundle: privateBundle,
      ...recoveryColumns(recovery),
      updated_at: at,
    })
    .execute()
}

const ofOwner = (db: Db, { orgId, userId }: Owner) =>
  db
    .selectFrom('user_secret')
    .select([
      'opaque_record as record',
      'kid',
      'kdf',
      'bundle_version as bundleVersion',
      'private_bundle as privateBundle',
      'updated_at as updatedAt',
    ])
    .select(sql<boolean>`recovery_bundle is not null`.as('hasRecovery'))
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)

export type StoredSecrets = Secrets & { readonly updatedAt: Date; readonly hasRecovery: boolean }

/** They stay as they are until the transaction ends: whoever changes them waits, and so sees what was decided on them. */
export const secrets = (db: Db, owner: Owner): Promise<StoredSecrets | undefined> =>
  ofOwner(db, owner).forShare().executeTakeFirst()

export interface RecoverySecrets {
  readonly kid: string
  readonly bundleVersion: number
  readonly recoveryBundle: string
  readonly recoveryVersion: number
}

export async function byRecoveryToken(
  db: Db,
  { orgId, userId }: Owner,
  tokenHash: Buffer,
): Promise<RecoverySecrets | undefined> {
  const row = await db
    .selectFrom('user_secret')
    .select([
      'kid',
      'bundle_version as bundleVersion',
      'recovery_bundle as recoveryBundle',
      'recovery_version as recoveryVersion',
    ])
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('recovery_token_hash', '=', tokenHash)
    .executeTakeFirst()
  if (!row || row.recoveryBundle === null || row.recoveryVersion === null) return undefined
  return { ...row, recoveryBundle: row.recoveryBundle, recoveryVersion: row.recoveryVersion }
}

export interface Change {
  readonly bundleVersion: number
  readonly record?: string
  readonly kdf?: string
  readonly kid?: string
  readonly privateBundle?: string
  /** null takes it away. */
  readonly recovery?: RecoveryRow | null
  readonly at: Date
}

/** Checked and changed in one statement: only the version right after the one that is there replaces it. */
export async function changeSecrets(
  db: Db,
  { orgId, userId }: Owner,
  from: { readonly version: number; readonly kid?: string },
  change: Change,
): Promise<boolean> {
  const { bundleVersion, record, kdf, kid, privateBundle, recovery, at } = change
  let update = db
    .updateTable('user_secret')
    .set({
      bundle_version: bundleVersion,
      updated_at: at,
      ...(record !== undefined && { opaque_record: record }),
      ...(kdf !== undefined && { kdf }),
      ...(kid !== undefined && { kid }),
      ...(privateBundle !== undefined && { private_bundle: privateBundle }),
      ...(recovery !== undefined && recoveryColumns(recovery ?? undefined)),
    })
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('bundle_version', '=', from.version)
  if (from.kid !== undefined) update = update.where('kid', '=', from.kid)
  return (await update.executeTakeFirst()).numUpdatedRows === 1n
}

export async function deleteSecrets(db: Db, { orgId, userId }: Owner): Promise<void> {
  await db.deleteFrom('user_secret').where('org_id', '=', orgId).where('user_id', '=', userId).execute()
}
