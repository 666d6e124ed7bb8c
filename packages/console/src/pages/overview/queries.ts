import type { Budget } from '@strongroom/contract'
import { type AuditEvent, type Client, NotFoundError, type Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'

export const budgetsQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['overview', 'budgets'],
    queryFn: async ({ signal }): Promise<readonly Budget[]> => {
      const all = await strongroom.budgets.list({}, { signal }).all()
      return all.filter(({ status }) => status === 'active')
    },
  })

export const endpointsQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['overview', 'endpoints'],
    queryFn: ({ signal }) => strongroom.webhooks.list({}, { signal }).all(),
  })

/** Invites that somebody has accepted: they wait for a signature. */
export const acceptedInvitesQuery = (client: Client) =>
  queryOptions({
    queryKey: ['overview', 'accepted invites'],
    queryFn: async ({ signal }) => {
      const { data } = await client.invites.list({ query: { limit: 100 } }, { signal })
      return data.filter(({ status }) => status === 'accepted')
    },
  })

const LOOKED_AT = 10

/** Purchases that the audit names and that did not end well. There is no list of purchases, so the newest are asked for one by one. */
export const purchasesQuery = (strongroom: Strongroom, audit: readonly AuditEvent[]) => {
  const ids = audit
    .filter(({ action, outcome }) => action.startsWith('license.purchase') && outcome === 'success')
    .flatMap(({ targets }) => targets.filter(({ type }) => type === 'license_purchase').map(({ id }) => id))
  const newest = [...new Set(ids)].slice(0, LOOKED_AT)
  return queryOptions({
    queryKey: ['overview', 'purchases', ...newest],
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        newest.map((id) =>
          strongroom.licenses.purchase(id, { signal }).then(
            (purchase) => purchase,
            (error: unknown) => {
              // Another's purchase does not exist for the caller.
              if (error instanceof NotFoundError) return undefined
              throw error
            },
          ),
        ),
      )
      return found.filter((purchase) => purchase !== undefined)
    },
  })
}

/** The newest checkpoint, verified in this browser. */
export const headQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['overview', 'head'],
    queryFn: async ({ signal }) => ({ head: await strongroom.transparency.head({ signal }), at: new Date() }),
  })

export const pinnedQuery = (strongroom: Strongroom) =>
  queryOptions({ queryKey: ['overview', 'pinned'], queryFn: () => strongroom.transparency.trust.list() })
