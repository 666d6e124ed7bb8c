import { readFileSync, writeFileSync } from 'node:fs'
import pg from 'pg'
import { startTestPostgres } from '../test/postgres.ts'

// Writes src/db/schema.ts from the migrated database, so that no type is written twice. `--check` only compares.

const TARGET = new URL('../src/db/schema.ts', import.meta.url)

const TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  bytea: 'Buffer',
  timestamptz: 'Date',
  int4: 'number',
  int8: 'number',
  // Money: read as text, since a number would lose digits.
  numeric: 'string',
  float8: 'number',
  bool: 'boolean',
  jsonb: 'Json',
  _text: 'string[]',
  _int4: 'number[]',
  _int8: 'number[]',
  _inet: 'string[]',
  _bytea: 'Buffer[]',
  _timestamptz: 'Date[]',
}

interface Column {
  readonly table_name: string
  readonly column_name: string
  readonly udt_name: string
  readonly is_nullable: 'YES' | 'NO'
  readonly column_default: string | null
  readonly is_identity: 'YES' | 'NO'
}

function typeOf({ table_name, column_name, udt_name, is_nullable, column_default, is_identity }: Column): string {
  const base = TYPES[udt_name]
  if (!base) throw new Error(`no TypeScript type for ${udt_name} of ${table_name}.${column_name}: add it to TYPES`)
  const type = is_nullable === 'YES' ? `${base} | null` : base
  if (is_identity === 'YES') return `GeneratedAlways<${type}>`
  return column_default === null ? type : `Generated<${type}>`
}

const pascal = (name: string): string => name.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())

export async function describeSchema(login: pg.ClientConfig): Promise<string> {
  const client = new pg.Client(login)
  await client.connect()
  const { rows } = await client.query<Column>(`
    select table_name, column_name, udt_name, is_nullable, column_default, is_identity
    from information_schema.columns where table_schema = 'strongroom' and table_name <> 'migration' order by table_name, ordinal_position`)
  await client.end()
  const tables = new Map<string, Column[]>()
  for (const row of rows) tables.set(row.table_name, [...(tables.get(row.table_name) ?? []), row])
  const interfaces = [...tables].map(
    ([name, columns]) =>
      `export interface ${pascal(name)}Table {\n${columns.map((column) => `  ${column.column_name}: ${typeOf(column)}\n`).join('')}}\n`,
  )
  const index = `export interface Tables {\n${[...tables.keys()].map((name) => `  ${name}: ${pascal(name)}Table\n`).join('')}}\n`
  return `import type { Generated, GeneratedAlways } from 'kysely'\n\n// Written from the migrated database by scripts/write-schema.ts. Do not edit.\n\n/** What jsonb holds; stores say which shape it has. */\nexport type Json = unknown\n\n${interfaces.join('\n')}\n${index}`
}

if (import.meta.main) {
  const postgres = await startTestPostgres()
  const written = await describeSchema(postgres.logins.owner)
  await postgres.stop()
  if (!process.argv.includes('--check')) writeFileSync(TARGET, written)
  else if (readFileSync(TARGET, 'utf8') !== written) {
    console.error('src/db/schema.ts is not what the migrations make: run npm run schema')
    process.exitCode = 1
  }
}
