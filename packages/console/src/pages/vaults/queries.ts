import type { Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'

export const vaultsQuery = (strongroom: Strongroom) =>
  queryOptions({ queryKey: ['vaults'], queryFn: ({ signal }) => strongroom.vaults.list({ signal }) })

/** Verified in this browser, with its receipt. */
export const vaultQuery = (strongroom: Strongroom, vaultId: string) =>
  queryOptions({ queryKey: ['vault', vaultId], queryFn: ({ signal }) => strongroom.vaults.get(vaultId, { signal }) })

export const itemsQuery = (strongroom: Strongroom, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'items'],
    queryFn: ({ signal }) => strongroom.items.list(vaultId, { signal }),
  })
