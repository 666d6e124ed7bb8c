import type { Envelope } from '@strongroom/protocol'
import { sql } from 'kysely'
import type { ReadableVault, WritableVault } from '../../access/vaults.ts'
import type { Db } from '../../db/database.ts'

export interface UploadRow {
  readonly uploadId: string
  readonly key: string
  readonly storageId: string
  readonly status: 'open' | 'finalized'
  readonly reservedBytes: number
  readonly ciphertextSize: number | null
  readonly ciphertextHash: string | null
}

export const insertUpload = (
  db: Db,
  { orgId, vaultId }: WritableVault,
  upload: { uploadId: string; key: string; storageId: string; principal: string; at: Date },
): Promise<unknown> =>
  db
    .insertInto('attachment_upload')
    .values({
      org_id: orgId,
      upload_id: upload.uploadId,
      vault_id: vaultId,
      object_key: upload.key,
      storage_id: upload.storageId,
      status: 'open',
      created_by: upload.principal,
      created_at: upload.at,
      changed_at: upload.at,
    })
    .execute()

/** An upload of this principal that is not over. Locked: the sweeper takes it only when nobody works with it. */
export async function takeUpload(
  db: Db,
  { orgId, vaultId }: WritableVault,
  principal: string,
  uploadId: string,
): Promise<UploadRow | undefined> {
  const { rows } = await sql<UploadRow>`
    select upload_id as "uploadId", object_key as key, storage_id as "storageId", status, reserved_bytes as "reservedBytes",
      ciphertext_size as "ciphertextSize", ciphertext_hash as "ciphertextHash"
    from attachment_upload
    where org_id = ${orgId} and vault_id = ${vaultId} and upload_id = ${uploadId} and created_by = ${principal}
      and status <> 'ending' for update`.execute(db)
  return rows[0]
}

export interface Usage {
  readonly uploads: number
  readonly vault: number
  readonly org: number
}

/** What counts against the quotas besides this upload: what is stored, and what others have addresses for. */
export async function usage(db: Db, { orgId, vaultId }: ReadableVault, uploadId: string): Promise<Usage> {
  const { rows } = await sql<Usage>`
    with pending as (
      select vault_id, count(*) as uploads, sum(reserved_bytes) as bytes from attachment_upload
      where org_id = ${orgId} and upload_id <> ${uploadId} group by vault_id
    ), stored as (
      select v.vault_id, sum(a.ciphertext_size) as bytes from attachment a
      left join vault_asset v on v.org_id = a.org_id and v.asset_id = a.asset_id and v.asset_version = a.asset_version
      where a.org_id = ${orgId} and a.status <> 'uploading' group by v.vault_id
    )
    select coalesce((select uploads from pending where vault_id = ${vaultId}), 0)::bigint as uploads,
      (coalesce((select bytes from pending where vault_id = ${vaultId}), 0)
        + coalesce((select bytes from stored where vault_id = ${vaultId}), 0))::bigint as vault,
      (coalesce((select sum(bytes) from pending), 0) + coalesce((select sum(bytes) from stored), 0))::bigint as org`.execute(
    db,
  )
  return rows[0] as Usage
}

const QUOTA_LOCK = 8_420_023

/** Until the end of the transaction nobody else of the organisation is given room. */
export const lockQuota = (db: Db, { orgId }: ReadableVault): Promise<unknown> =>
  sql`select pg_advisory_xact_lock(${QUOTA_LOCK}::int, hashtext(${orgId}))`.execute(db)

export const reserve = (
  db: Db,
  { orgId }: WritableVault,
  { uploadId, reservedBytes, at }: { uploadId: string; reservedBytes: number; at: Date },
): Promise<unknown> =>
  db
    .updateTable('attachment_upload')
    .set({ reserved_bytes: reservedBytes, changed_at: at })
    .where('org_id', '=', orgId)
    .where('upload_id', '=', uploadId)
    .execute()

