import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { Upload } from '../../outside/object-storage.ts'

// What the worker takes away, in every organisation. A row is marked before its object goes and removed after it: whoever crashes
// in between leaves a mark that the next one finds.

export interface EndingUpload extends Upload {
  readonly orgId: string
  readonly uploadId: string
}

/** Uploads that nothing happened to since `idle`, and those whose sweeper did not come back since `abandoned`. */
export async function takeIdleUploads(
  db: Db,
  { idle, abandoned, now, limit }: { idle: Date; abandoned: Date; now: Date; limit: number },
): Promise<EndingUpload[]> {
  const { rows } = await sql<EndingUpload>`
    update attachment_upload u set status = 'ending', changed_at = ${now}
    from (
      select org_id, upload_id from attachment_upload
      where changed_at < ${idle} or (status = 'ending' and changed_at < ${abandoned})
      order by changed_at limit ${limit} for update skip locked
    ) as t
    where u.org_id = t.org_id and u.upload_id = t.upload_id
    returning u.org_id as "orgId", u.upload_id as "uploadId", u.object_key as key, u.storage_id as "storageId"`.execute(
    db,
  )
  return rows
}

/** Its placeholder goes with it. */
export const removeUpload = (db: Db, { orgId, uploadId }: EndingUpload): Promise<unknown> =>
  sql`delete from attachment_upload where org_id = ${orgId} and upload_id = ${uploadId} and status = 'ending'`.execute(
    db,
  )

export interface EndingContent {
  readonly orgId: string
  readonly assetId: string
  readonly assetVersion: number
  readonly key: string
}

/** Content that no head names any more: a newer version took its place before `superseded`. */
export async function takeSuperseded(
  db: Db,
  { superseded, limit }: { superseded: Date; limit: number },
): Promise<EndingContent[]> {
  const { rows } = await sql<EndingContent>`
    update attachment a set status = 'ending'
    from (
      select o.org_id, o.asset_id, o.asset_version from attachment o
      join vault_asset v on v.org_id = o.org_id and v.asset_id = o.asset_id
      join attachment n on n.org_id = v.org_id and n.asset_id = v.asset_id and n.asset_version = v.asset_version
      where o.status <> 'uploading' and o.asset_version < v.asset_version and n.stored_at < ${superseded}
      limit ${limit} for update of o skip locked
    ) as t
    where a.org_id = t.org_id and a.asset_id = t.asset_id and a.asset_version = t.asset_version
    returning a.org_id as "orgId", a.asset_id as "assetId", a.asset_version as "assetVersion", a.object_key as key`.execute(
    db,
  )
  return rows
}

export const removeContent = (db: Db, { orgId, assetId, assetVersion }: EndingContent): Promise<unknown> =>
  sql`delete from attachment where org_id = ${orgId} and asset_id = ${assetId} and asset_version = ${assetVersion}
    and status = 'ending'`.execute(db)

/** Which of these keys no row knows. */
export async function unknownKeys(db: Db, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select k as key from unnest(${[...keys]}::text[]) as k
    where not exists (select from attachment_upload where object_key = k)
      and not exists (select from attachment where object_key = k)`.execute(db)
  return rows.map(({ key }) => key)
}

/** Writes down what was noticed just now; gives those that were noticed before `before` already. */
export async function noticeOrphans(
  db: Db,
  keys: readonly string[],
  { now, before }: { now: Date; before: Date },
): Promise<string[]> {
  await sql`insert into object_orphan (object_key, noticed_at) select k, ${now} from unnest(${[...keys]}::text[]) as k
    on conflict do nothing`.execute(db)
  const { rows } = await sql<{ key: string }>`
    select object_key as key from object_orphan
    where object_key = any(${[...keys]}::text[]) and noticed_at < ${before}`.execute(db)
  return rows.map(({ key }) => key)
}

export const forgetOrphans = (db: Db, keys: readonly string[]): Promise<unknown> =>
  sql`delete from object_orphan where object_key = any(${[...keys]}::text[])`.execute(db)
