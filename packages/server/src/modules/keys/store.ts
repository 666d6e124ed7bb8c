import type { Envelope } from '@strongroom/protocol'
import { sql } from 'kysely'
import type { ReadableVault } from '../../access/vaults.ts'
import type { Db } from '../../db/database.ts'

export interface OwnKey {
  readonly kid: string
  readonly status: 'active' | 'superseded' | 'removed' | 'compromised'
  readonly record: Envelope
}

/** The keys the directory ever had of a principal, oldest first. */
export async function keysOf(db: Db, orgId: string, principal: string): Promise<OwnKey[]> {
  const { rows } = await sql<OwnKey>`
    select m.state ->> 'kid' as kid, m.state ->> 'status' as status, d.envelope as record
    from map_state m join log_document d on d.org_id = m.org_id and d.doc_hash = m.state ->> 'rec'
    where m.org_id = ${orgId} and m.principal = ${principal}
    order by (m.state ->> 'added')::bigint, m.name`.execute(db)
  return rows
}

export async function activeKids(db: Db, orgId: string, principals: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ kid: string }>`
    select state ->> 'kid' as kid from map_state
    where org_id = ${orgId} and principal = any(${[...principals]}::text[]) and state ->> 'status' = 'active'
    order by name`.execute(db)
  return rows.map(({ kid }) => kid)
}

export interface GrantRow {
  readonly vaultId: string
  readonly kid: string
  readonly dekVersion: number
  readonly wrapHash: string
}

const grantColumns = sql`g.vault_id as "vaultId", g.kid, split_part(g.name, '/', 4)::integer as "dekVersion",
  g.state ->> 'wrapHash' as "wrapHash"`

export async function grantsOfPrincipal(db: Db, orgId: string, principal: string): Promise<GrantRow[]> {
  const { rows } = await sql<GrantRow>`
    select ${grantColumns} from map_state k
    join map_state g on g.org_id = k.org_id and g.is_live and g.kid = k.state ->> 'kid'
    where k.org_id = ${orgId} and k.principal = ${principal} and k.state ->> 'status' = 'active'
    order by g.name`.execute(db)
  return rows
}

export async function grantsOfVault(db: Db, { orgId, vaultId }: ReadableVault): Promise<GrantRow[]> {
  const { rows } = await sql<GrantRow>`
    select ${grantColumns} from map_state g
    where g.org_id = ${orgId} and g.vault_id = ${vaultId} and g.is_live order by g.name`.execute(db)
  return rows
}

export interface Holder {
  readonly principal: string
  readonly name: string
  readonly role: 'READ' | 'WRITE' | 'ADMIN'
}

/** Everybody on the access list, by the name people know them by. */
export async function holders(db: Db, { orgId, vaultId }: ReadableVault): Promise<Holder[]> {
  const { rows } = await sql<Holder>`
    select a.principal, coalesce(u.name, g.name, '') as name, upper(a.role) as role from vault_access a
    left join org_user u on u.org_id = a.org_id and a.principal = 'user:' || u.user_id
    left join agent g on g.org_id = a.org_id and a.principal = 'agent:' || g.agent_id
    where a.org_id = ${orgId} and a.vault_id = ${vaultId} and a.role is not null
    order by a.principal`.execute(db)
  return rows
}

export interface PendingKey {
  readonly kid: string
  readonly endorser: string
  readonly envelope: Envelope
  readonly createdAt: Date
}

export async function putPending(
  db: Db,
  orgId: string,
  { kid, endorser, envelope, createdAt }: PendingKey,
): Promise<void> {
  // One for each agent: a newer request takes the place of an older one.
  const others = `${kid.slice(0, kid.lastIndexOf(':'))}:`
  await sql`delete from pending_key where org_id = ${orgId} and starts_with(kid, ${others}) and kid <> ${kid}`.execute(
    db,
  )
  await sql`
    insert into pending_key (org_id, kid, endorser, envelope, created_at)
    values (${orgId}, ${kid}, ${endorser}, ${JSON.stringify(envelope)}::jsonb, ${createdAt})
    on conflict (org_id, kid) do update set endorser = excluded.endorser, envelope = excluded.envelope`.execute(db)
}

export async function dropPending(db: Db, orgId: string, kid: string): Promise<void> {
  await db.deleteFrom('pending_key').where('org_id', '=', orgId).where('kid', '=', kid).execute()
}

export async function pendingFor(db: Db, orgId: string, principal: string): Promise<PendingKey[]> {
  const { rows } = await sql<PendingKey>`
    select kid, endorser, envelope, created_at as "createdAt" from pending_key
    where org_id = ${orgId} and endorser like ${`${principal}:%`} order by created_at desc, kid desc`.execute(db)
  return rows
}
