import pg from 'pg'
import { inject } from 'vitest'
import { groupBy } from '../../src/log/group-by.ts'
import type { Harness } from '../harness.ts'

// What the database holds, seen past row-level security: a digest of every organisation, and the audit events of requests.

/** Written by every request, or by the worker: not what a refused request must leave alone. */
const LEFT_OUT = ['audit_event', 'audit_seal', 'audit_unsealed', 'idempotency', 'metric_minute', 'request_event']

/** One hash for each table and organisation. */
export type Digest = ReadonlyMap<string, string>

interface Table {
  readonly name: string
  readonly isUsed: boolean
}

export interface AuditRow {
  readonly request_id: string
  readonly org_id: string
  readonly actor_id: string
  readonly outcome: 'success' | 'refused'
  readonly error_code: string | null
}

export interface State {
  digest(): Promise<Digest>
  audited(requestIds: readonly string[]): Promise<ReadonlyMap<string, readonly AuditRow[]>>
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

export async function openState({ worker }: Harness): Promise<State> {
  const client = new pg.Client({
    ...inject('postgres').superuser,
    database: worker.pool.options.database,
    options: '-c search_path=strongroom',
  })
  await client.connect()
  const { rows: tables } = await client.query<Table>(
    `select table_name as name, bool_or(column_name = 'last_used_at') as "isUsed" from information_schema.columns
     where table_schema = 'strongroom' and table_name <> all($1) group by 1 having bool_or(column_name = 'org_id') order by 1`,
    [LEFT_OUT],
  )
  const digestSql = tables.map(digestOf).join(' union all ')
  return {
    digest: async () => {
      const { rows } = await client.query<{ name: string; hash: string }>({ name: 'digest', text: digestSql })
      return new Map(rows.map(({ name, hash }) => [name, hash]))
    },
    audited: async (requestIds) => {
      const { rows } = await client.query<AuditRow>(
        'select request_id, org_id, actor_id, outcome, error_code from audit_event where request_id = any($1)',
        [requestIds],
      )
      return groupBy(rows, ({ request_id }) => request_id)
    },
    query: async (sql, values = []) => (await client.query(sql, [...values])).rows,
    close: () => client.end(),
  }
}

/** A row that is written again is another version of it, whatever it holds: to look at versions is many times cheaper than at contents. */
const VERSION = "xmin::text || ' ' || ctid::text"
/** When something was used last is noted by the minute, and is no state of anything else. */
const CONTENT = "(to_jsonb(t) - 'last_used_at')::text"

const digestOf = ({ name, isUsed }: Table): string =>
  `select '${name} ' || org_id as name, count(*) || ' ' || sum(hashtextextended(${isUsed ? CONTENT : VERSION}, 0)) as hash
   from ${name} t group by org_id`

/** What differs, as `table org`; with `orgIds`, in these organisations only. */
export function changesBetween(before: Digest, after: Digest, orgIds?: readonly string[]): string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  const isAsked = (name: string): boolean => orgIds?.includes(name.split(' ')[1] ?? '') ?? true
  return [...names].filter((name) => isAsked(name) && before.get(name) !== after.get(name))
}
