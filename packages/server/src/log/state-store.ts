import { type Envelope, type JsonObject, kidName, type LiveGrant } from '@strongroom/protocol'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/database.ts'
import type { Mentions } from './mentions.ts'

// States and documents as the rules ask for them. The caller has locked the row of the log, so nothing changes meanwhile.

export interface Grant extends LiveGrant {
  readonly isLive: boolean
}

export interface GrantRow {
  readonly name: string
  readonly is_live: boolean
}

export const grantOf = ({ name, is_live }: GrantRow): Grant => {
  const [, vaultId = '', kid = '', dekVersion] = name.split('/')
  return { vaultId, kid, dekVersion: Number(dekVersion), isLive: is_live }
}

export interface Surroundings {
  readonly states: readonly { readonly name: string; readonly state: JsonObject; readonly principal: string | null }[]
  readonly documents: readonly { readonly hash: string; readonly envelope: Envelope }[]
  readonly grants: readonly GrantRow[]
}

/**
 * The named states; the keys of the named principals; the vaults of keys that end; for every key those who vouched for it, up to the
 * genesis. Each look-up stands apart (`offset 0`): under row-level security a condition with a function in it would use no index,
 * and a plan made from old statistics would read the whole log.
 */
const reachable = (
  orgId: string,
  { names, principals, endingKids, regrantedVaults }: Mentions,
): RawBuilder<unknown> => sql`
    grants as (
      select name, vault_id, is_live from map_state
      where org_id = ${orgId} and kid = any(${[...endingKids]}::text[])
      union
      select name, vault_id, is_live from map_state
      where org_id = ${orgId} and vault_id = any(${[...regrantedVaults]}::text[]) and is_live
    ), reached (name) as (
      (
        select unnest(${[...names]}::text[])
        union select name from map_state where org_id = ${orgId} and principal = any(${[...principals]}::text[])
        union select name from grants
        union select 'vault/' || vault_id from grants
      )
      union
      select 'kid/' || (signature ->> 'keyid')
      from reached r
      cross join lateral (
        select state ->> 'rec' as hash from map_state
        where org_id = ${orgId} and name = r.name and principal is not null offset 0
      ) as record
      cross join lateral (
        select envelope from log_document where org_id = ${orgId} and doc_hash = record.hash offset 0
      ) as document
      cross join lateral (select * from jsonb_array_elements(document.envelope -> 'signatures') limit 8) as s (signature)
    )`

/** All of these, and the documents they name: records, caps, policies, admins and access lists. */
export async function readAround(db: Db, orgId: string, mentions: Mentions): Promise<Surroundings> {
  const { rows } = await sql<Surroundings>`
    with recursive ${reachable(orgId, mentions)}, states as materialized (
      select s.name, s.state, s.principal from reached r
      cross join lateral (select * from map_state where org_id = ${orgId} and name = r.name offset 0) as s
    ), named as materialized (
      select state ->> member as hash
      from states, unnest(array['rec', 'policyHash', 'adminsHash', 'aclHash']) as member where state ? member
      union
      select caps ->> 'docHash' from states
      cross join lateral (
        select * from jsonb_array_elements(state -> 'capSets') with ordinality as c (caps, n) order by n desc limit 8
      ) as latest
      where state ? 'capSets'
    )
    select
      coalesce((select jsonb_agg(states) from states), '[]') as states,
      coalesce((
        select jsonb_agg(jsonb_build_object('hash', n.hash, 'envelope', d.envelope)) from named n
        cross join lateral (
          select envelope from log_document where org_id = ${orgId} and doc_hash = n.hash offset 0
        ) as d
      ), '[]') as documents,
      coalesce((select jsonb_agg(jsonb_build_object('name', name, 'is_live', is_live)) from grants), '[]') as grants`.execute(
    db,
  )
  return rows[0] ?? { states: [], documents: [], grants: [] }
}

export const readState = async (db: Db, orgId: string, name: string): Promise<JsonObject | undefined> =>
  (
    await db
      .selectFrom('map_state')
      .select('state')
      .where('org_id', '=', orgId)
      .where('name', '=', name)
      .executeTakeFirst()
  )?.state as JsonObject | undefined

export const readDocument = async (
  db: Db,
  orgId: string,
  docHash: string,
): Promise<{ kind: string; envelope: Envelope } | undefined> => {
  const row = await db
    .selectFrom('log_document')
    .select(['kind', 'envelope'])
    .where('org_id', '=', orgId)
    .where('doc_hash', '=', docHash)
    .executeTakeFirst()
  return row && { kind: row.kind, envelope: row.envelope as Envelope }
}

export const readKids = async (db: Db, orgId: string, principal: string): Promise<readonly string[]> =>
  (
    await db
      .selectFrom('map_state')
      .select('name')
      .where('org_id', '=', orgId)
      .where('principal', '=', principal)
      .execute()
  ).map(({ name }) => name.slice(kidName('').length))

export const readGrants = async (
  db: Db,
  orgId: string,
  by: 'kid' | 'vault_id',
  value: string,
  liveOnly: boolean,
): Promise<readonly Grant[]> =>
  (
    await db
      .selectFrom('map_state')
      .select(['name', 'is_live'])
      .where('org_id', '=', orgId)
      .where(by, '=', value)
      .$if(liveOnly, (query) => query.where('is_live', '=', true))
      .execute()
  ).map(grantOf)
