import {
  type AssetRow,
  aclSet,
  assetContent,
  claimedKind,
  documentHash,
  type Envelope,
  type ItemRow,
  peekDocument,
  type VaultState,
  vaultName,
} from '@strongroom/protocol'
import { sql } from 'kysely'
import type { ReadableVault } from '../../access/vaults.ts'
import type { TxCtx } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Appended } from '../../log/append.ts'
import { readDocument } from '../../log/state-store.ts'
import { narrowItemEntries } from '../permissions/store.ts'
import type { ChangedVault } from './commit.ts'
import { dropRetired, keepFormer } from './former-store.ts'

// What a checked and logged commit leaves in the tables.

type Place = Pick<ReadableVault, 'orgId' | 'vaultId'>

export async function document(db: Db, orgId: string, hash: string): Promise<Envelope> {
  const stored = await readDocument(db, orgId, hash)
  if (!stored) throw new Error('the log has lost a document')
  return stored.envelope
}

/** The state of the vault that the leaf has just made. */
function stateAfter({ transition }: Appended, vaultId: string): VaultState {
  const update = transition.updates.find(({ name }) => name === vaultName(vaultId))
  if (!update) throw new Error('a commit that does not change its vault')
  return update.state as unknown as VaultState
}

const ofKind = ({ commit }: ChangedVault, kind: string): Envelope | undefined =>
  commit.docs.find((envelope) => claimedKind(envelope) === kind)

/** From when on nothing else is written; null if no rotation is due. */
const dueAt = ({ rotationDue }: VaultState): Date | null => rotationDue && new Date(rotationDue.at)

export async function storeNewVault(ctx: TxCtx, changed: ChangedVault, appended: Appended): Promise<void> {
  const { db, principal } = ctx
  const { vaultId, head } = changed
  const { meta } = head.payload
  if (principal.tenantId === null) throw new ApiError('key_kind_refused')
  const at = ctx.now()
  const create = ofKind(changed, 'vault.create')
  await db
    .insertInto('vault')
    .values({
      org_id: principal.orgId,
      vault_id: vaultId,
      tenant_id: principal.tenantId,
      name: meta.name,
      classification: meta.classification,
      status: meta.status,
      head_version: head.payload.headVersion,
      head_hash: head.hash,
      head_index: appended.index,
      admins_chain: create ? [documentHash(create)] : [],
      rotation_due: dueAt(stateAfter(appended, vaultId)),
      created_by: principal.id,
      created_at: at,
      updated_at: at,
    })
    .execute()
  await storeAccess(ctx, changed, appended.index)
}

export async function storeCommit(ctx: TxCtx, changed: ChangedVault, appended: Appended): Promise<void> {
  const { vaultId, head, checked } = changed
  const { orgId } = ctx.principal
  const { meta, headVersion } = head.payload
  const admins = ofKind(changed, 'vault.admins')
  const active = [...checked.content.items.values()].filter(({ status }) => status === 'active').length
  await sql`
    update vault set name = ${meta.name}, classification = ${meta.classification}, status = ${meta.status},
      head_version = ${headVersion}, head_hash = ${head.hash}, head_index = ${appended.index}, item_count = ${active},
      admins_chain = admins_chain || ${admins ? [documentHash(admins)] : []}::text[],
      rotation_due = ${dueAt(stateAfter(appended, vaultId))}, updated_at = ${ctx.now()}
    where org_id = ${orgId} and vault_id = ${vaultId}`.execute(ctx.db)
  await storeAccess(ctx, changed, appended.index)
  await storeItems(ctx, changed, appended.index)
  await storeAssets(ctx, changed, appended.index)
  if (changed.isRetiring) await dropRetired(ctx.db, { orgId, vaultId }, head.payload.oldestDek)
}

/** The access list of the commit in place of the one before; whoever left it keeps a tombstone. The lists of its items follow. */
async function storeAccess({ db, principal }: TxCtx, changed: ChangedVault, index: number): Promise<void> {
  const envelope = ofKind(changed, 'acl.set')
  if (!envelope) return
  const { acl } = peekDocument(aclSet, envelope).payload
  const place = [principal.orgId, changed.vaultId] as const
  await sql`
    with listed as (
      select * from unnest(${acl.map(({ p }) => p)}::text[], ${acl.map(({ role }) => role)}::text[]) as l (principal, role)
    ), ended as (
      update vault_access a set role = null, since_index = ${index}
      where a.org_id = ${place[0]} and a.vault_id = ${place[1]} and a.role is not null
        and not exists (select from listed l where l.principal = a.principal)
    )
    insert into vault_access (org_id, vault_id, principal, role, since_index)
    select ${place[0]}, ${place[1]}, principal, role, ${index} from listed
    on conflict (org_id, vault_id, principal) do update set role = excluded.role,
      -- A change among readers is no new access: who could read before has nothing to fetch again.
      since_index = case when vault_access.role is null then excluded.since_index else vault_access.since_index end`.execute(
    db,
  )
  await narrowItemEntries(db, { orgId: principal.orgId, vaultId: changed.vaultId })
}

