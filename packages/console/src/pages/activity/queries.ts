import type { ActivityEvent, AuditEvent, PagePromise, RequestEvent, Strongroom } from '@strongroom/sdk'
import { type QueryClient, queryOptions } from '@tanstack/react-query'

// What happened, newest first. Asked again, only what came since is fetched and put before what is there.

interface Happened {
  readonly id: string
  readonly occurredAt: string
}

export interface Newest<T> {
  readonly rows: readonly T[]
  /** There is nothing older at the server. */
  readonly isAll: boolean
}

export interface Wanted {
  readonly max: number
  /** Older ones too, until this moment. */
  readonly from?: Date | undefined
}

/** However far back an address reaches, a page does not fetch more than this. */
const MOST = 10_000

async function newestOf<T extends Happened>(
  list: PagePromise<T>,
  { max, from }: Wanted,
  before: Newest<T> | undefined,
): Promise<Newest<T>> {
  const known = new Set(before?.rows.map(({ id }) => id))
  const rows = new Map<string, T>()
  for await (const page of list.pages()) {
    for (const row of page.data) {
      if (before && known.has(row.id)) return { rows: [...rows.values(), ...before.rows], isAll: before.isAll }
      rows.set(row.id, row)
    }
    const oldest = page.data.at(-1)
    const reaches = !from || (oldest !== undefined && new Date(oldest.occurredAt) < from)
    if ((rows.size >= max && reaches) || rows.size >= MOST) return { rows: [...rows.values()], isAll: !page.hasNext() }
  }
  return { rows: [...rows.values()], isAll: true }
}

const placeOf = ({ max, from }: Wanted): readonly (string | number)[] => [max, from?.toISOString() ?? '']

const before = <T>(queries: QueryClient, key: readonly unknown[]): Newest<T> | undefined =>
  queries.getQueryData<Newest<T>>(key)

export const requestsQuery = (strongroom: Strongroom, wanted: Wanted) => {
  const queryKey = ['activity', 'requests', ...placeOf(wanted)]
  return queryOptions({
    queryKey,
    queryFn: ({ signal, client }): Promise<Newest<RequestEvent>> =>
      newestOf(strongroom.monitoring.requests({}, { signal }), wanted, before(client, queryKey)),
  })
}

export const auditQuery = (strongroom: Strongroom, wanted: Wanted) => {
  const queryKey = ['activity', 'audit', ...placeOf(wanted)]
  return queryOptions({
    queryKey,
    queryFn: ({ signal, client }): Promise<Newest<AuditEvent>> =>
      newestOf(strongroom.monitoring.audit({}, { signal }), wanted, before(client, queryKey)),
  })
}

const FEED = ['activity', 'feed'] as const

/** Changes of vaults. The server gives them oldest first, so they are read from the beginning once, and from the last one then. */
export const feedQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: FEED,
    queryFn: async ({ signal, client }): Promise<Newest<ActivityEvent>> => {
      const known = before<ActivityEvent>(client, FEED)?.rows ?? []
      const after = known[0]?.seq ?? 0
      const fresh = await strongroom.monitoring.activity({ after }, { signal }).all()
      return { rows: [...fresh.reverse(), ...known].slice(0, MOST), isAll: true }
    },
  })
