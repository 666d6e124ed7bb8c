import type { Client, Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'

/** For who runs the organisation. */
export const domainsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['domains'],
    queryFn: async ({ signal }) => (await client.domains.list({ query: { page: 1, limit: 100 } }, { signal })).data,
  })

export const recordsQuery = (strongroom: Strongroom, domain: string | undefined) =>
  queryOptions({
    queryKey: ['domains', domain, 'records'],
    enabled: domain !== undefined,
    queryFn: ({ signal }) => strongroom.domains.records({ domain: domain ?? '' }, { signal }),
  })
