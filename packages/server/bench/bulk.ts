import type pg from 'pg'

/** `jsonb` as its text; `single` is an array of one text. */
type ColumnType = 'text' | 'bigint' | 'integer' | 'boolean' | 'bytea' | 'timestamptz' | 'jsonb' | 'single'
export type Column = readonly [type: ColumnType, values: readonly unknown[]]

const SENT_AS: Partial<Record<ColumnType, string>> = { jsonb: 'text', single: 'text' }
const READ_AS: Partial<Record<ColumnType, (name: string) => string>> = {
  jsonb: (name) => `${name}::jsonb`,
  single: (name) => `array[${name}]`,
}

const ROWS_PER_STATEMENT = 2000

/** Many rows of one table, column by column. */
export async function insertRows(
  client: pg.Client,
  table: string,
  columns: Readonly<Record<string, Column>>,
): Promise<void> {
  const names = Object.keys(columns)
  const all = Object.values(columns)
  const count = all[0]?.[1].length ?? 0
  const casts = all.map(([type], i) => `$${i + 1}::${SENT_AS[type] ?? type}[]`)
  const chosen = Object.entries(columns).map(([name, [type]]) => READ_AS[type]?.(name) ?? name)
  const text = `insert into ${table} (${names.join(', ')}) select ${chosen.join(', ')} from unnest(${casts.join(', ')}) as r (${names.join(', ')})`
  for (let at = 0; at < count; at += ROWS_PER_STATEMENT)
    await client.query(
      text,
      all.map(([, values]) => values.slice(at, at + ROWS_PER_STATEMENT)),
    )
}