/** What was read of a completed upload, once. */
export const setFinalized = (
  db: Db,
  orgId: string,
  { uploadId, ciphertextSize, ciphertextHash, at }: Finalized,
): Promise<unknown> =>
  db
    .updateTable('attachment_upload')
    .set({ status: 'finalized', ciphertext_size: ciphertextSize, ciphertext_hash: ciphertextHash, changed_at: at })
    .where('org_id', '=', orgId)
    .where('upload_id', '=', uploadId)
    .where('status', '=', 'open')
    .execute()

export interface Finalized {
  readonly uploadId: string
  readonly ciphertextSize: number
  readonly ciphertextHash: string
  readonly at: Date
}

/** Nobody can go on with it; the sweeper takes what is left in storage. */
export const endUpload = (db: Db, orgId: string, uploadId: string, at: Date): Promise<unknown> =>
  db
    .updateTable('attachment_upload')
    .set({ status: 'ending', changed_at: at })
    .where('org_id', '=', orgId)
    .where('upload_id', '=', uploadId)
    .execute()

export interface AttachmentRow {
  readonly assetId: string
  readonly assetVersion: number
  readonly vaultId: string
  readonly itemId: string
  readonly status: 'uploading' | 'stored'
  readonly createdAt: Date
}

const ATTACHMENT = sql`a.asset_id as "assetId", a.asset_version as "assetVersion", a.vault_id as "vaultId", a.item_id as "itemId",
  a.status, a.created_at as "createdAt"`

/** The placeholder; one's own that is not stored yet may be made again. */
export async function putPlaceholder(
  db: Db,
  { orgId, vaultId }: WritableVault,
  row: {
    assetId: string
    assetVersion: number
    itemId: string
    uploadId: string
    principal: string
    at: Date
  },
): Promise<AttachmentRow | undefined> {
  const { rows } = await sql<AttachmentRow>`
    insert into attachment as a (org_id, asset_id, asset_version, vault_id, item_id, status, upload_id, created_by, created_at)
    values (${orgId}, ${row.assetId}, ${row.assetVersion}, ${vaultId}, ${row.itemId}, 'uploading', ${row.uploadId},
      ${row.principal}, ${row.at})
    on conflict (org_id, asset_id, asset_version) do update set vault_id = excluded.vault_id, item_id = excluded.item_id,
      upload_id = excluded.upload_id, created_at = excluded.created_at
    where a.status = 'uploading' and a.created_by = excluded.created_by
    returning ${ATTACHMENT}`.execute(db)
  return rows[0]
}

export interface PlaceholderRow extends AttachmentRow {
  readonly uploadId: string | null
  readonly uploadStatus: 'open' | 'finalized' | 'ending' | null
  readonly key: string | null
  readonly ciphertextSize: number | null
  readonly ciphertextHash: string | null
}

/** One's own placeholder and its upload, both locked, or what it has become. */
export async function takePlaceholder(
  db: Db,
  { orgId, vaultId }: ReadableVault,
  principal: string,
  { assetId, assetVersion }: { assetId: string; assetVersion: number },
): Promise<PlaceholderRow | undefined> {
  const { rows } = await sql<PlaceholderRow>`
    select ${ATTACHMENT}, a.upload_id as "uploadId", u.status as "uploadStatus", coalesce(u.object_key, a.object_key) as key,
      coalesce(u.ciphertext_size, a.ciphertext_size) as "ciphertextSize",
      coalesce(u.ciphertext_hash, a.ciphertext_hash) as "ciphertextHash"
    from attachment a
    left join attachment_upload u on u.org_id = a.org_id and u.upload_id = a.upload_id
    where a.org_id = ${orgId} and a.vault_id = ${vaultId} and a.asset_id = ${assetId} and a.asset_version = ${assetVersion}
      and a.created_by = ${principal} for update of a`.execute(db)
  return rows[0]
}

