import type { Client, Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'

export type PersonSession = Awaited<ReturnType<Client['sessions']['list']>>['data'][number]

export const sessionsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'sessions'],
    queryFn: async ({ signal }) => (await client.sessions.list({ query: { limit: 100 } }, { signal })).data,
  })

export const witnessesQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'witnesses'],
    queryFn: async ({ signal }) => (await client.transparency.witnesses({}, { signal })).witnesses,
  })

/** The newest checkpoint, verified in this browser against what it saw before. */
export const headQuery = (strongroom: Strongroom) =>
  queryOptions({ queryKey: ['settings', 'head'], queryFn: ({ signal }) => strongroom.transparency.head({ signal }) })

/** The build of the console that the policy of the organisation names, verified in this browser. */
export const namedConsoleQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['settings', 'console'],
    queryFn: ({ signal }) => strongroom.transparency.console({ signal }),
  })

/** The keys of whoever is signed in, from the whole log. */
export const ownKeysQuery = (strongroom: Strongroom, userId: string) =>
  queryOptions({
    queryKey: ['settings', 'keys', userId],
    queryFn: ({ signal }) => strongroom.transparency.keys(`user:${userId}`, { signal }),
  })

export const sealedKeysQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'sealed-keys'],
    queryFn: async ({ signal }) => {
      const { hasRecovery, updatedAt, bundleVersion } = await client.userKeys.get({}, { signal })
      return { hasRecovery, updatedAt, bundleVersion }
    },
  })