export async function storeItems(ctx: TxCtx, changed: ChangedVault, index: number): Promise<void> {
  const { checked, commit, vaultId, head } = changed
  if (checked.items.length === 0) return
  const { orgId } = ctx.principal
  const details = new Map(commit.docs.map((envelope) => [documentHash(envelope), envelope]))
  const rows = checked.items.map(({ detail, hash }) => ({ detail, hash, envelope: details.get(hash) }))
  await keepFormer(ctx.db, { orgId, vaultId }, checked, commit)
  await refusingIds(() =>
    sql`
      insert into vault_item (org_id, vault_id, item_id, item_version, name, website, status, field_count, detail_hash, detail,
        head_version, changed_index, created_at, updated_at)
      select ${orgId}, ${vaultId}, item_id, item_version, name, website, status, field_count, detail_hash, detail::jsonb,
        ${head.payload.headVersion}, ${index}, ${ctx.now()}, ${ctx.now()}
      from unnest(
        ${rows.map(({ detail }) => detail.itemId)}::text[], ${rows.map(({ detail }) => detail.itemVersion)}::bigint[],
        ${rows.map(({ detail }) => detail.name)}::text[], ${rows.map(({ detail }) => detail.website)}::text[],
        ${rows.map(({ detail }) => detail.status)}::text[], ${rows.map(({ detail }) => detail.fields.length)}::integer[],
        ${rows.map(({ hash }) => hash)}::text[], ${rows.map(({ envelope }) => JSON.stringify(envelope))}::text[]
      ) as r (item_id, item_version, name, website, status, field_count, detail_hash, detail)
      on conflict (org_id, vault_id, item_id) do update set item_version = excluded.item_version, name = excluded.name,
        website = excluded.website, status = excluded.status, field_count = excluded.field_count,
        detail_hash = excluded.detail_hash, detail = excluded.detail, head_version = excluded.head_version,
        changed_index = excluded.changed_index, updated_at = excluded.updated_at`.execute(ctx.db),
  )
  await storeFields(ctx, changed)
}

/** Only changed fields come with a value, and only they are written; a field of another item is nobody's to take. */
async function storeFields(
  { db, principal: { orgId } }: TxCtx,
  { checked, commit, vaultId }: ChangedVault,
): Promise<void> {
  const all = checked.items.flatMap(({ detail }) => detail.fields.map((field) => ({ ...field, itemId: detail.itemId })))
  const written = all.filter(({ fieldId }) => Object.hasOwn(commit.values, fieldId))
  await sql`
    delete from vault_field where org_id = ${orgId} and vault_id = ${vaultId}
      and item_id = any(${checked.items.map(({ detail }) => detail.itemId)}::text[])
      and field_id <> all(${all.map(({ fieldId }) => fieldId)}::text[])`.execute(db)
  const { numAffectedRows = 0n } = await sql`
    insert into vault_field (org_id, vault_id, item_id, field_id, label, env, ct, dek_version, rev, value)
    select ${orgId}, ${vaultId}, * from unnest(
      ${written.map(({ itemId }) => itemId)}::text[], ${written.map(({ fieldId }) => fieldId)}::text[],
      ${written.map(({ label }) => label)}::text[], ${written.map(({ env }) => env)}::boolean[],
      ${written.map(({ ct }) => ct)}::text[], ${written.map(({ dekVersion }) => dekVersion)}::bigint[],
      ${written.map(({ rev }) => rev)}::bigint[], ${written.map(({ fieldId }) => commit.values[fieldId])}::text[]
    )
    on conflict (org_id, vault_id, field_id) do update set label = excluded.label, env = excluded.env, ct = excluded.ct,
      dek_version = excluded.dek_version, rev = excluded.rev, value = excluded.value
    where vault_field.item_id = excluded.item_id`.execute(db)
  if (Number(numAffectedRows) !== written.length) throw new ApiError('id_conflict')
}

