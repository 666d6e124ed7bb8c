import type { Group, Tenant, User } from '@strongroom/contract'
import { keyAdd, peekDocument } from '@strongroom/protocol'
import type { Client } from '@strongroom/sdk'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { useOpenSession } from '../../session/session.ts'
import { byName } from '../../ui/name-order.ts'
import { toast } from '../../ui/toast.tsx'
import { forgetInvite } from './invite-memory.ts'

interface Meta {
  readonly page: number
  readonly totalPages: number
}

/** Every row of a route with numbered pages. */
async function everyRow<T>(
  ask: (page: number) => Promise<{ readonly rows: readonly T[]; readonly meta: Meta | undefined }>,
) {
  const all: T[] = []
  for (let page = 1; ; page += 1) {
    const { rows, meta } = await ask(page)
    all.push(...rows)
    if (!meta || meta.page >= meta.totalPages) return all
  }
}

export const usersQuery = (client: Client) =>
  queryOptions({
    queryKey: ['people'],
    queryFn: ({ signal }): Promise<readonly User[]> =>
      everyRow(async (page) => {
        const { users, meta } = await client.users.list({ query: { page, limit: 100 } }, { signal })
        return { rows: users, meta }
      }),
  })

export type Invite = Awaited<ReturnType<Client['invites']['list']>>['data'][number]

export const invitesQuery = (client: Client) =>
  queryOptions({
    queryKey: ['people', 'invites'],
    // Somebody may accept while the page is open.
    refetchInterval: 10_000,
    queryFn: ({ signal }): Promise<readonly Invite[]> =>
      everyRow(async (page) => {
        const { data, meta } = await client.invites.list({ query: { page, limit: 100 } }, { signal })
        return { rows: data, meta }
      }),
  })

export const groupsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['people', 'groups'],
    queryFn: async ({ signal }): Promise<readonly Group[]> => {
      const all = await everyRow(async (page) => {
        const { data, meta } = await client.groups.list({ query: { page, limit: 100 } }, { signal })
        return { rows: data, meta }
      })
      return all.sort(byName)
    },
  })

export const tenantsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['people', 'tenants'],
    queryFn: async ({ signal }): Promise<readonly Tenant[]> => {
      const all = await everyRow(async (page) => {
        const { data, meta } = await client.tenants.list({ query: { page, limit: 100 } }, { signal })
        return { rows: data, meta }
      })
      return all.sort(byName)
    },
  })

/** The key of whoever accepted, as the acceptance says: to be shown. Only the signature that follows verifies it. */
export function acceptedKey({ acceptance }: Invite): string | undefined {
  if (acceptance === null) return undefined
  try {
    return peekDocument(keyAdd, acceptance).payload.kid
  } catch {
    return undefined
  }
}

/** Whether an invite can still lead somewhere. */
export const isOpen = ({ status }: Invite): boolean => status === 'open' || status === 'accepted'

/** Takes an invite back, wherever it is shown. */
export function useRevokeInvite() {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ inviteId }: Invite) => client.invites.revoke({ params: { id: inviteId } }),
    onSuccess: async (_, { inviteId, email }) => {
      forgetInvite(inviteId)
      toast(`The invite of ${email} is worth nothing any more`)
      await queries.invalidateQueries({ queryKey: ['people'] })
    },
  })
}
