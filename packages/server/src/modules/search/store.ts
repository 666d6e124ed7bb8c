import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'

export interface Hit {
  readonly kind: 'vault' | 'item' | 'field' | 'license'
  readonly id: string
  readonly name: string
  readonly vaultId: string | null
  readonly vaultName: string | null
  readonly itemId: string | null
  readonly itemName: string | null
  readonly score: number
}

export interface Wanted {
  readonly query: string
  readonly kinds: readonly string[]
  readonly limit: number
  /** Those that the caller could buy. */
  readonly licenses: readonly { readonly slug: string; readonly name: string }[]
}

/** From here on two texts resemble each other. */
const THRESHOLD = 0.4

/**
 * Names among the vaults whose access list names the principal. Access comes first and text second: what the caller cannot see
 * is never compared. An item with entries of its own is found by those it names.
 */
export async function findNames(db: Db, orgId: string, principal: string, wanted: Wanted): Promise<Hit[]> {
  const { query, kinds, limit } = wanted
  const licenses = JSON.stringify(wanted.licenses.map(({ slug, name }) => ({ slug, name })))
  const { rows } = await sql<Hit>`
    with mine as materialized (
      select v.vault_id, v.name from vault_access a join vault v on v.org_id = a.org_id and v.vault_id = a.vault_id
      where a.org_id = ${orgId} and a.principal = ${principal} and a.role is not null and v.status = 'active'
    ), shown as materialized (
      select i.item_id, i.vault_id, i.name, i.website, m.name as vault_name from mine m
      join vault_item i on i.org_id = ${orgId} and i.vault_id = m.vault_id and i.status = 'active'
      where not exists (select from vault_item_access x where x.org_id = ${orgId} and x.item_id = i.item_id)
        or exists (select from vault_item_access x
          where x.org_id = ${orgId} and x.item_id = i.item_id and x.principal = ${principal})
    ), texts as (
      select 'vault' as kind, vault_id as id, name, vault_id, name as vault_name, null as item_id, null as item_name from mine
      union all
      select 'item', item_id, name, vault_id, vault_name, item_id, name from shown
      union all
      select 'item', item_id, website, vault_id, vault_name, item_id, name from shown where website <> ''
      union all
      select 'field', f.field_id, f.label, s.vault_id, s.vault_name, s.item_id, s.name from shown s
      join vault_field f on f.org_id = ${orgId} and f.vault_id = s.vault_id and f.item_id = s.item_id
      union all
      select 'license', o.slug, unnest(array[o.name, o.slug]), null, null, null, null
      from jsonb_to_recordset(${licenses}::jsonb) as o (slug text, name text)
    ), scored as (
      select *, case
        when lower(name) = lower(${query}) then 1.0
        when starts_with(lower(name), lower(${query})) then 0.95
        when position(lower(${query}) in lower(name)) > 0 then 0.9
        else 0.85 * word_similarity(${query}, name) end as score
      from texts where kind = any(${[...kinds]}::text[])
    ), best as (
      select distinct on (kind, id) * from scored where score >= ${0.85 * THRESHOLD} order by kind, id, score desc
    )
    select kind, id, name, vault_id as "vaultId", vault_name as "vaultName", item_id as "itemId", item_name as "itemName",
      score::float8 as score
    from best order by score desc, length(name), name, id limit ${limit}`.execute(db)
  return rows
}
