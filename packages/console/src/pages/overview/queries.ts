import type { Budget } from '@strongroom/contract'
import type { Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'

export const budgetsQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['overview', 'budgets'],
    queryFn: async ({ signal }): Promise<readonly Budget[]> => {
      const all = await strongroom.budgets.list({}, { signal }).all()
      return all.filter(({ status }) => status === 'active')
    },
  })

/** The newest checkpoint, verified in this browser. */
export const headQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['overview', 'head'],
    queryFn: async ({ signal }) => ({ head: await strongroom.transparency.head({ signal }), at: new Date() }),
  })
