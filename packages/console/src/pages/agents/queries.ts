import type { Budget } from '@strongroom/contract'
import type { Client, Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'
import { byName } from '../../ui/name-order.ts'

/** All of them, archived ones too. */
export const agentsQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['agents'],
    queryFn: async ({ signal }) => (await strongroom.agents.list({}, { signal }).all()).toSorted(byName),
  })

export const agentQuery = (strongroom: Strongroom, agentId: string) =>
  queryOptions({
    queryKey: ['agent', agentId],
    queryFn: ({ signal }) => strongroom.agents.get(agentId, { signal }),
  })

/** As many of the newest audit events as lists look at: one answer for all of them. */
export const EVENTS_LOOKED_AT = 500

/** What an agent did lately with its keys, newest first; asked again every few seconds while somebody waits for it. */
export const contactQuery = (strongroom: Strongroom, agentId: string) =>
  queryOptions({
    queryKey: ['agent', agentId, 'contact'],
    queryFn: async ({ signal }) => {
      const { data } = await strongroom.monitoring.audit({ limit: 100 }, { signal })
      return data.filter(({ actor, action }) => actor.id === `agent:${agentId}` && action !== 'key.request')
    },
  })

export interface HeldVault {
  readonly vaultId: string
  readonly name: string
  readonly role: string
}

const VAULTS_LOOKED_AT = 60

/** Which vaults each principal is on the list of, as the server says it: for lists. */
export const heldVaultsQuery = (strongroom: Strongroom, client: Client) =>
  queryOptions({
    queryKey: ['agents', 'held-vaults'],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, readonly HeldVault[]>> => {
      const vaults = (await strongroom.vaults.list({ signal })).filter(({ status }) => status === 'active')
      const held = new Map<string, HeldVault[]>()
      await Promise.all(
        vaults.slice(0, VAULTS_LOOKED_AT).map(async ({ vaultId, name }) => {
          const { data } = await client.keys.holders({ params: { vaultId } }, { signal })
          for (const { principal, role } of data)
            held.set(principal, [...(held.get(principal) ?? []), { vaultId, name, role: role.toLowerCase() }])
        }),
      )
      return held
    },
  })

/** What its keys could ever decrypt, computed in this browser from the whole log. */
export const exposureQuery = (strongroom: Strongroom, agentId: string) =>
  queryOptions({
    queryKey: ['agent', agentId, 'exposure'],
    queryFn: ({ signal }) => strongroom.transparency.exposure(`agent:${agentId}`, { signal }),
    staleTime: 30_000,
  })

export const pendingKeysQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['agents', 'pending-keys'],
    queryFn: ({ signal }) => strongroom.agents.pendingKeys({ signal }),
  })

export const agentBudgetsQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['agents', 'budgets'],
    queryFn: async ({ signal }): Promise<readonly Budget[]> => {
      const all = await strongroom.budgets.list({}, { signal }).all()
      return all.filter(({ subjectType, status }) => subjectType === 'agent' && status === 'active')
    },
  })

export const agentLicensesQuery = (strongroom: Strongroom, agentId: string) =>
  queryOptions({
    queryKey: ['agent', agentId, 'licenses'],
    queryFn: async ({ signal }) => {
      const all = await strongroom.licenses.list({}, { signal }).all()
      return all.filter(({ buyer }) => buyer === `agent:${agentId}`)
    },
  })
