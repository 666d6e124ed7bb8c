import { type Expression, sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { ApiError } from '../errors.ts'

// The one way a list is answered: all rows, or one page of them with a truthful count.

/** What the contract's `Page` members become. */
export interface PageQuery {
  readonly page?: number
  readonly limit?: number
}

export interface Listed<Row> {
  readonly rows: readonly Row[]
  /** Only when a page was asked for. */
  readonly meta?: { total: number; page: number; limit: number; totalPages: number }
}

/** Newest first, but for a feed; the id decides between rows of one instant, so that no row is on two pages or on none. */
export interface ListOrder<Row> {
  readonly time: string & keyof Row
  readonly id: string & keyof Row
  readonly isFeed?: boolean
}

const DEFAULT_LIMIT = 25
/** An answer is made as a whole in memory: beyond this it would keep everybody else waiting. */
export const MAX_ALL_ROWS = 10_000

/**
 * Runs a select that has neither order nor limit. A page and its total come from one statement, that is from one snapshot;
 * a page beyond the end is empty and still says how many there are. All rows are all rows or a refusal, never some of them.
 */
export async function listRows<Row extends object>(
  db: Db,
  select: Expression<Row>,
  order: ListOrder<Row>,
  { page, limit = DEFAULT_LIMIT }: PageQuery,
  maxRows: number = MAX_ALL_ROWS,
): Promise<Listed<Row>> {
  const way = order.isFeed ? sql`asc` : sql`desc`
  const inOrder = sql`${sql.ref(order.time)} ${way}, ${sql.ref(order.id)} ${way}`
  if (page === undefined) {
    const all = sql<Row>`select * from ${select} as listed order by ${inOrder} limit ${maxRows + 1}`
    const { rows } = await all.execute(db)
    if (rows.length > maxRows) throw new ApiError('list_too_long', { details: { maxRows } })
    return { rows }
  }
  const { rows } = await sql<Row & { list_total: number; on_page: true | null }>`
    select list_page.*, list_count.list_total
    from (select count(*) as list_total from ${select} as listed) as list_count
    left join (
      select listed.*, true as on_page from ${select} as listed order by ${inOrder} limit ${limit} offset ${(page - 1) * limit}
    ) as list_page on true
    order by ${inOrder}`.execute(db)
  const total = rows[0]?.list_total ?? 0
  return {
    rows: rows.filter((row) => row.on_page).map(withoutCount),
    meta: { total, page, limit, totalPages: Math.ceil(total / limit) },
  }
}

function withoutCount<Row>({
  list_total: _,
  on_page: __,
  ...row
}: Row & { list_total: number; on_page: true | null }): Row {
  return row as unknown as Row
}

type Answer<K extends string, Shown> = { [P in K]: Shown[] } & { meta?: NonNullable<Listed<Shown>['meta']> }

/** The answer under its list key: `meta` is there exactly when a page was asked for. */
export const listAnswer = <K extends string, Row, Shown>(
  key: K,
  { rows, meta }: Listed<Row>,
  show: (row: Row) => Shown,
): Answer<K, Shown> => ({ [key]: rows.map(show), ...(meta && { meta }) }) as Answer<K, Shown>