/** The object becomes the attachment's, and the upload is over. False if the sweeper was quicker. */
export async function setStored(
  db: Db,
  { orgId }: WritableVault,
  { assetId, assetVersion, uploadId, at }: { assetId: string; assetVersion: number; uploadId: string; at: Date },
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    with taken as (
      select * from attachment_upload where org_id = ${orgId} and upload_id = ${uploadId} and status = 'finalized' for update
    )
    update attachment a set status = 'stored', upload_id = null, object_key = u.object_key, ciphertext_size = u.ciphertext_size,
      ciphertext_hash = u.ciphertext_hash, stored_at = ${at}
    from taken u
    where a.org_id = u.org_id and a.asset_id = ${assetId} and a.asset_version = ${assetVersion}
      and a.upload_id = u.upload_id`.execute(db)
  await sql`delete from attachment_upload where org_id = ${orgId} and upload_id = ${uploadId}`.execute(db)
  return numAffectedRows === 1n
}

export async function attachment(
  db: Db,
  orgId: string,
  { assetId, assetVersion }: { assetId: string; assetVersion: number },
): Promise<AttachmentRow | undefined> {
  const { rows } = await sql<AttachmentRow>`
    select ${ATTACHMENT} from attachment a
    where a.org_id = ${orgId} and a.asset_id = ${assetId} and a.asset_version = ${assetVersion}`.execute(db)
  return rows[0]
}

export interface CurrentAsset {
  readonly vaultId: string
  readonly itemId: string
  readonly assetVersion: number
}

/** What the heads of the organisation say about an id. */
export const currentAsset = (db: Db, orgId: string, assetId: string): Promise<CurrentAsset | undefined> =>
  db
    .selectFrom('vault_asset')
    .select(['vault_id as vaultId', 'item_id as itemId', 'asset_version as assetVersion'])
    .where('org_id', '=', orgId)
    .where('asset_id', '=', assetId)
    .executeTakeFirst()

export interface Downloadable {
  readonly key: string
  readonly checkpoint: Envelope
  readonly detail: Envelope
}

/** The current content of an attachment that its item has. */
export async function downloadable(
  db: Db,
  { orgId, vaultId }: ReadableVault,
  assetId: string,
): Promise<Downloadable | undefined> {
  const { rows } = await sql<Downloadable>`
    select a.object_key as key, v.checkpoint, i.detail
    from vault_asset v
    join vault_item i using (org_id, vault_id, item_id)
    join attachment a on a.org_id = v.org_id and a.asset_id = v.asset_id and a.asset_version = v.asset_version
    where v.org_id = ${orgId} and v.vault_id = ${vaultId} and v.asset_id = ${assetId} and v.status = 'active'
      and i.status = 'active' and a.status = 'stored'`.execute(db)
  return rows[0]
}

export const checkpointsOf = (
  db: Db,
  { orgId, vaultId }: ReadableVault,
  itemId: string,
): Promise<{ assetId: string; checkpoint: Envelope }[]> =>
  db
    .selectFrom('vault_asset')
    .select(['asset_id as assetId', sql<Envelope>`checkpoint`.as('checkpoint')])
    .where('org_id', '=', orgId)
    .where('vault_id', '=', vaultId)
    .where('item_id', '=', itemId)
    .orderBy('asset_id')
    .execute()

/** Which of these contents are in storage as their checkpoints say. */
export async function countStored(
  db: Db,
  orgId: string,
  contents: readonly { assetId: string; assetVersion: number; ciphertextSize: number; ciphertextHash: string }[],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from attachment a
    join unnest(${contents.map(({ assetId }) => assetId)}::text[], ${contents.map(({ assetVersion }) => assetVersion)}::bigint[],
      ${contents.map(({ ciphertextSize }) => ciphertextSize)}::bigint[], ${contents.map(({ ciphertextHash }) => ciphertextHash)}::text[]
    ) as c (asset_id, asset_version, size, hash)
      on c.asset_id = a.asset_id and c.asset_version = a.asset_version and c.size = a.ciphertext_size
        and c.hash = a.ciphertext_hash
    where a.org_id = ${orgId} and a.status = 'stored'`.execute(db)
  return Number(rows[0]?.count ?? 0)
}
