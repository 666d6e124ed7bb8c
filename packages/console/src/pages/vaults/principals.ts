import type { Client, Strongroom } from '@strongroom/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { isNoAccess } from '../../queries.ts'
import { useOpenSession } from '../../session/session.ts'
import { byName } from '../../ui/name-order.ts'

// Who somebody is, by name. The server says the names; what counts in a list that was signed is the id.

export interface Principal {
  /** `user:…` or `agent:…` */
  readonly principal: string
  readonly name: string
  readonly kind: 'person' | 'agent'
  readonly isActive: boolean
}

const orNone = <T>(error: unknown): readonly T[] => {
  if (isNoAccess(error)) return []
  throw error
}

async function peopleOf(client: Client, signal: AbortSignal): Promise<readonly Principal[]> {
  const people: Principal[] = []
  for (let page = 1; ; page += 1) {
    const { users, meta } = await client.users.list({ query: { page, limit: 100 } }, { signal })
    for (const { userId, name, email, status } of users)
      people.push({
        principal: `user:${userId}`,
        name: name || email,
        kind: 'person',
        isActive: status === 'active',
      })
    if (!meta || page >= meta.totalPages) return people
  }
}

const agentsOf = async (strongroom: Strongroom, signal: AbortSignal): Promise<readonly Principal[]> =>
  (await strongroom.agents.list({}, { signal }).all()).map(({ agentId, name, status }) => ({
    principal: `agent:${agentId}`,
    name,
    kind: 'agent',
    isActive: status === 'active',
  }))

/** Everybody the caller may be told of; whoever manages nobody is told of nobody. */
export const principalsQuery = (strongroom: Strongroom, client: Client) =>
  queryOptions({
    queryKey: ['principals'],
    staleTime: 30_000,
    queryFn: async ({ signal }): Promise<readonly Principal[]> => [
      ...(await peopleOf(client, signal).catch(orNone<Principal>)).toSorted(byName),
      ...(await agentsOf(strongroom, signal).catch(orNone<Principal>)).toSorted(byName),
    ],
  })

const NOBODY: readonly Principal[] = []

/** Names where they are known; an id is shortened where none is. */
export function useNames(): (principal: string) => string {
  const { strongroom, client, person } = useOpenSession()
  const { data = NOBODY } = useQuery(principalsQuery(strongroom, client))
  return useMemo(() => {
    const names = new Map(data.map(({ principal, name }) => [principal, name]))
    return (principal) => {
      const known = names.get(principal)
      if (known !== undefined) return known
      if (principal === `user:${person.userId}`) return person.email
      const id = principal.slice(principal.indexOf(':') + 1)
      return `${principal.startsWith('user:') ? 'person' : 'agent'} ${id.slice(0, 8)}…`
    }
  }, [data, person])
}
