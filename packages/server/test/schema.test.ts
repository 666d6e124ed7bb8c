import { readFileSync } from 'node:fs'
import pg from 'pg'
import { expect, inject, it } from 'vitest'
import { describeSchema } from '../scripts/write-schema.ts'

// Catches: a migration without `npm run schema` after it, a table that one organisation could read of another if a query forgot whose rows it
// wants. Seen red: a column taken out of schema.ts; a table with row-level security and no policy, with it not forced, and without it.

it('has the types of exactly the tables that the migrations make', async () => {
  const written = readFileSync(new URL('../src/db/schema.ts', import.meta.url), 'utf8')
  expect(written).toBe(await describeSchema(inject('postgres').logins.owner))
})

/** Of the server itself, or asked before anybody is known. */
const OF_NO_ORG = [
  ...['catalogue_offer', 'chain_asset', 'chain_block', 'chain_cursor', 'login_attempt', 'login_throttle'],
  ...['migration', 'object_orphan', 'server_secret', 'setup_token'],
]

const TABLES = `
  select t.relname as name,
    t.relrowsecurity and t.relforcerowsecurity as "isForced",
    exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'org_id' and a.attnum > 0) as "hasOrg",
    exists (select from pg_policy p where p.polrelid = t.oid and p.polname = 'own_org'
      and pg_get_expr(p.polqual, p.polrelid) ~ '^\\(org_id = (strongroom\\.)?current_org\\(\\)\\)$'
      and pg_get_expr(p.polwithcheck, p.polrelid) ~ '^\\(org_id = (strongroom\\.)?current_org\\(\\)\\)$') as "hasPolicy"
  from pg_class t where t.relnamespace = 'strongroom'::regnamespace and t.relkind in ('r', 'p')`

interface Table {
  readonly name: string
  readonly isForced: boolean
  readonly hasOrg: boolean
  readonly hasPolicy: boolean
}

it('shows one organisation no row of another, whatever a query asks for', async () => {
  const client = new pg.Client(inject('postgres').logins.owner)
  await client.connect()
  const { rows } = await client.query<Table>(TABLES).finally(() => client.end())
  const open = rows.flatMap(({ name, hasOrg, isForced, hasPolicy }) =>
    OF_NO_ORG.includes(name)
      ? []
      : [
          ...(hasOrg ? [] : [`${name}: no org_id; if its rows are nobody's, name it in OF_NO_ORG`]),
          ...(isForced ? [] : [`${name}: row-level security is not enabled and forced`]),
          ...(hasPolicy ? [] : [`${name}: no policy own_org`]),
        ],
  )
  expect(open).toEqual([])
  expect(rows.length).toBeGreaterThan(OF_NO_ORG.length)
})
