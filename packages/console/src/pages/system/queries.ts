import type { Client } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'

/** Whoever may look at the server: a key of the operator. */
export interface Operator {
  readonly client: Client
}

export const meQuery = (client: Client) =>
  queryOptions({ queryKey: ['system', 'me'], queryFn: ({ signal }) => client.identity.me({}, { signal }) })

export type Stats = Awaited<ReturnType<typeof statsOf>>

export async function statsOf({ client }: Operator, signal?: AbortSignal) {
  const options = signal ? { signal } : {}
  const [system, sessions] = await Promise.all([
    client.monitoring.systemStats({}, options),
    client.monitoring.sessionStats({}, options),
  ])
  return { system, sessions }
}

export const statsQuery = (operator: Operator) =>
  queryOptions({
    queryKey: ['system', 'stats'],
    queryFn: ({ signal }) => statsOf(operator, signal),
    refetchInterval: 10_000,
  })