async function storeAssets(ctx: TxCtx, { checked, commit, vaultId, head }: ChangedVault, index: number): Promise<void> {
  if (checked.assets.length === 0) return
  const { orgId } = ctx.principal
  const documents = new Map(commit.docs.map((envelope) => [documentHash(envelope), envelope]))
  const rows = checked.assets.map((row) => ({ row, envelope: documents.get(row.docHash) as Envelope }))
  await refusingIds(() =>
    sql`
      insert into vault_asset (org_id, vault_id, asset_id, asset_version, item_id, status, doc_hash, dek_version, checkpoint,
        head_version, changed_index, created_at)
      select ${orgId}, ${vaultId}, asset_id, asset_version, item_id, status, doc_hash, dek_version, checkpoint::jsonb,
        ${head.payload.headVersion}, ${index}, ${ctx.now()}
      from unnest(
        ${rows.map(({ row }) => row.assetId)}::text[], ${rows.map(({ row }) => row.assetVersion)}::bigint[],
        ${rows.map(({ row }) => row.itemId)}::text[], ${rows.map(({ row }) => row.status)}::text[],
        ${rows.map(({ row }) => row.docHash)}::text[],
        ${rows.map(({ envelope }) => peekDocument(assetContent, envelope).payload.dekVersion)}::bigint[],
        ${rows.map(({ envelope }) => JSON.stringify(envelope))}::text[]
      ) as r (asset_id, asset_version, item_id, status, doc_hash, dek_version, checkpoint)
      on conflict (org_id, vault_id, asset_id) do update set asset_version = excluded.asset_version, status = excluded.status,
        doc_hash = excluded.doc_hash, dek_version = excluded.dek_version, checkpoint = excluded.checkpoint,
        head_version = excluded.head_version, changed_index = excluded.changed_index`.execute(ctx.db),
  )
}

const UNIQUE_VIOLATION = '23505'

/** Ids are made by clients: one that is taken elsewhere in the organisation is refused like any other conflict. */
export async function refusingIds<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw (error as { code?: string }).code === UNIQUE_VIOLATION ? new ApiError('id_conflict') : error
  }
}

/** The item and everything in it leaves the vault; its fields come anew with the commit of the other one. */
export async function takeOut(
  { db }: TxCtx,
  { orgId, vaultId }: Place,
  itemId: string,
  at: { headVersion: number; index: number },
): Promise<void> {
  await sql`
    delete from vault_asset where org_id = ${orgId} and vault_id = ${vaultId} and item_id = ${itemId}`.execute(db)
  await sql`
    delete from vault_item where org_id = ${orgId} and vault_id = ${vaultId} and item_id = ${itemId}`.execute(db)
  await sql`
    insert into vault_item_gone (org_id, vault_id, item_id, head_version, changed_index)
    values (${orgId}, ${vaultId}, ${itemId}, ${at.headVersion}, ${at.index})
    on conflict (org_id, vault_id, item_id) do update set head_version = excluded.head_version,
      changed_index = excluded.changed_index`.execute(db)
}

/** The oldest vault key version that anything is under, but for these. */
export async function oldestDek(
  db: Db,
  { orgId, vaultId }: Place,
  but: { items: ReadonlySet<string>; assets: ReadonlySet<string> },
): Promise<number | undefined> {
  const { rows } = await sql<{ oldest: number | null }>`
    select least(
      (select min(dek_version) from vault_field
        where org_id = ${orgId} and vault_id = ${vaultId} and item_id <> all(${[...but.items]}::text[])),
      (select min(dek_version) from vault_asset
        where org_id = ${orgId} and vault_id = ${vaultId} and asset_id <> all(${[...but.assets]}::text[]))
    ) as oldest`.execute(db)
  return rows[0]?.oldest ?? undefined
}

export interface Changed {
  readonly changed: readonly { readonly row: ItemRow; readonly detail: Envelope }[]
  readonly gone: readonly string[]
  readonly assets: readonly AssetRow[]
}

/** What changed after a version of the head; undefined if it is more than `limit` items. */
export async function changedSince(
  db: Db,
  { orgId, vaultId }: Place,
  headVersion: number,
  limit: number,
): Promise<Changed | undefined> {
  const { rows } = await sql<Changed>`
    select
      coalesce((select jsonb_agg(jsonb_build_object('detail', detail, 'row', jsonb_build_object('itemId', item_id,
        'itemVersion', item_version, 'name', name, 'website', website, 'status', status, 'fieldCount', field_count,
        'detailHash', detail_hash)))
        from (select * from vault_item where org_id = ${orgId} and vault_id = ${vaultId} and head_version > ${headVersion}
          limit ${limit + 1}) as i), '[]') as changed,
      coalesce((select jsonb_agg(item_id) from vault_item_gone
        where org_id = ${orgId} and vault_id = ${vaultId} and head_version > ${headVersion}), '[]') as gone,
      coalesce((select jsonb_agg(jsonb_build_object('assetId', asset_id, 'assetVersion', asset_version, 'docHash', doc_hash,
        'itemId', item_id, 'status', status))
        from vault_asset where org_id = ${orgId} and vault_id = ${vaultId} and head_version > ${headVersion}), '[]') as assets`.execute(
    db,
  )
  const found = rows[0] as Changed
  return found.changed.length > limit ? undefined : found
}
