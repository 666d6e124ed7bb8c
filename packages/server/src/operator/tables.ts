import { sql } from 'kysely'
import type { Db } from '../db/database.ts'

// The tables as the database itself describes them, so that a backup forgets none that a later migration adds.

export interface Table {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string; readonly isIdentity: boolean }[]
  readonly hasOrg: boolean
  /** Its rows refer to rows of the same table: they have to come in one statement. */
  readonly refersToItself: boolean
  readonly hasTriggers: boolean
}

/** Rows that mean nothing elsewhere or a minute later; and the history of migrations, which a restore compares. */
const LEFT_OUT = ['migration', 'login_attempt', 'login_throttle', 'vault_turn']

interface Described extends Table {
  readonly refersTo: readonly string[]
}

/** Referred tables come before those that refer to them. What is checked only at the end of a transaction does not count. */
export async function describeTables(db: Db): Promise<readonly Table[]> {
  const { rows } = await sql<Described>`
    select c.relname as name,
      (select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'isIdentity', a.attidentity <> '') order by a.attnum)
       from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped) as "hasOrg",
      exists (select 1 from pg_constraint f where f.conrelid = c.oid and f.contype = 'f' and f.confrelid = c.oid) as "refersToItself",
      exists (select 1 from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as "hasTriggers",
      coalesce((select jsonb_agg(distinct r.relname) from pg_constraint f join pg_class r on r.oid = f.confrelid
       where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid and not f.condeferred), '[]') as "refersTo"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'strongroom' and c.relkind = 'r' order by c.relname`.execute(db)
  return inOrder(rows.filter(({ name }) => !LEFT_OUT.includes(name)))
}

function inOrder(tables: readonly Described[]): readonly Table[] {
  const ordered: Described[] = []
  let rest = tables
  while (rest.length > 0) {
    const ready = rest.filter(({ refersTo }) => refersTo.every((name) => !rest.some((table) => table.name === name)))
    if (ready.length === 0)
      throw new Error(`tables refer to one another in a circle: ${rest.map(({ name }) => name).join(', ')}`)
    ordered.push(...ready)
    rest = rest.filter((table) => !ready.includes(table))
  }
  return ordered
}

const FETCH_ROWS = 100

/**
 * The rows of the organisation the transaction names, every value in PostgreSQL's own text form: nothing is rounded or
 * reinterpreted. The condition is written out, because an owner who is a member of the worker role sees more.
 */
export async function* readRows(db: Db, { name, columns, hasOrg }: Table): AsyncGenerator<string> {
  const ofOrg = hasOrg ? sql` where org_id = current_org()` : sql``
  const members = columns.map((column) => sql`${sql.lit(column.name)}, ${sql.ref(column.name)}::text`)
  await sql`declare backup_rows no scroll cursor for select jsonb_build_object(${sql.join(members)})::text as row from ${sql.table(name)}${ofOrg}`.execute(
    db,
  )
  for (;;) {
    const { rows } = await sql<{ row: string }>`fetch ${sql.lit(FETCH_ROWS)} from backup_rows`.execute(db)
    for (const { row } of rows) yield row
    if (rows.length < FETCH_ROWS) break
  }
  await sql`close backup_rows`.execute(db)
}

export async function insertRows(db: Db, { name, columns }: Table, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return
  const names = sql.join(columns.map((column) => sql.ref(column.name)))
  const texts = sql.join(columns.map((column) => sql`${sql.ref(column.name)} text`))
  const values = sql.join(columns.map((column) => sql`r.${sql.ref(column.name)}::${sql.raw(column.type)}`))
  await sql`insert into ${sql.table(name)} (${names}) overriding system value select ${values} from jsonb_to_recordset(${`[${rows.join(',')}]`}::jsonb) as r(${texts})`.execute(
    db,
  )
}

export async function countRows(db: Db, { name, hasOrg }: Pick<Table, 'name' | 'hasOrg'>): Promise<number> {
  const ofOrg = hasOrg ? sql` where org_id = current_org()` : sql``
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}${ofOrg}`.execute(db)
  return rows[0]?.count ?? 0
}
