import type { Client } from '../client.ts'
import { type ApiPromise, apiPromise, type RequestOptions, type runCall, type Scope } from './call.ts'
import type { Core } from './core.ts'

export interface PageMeta {
  readonly total: number
  readonly page: number
  readonly limit: number
  readonly totalPages: number
}

export interface Page<T> {
  readonly data: readonly T[]
  /** Absent where the server answers everything at once. */
  readonly meta?: PageMeta
  hasNext(): boolean
  next(options?: RequestOptions): Promise<Page<T>>
}

/** Awaited, the first page; iterated, every row of every page. Nothing is asked for before either. */
export interface PagePromise<T> extends ApiPromise<Page<T>>, AsyncIterable<T> {
  pages(): AsyncIterable<Page<T>>
  all(options?: { readonly max?: number }): Promise<T[]>
}

export interface ListParams {
  readonly page?: number
  /** At most 100. */
  readonly limit?: number
}

/** Where a page stands, and where the next one does; undefined after the last. */
export interface Rows<T, P> {
  readonly data: readonly T[]
  readonly meta?: PageMeta | undefined
  readonly next: P | undefined
}

export type FetchRows<T, P> = (place: P, options: RequestOptions) => ReturnType<typeof runCall<Rows<T, P>>>

export function pagePromise<T, P>(fetchRows: FetchRows<T, P>, first: P, options: RequestOptions = {}): PagePromise<T> {
  const pageOf = ({ data, meta, next }: Rows<T, P>): Page<T> => ({
    data,
    ...(meta && { meta }),
    hasNext: () => next !== undefined,
    next: async (more = options) => {
      if (next === undefined) return pageOf({ data: [], meta, next: undefined })
      return pageOf((await fetchRows(next, more)).data)
    },
  })
  let started: ApiPromise<Page<T>> | undefined
  const start = (): ApiPromise<Page<T>> => {
    started ??= apiPromise(async () => {
      const { data, exchange } = await fetchRows(first, options)
      return { data: pageOf(data), exchange }
    })
    return started
  }
  async function* pages(): AsyncGenerator<Page<T>> {
    let page = await start()
    yield page
    while (page.hasNext()) {
      page = await page.next()
      yield page
    }
  }
  async function* rows(): AsyncGenerator<T> {
    for await (const page of pages()) yield* page.data
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is a promise, which begins when somebody waits for it.
    then: (onFulfilled, onRejected) => start().then(onFulfilled, onRejected),
    catch: (onRejected) => start().catch(onRejected),
    finally: (onFinally) => start().finally(onFinally),
    [Symbol.toStringTag]: 'Promise',
    asResponse: () => start().asResponse(),
    withResponse: () => start().withResponse(),
    [Symbol.asyncIterator]: rows,
    pages,
    all: async ({ max = Number.POSITIVE_INFINITY } = {}) => {
      const all: T[] = []
      for await (const row of rows()) {
        if (all.length >= max) break
        all.push(row)
      }
      return all
    },
  }
}

const LARGEST = 100

/** For routes with numbered pages. A server that ignores the number answers everything at once, and that is all. */
export function numberedPages<T>(
  core: Core,
  ask: (query: PageQuery, client: Client, call: Scope['options']) => Promise<NumberedRows<T>>,
  { page = 1, limit = LARGEST }: ListParams,
  options: RequestOptions = {},
): PagePromise<T> {
  const fetchRows: FetchRows<T, number> = (number, more) =>
    core.run(more, async ({ client, options: call }) => {
      const { data, meta } = await ask({ page: number, limit }, client, call)
      return { data, meta, next: meta && meta.page < meta.totalPages ? meta.page + 1 : undefined }
    })
  return pagePromise(fetchRows, page, options)
}

export interface PageQuery {
  readonly page: number
  readonly limit: number
}

export interface NumberedRows<T> {
  readonly data: readonly T[]
  readonly meta?: PageMeta | undefined
}
