import { useQueries, useQuery } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { itemsQuery, vaultsQuery } from '../vaults/queries.ts'
import type { GivenVault } from './plan.ts'

export interface BlastRadius {
  readonly vaults: number
  readonly items: number
  readonly variables: number
  /** Items in vaults that are marked restricted. */
  readonly restricted: number
  readonly isComplete: boolean
}

/** What the keys of these vaults open as they are now, from their verified lists. */
export function useBlastRadius(vaults: readonly GivenVault[]): BlastRadius {
  const strongroom = useStrongroom()
  const { data: all = [] } = useQuery(vaultsQuery(strongroom))
  const lists = useQueries({ queries: vaults.map(({ vaultId }) => itemsQuery(strongroom, vaultId)) })
  const isRestricted = (vaultId: string | undefined): boolean =>
    all.some((vault) => vault.vaultId === vaultId && vault.classification === 'restricted')
  const counts = lists.map(({ data = [] }, at) => ({
    items: data.length,
    variables: data.reduce((sum, { labels }) => sum + labels.length, 0),
    restricted: isRestricted(vaults[at]?.vaultId) ? data.length : 0,
  }))
  const sum = (of: (one: (typeof counts)[number]) => number): number => counts.reduce((all, one) => all + of(one), 0)
  return {
    vaults: vaults.length,
    items: sum(({ items }) => items),
    variables: sum(({ variables }) => variables),
    restricted: sum(({ restricted }) => restricted),
    isComplete: lists.every(({ data }) => data !== undefined),
  }
}

export const counted = (n: number, word: string, many = `${word}s`): string => `${n} ${n === 1 ? word : many}`

export function radiusWords({ vaults, items, variables, restricted }: BlastRadius): string {
  if (vaults === 0) return 'Nothing yet. Vaults can be given to it later.'
  const what = `${counted(items, 'item')} with ${counted(variables, 'environment variable')} in ${counted(vaults, 'vault')}`
  return restricted === 0 ? `${what}.` : `${what}; ${counted(restricted, 'item is', 'items are')} marked restricted.`
}
