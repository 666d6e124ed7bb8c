import { principalOf } from '@strongroom/protocol'
import type { Attachment, Client, Item, KeyHolder, Receipt, Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'
import { byName, compareNames } from '../../ui/name-order.ts'

export const vaultsQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['vaults'],
    queryFn: async ({ signal }) => (await strongroom.vaults.list({ signal })).toSorted(byName),
  })

/** When each vault was last changed, as the server says. */
export const vaultChangesQuery = (client: Client) =>
  queryOptions({
    queryKey: ['vaults', 'changes'],
    queryFn: async ({ signal }) => {
      const { data } = await client.vaults.list({}, { signal })
      return new Map(data.map(({ vaultId, updatedAt }) => [vaultId, updatedAt]))
    },
  })

/** How many can decrypt a vault, as the server says: those for whom it has wrapped keys. */
export const holderCountQuery = (client: Client, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'holder count'],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const { data } = await client.keys.holders({ params: { vaultId } }, { signal })
      return data.filter(({ keys }) => keys.length > 0).length
    },
  })

/** Verified in this browser, with its receipt. */
export const vaultQuery = (strongroom: Strongroom, vaultId: string) =>
  queryOptions({ queryKey: ['vault', vaultId], queryFn: ({ signal }) => strongroom.vaults.get(vaultId, { signal }) })

/** What compromised keys signed last of a vault that nobody is shown. */
export const reviewQuery = (strongroom: Strongroom, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'review'],
    queryFn: ({ signal }) => strongroom.vaults.review(vaultId, { signal }),
  })

export const itemsQuery = (strongroom: Strongroom, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'items'],
    // The parts of a vault's page share it, and a large one takes its time to verify.
    staleTime: 5000,
    queryFn: ({ signal }) => strongroom.items.list(vaultId, { signal }),
  })

export const archivedItemsQuery = (strongroom: Strongroom, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'archived items'],
    queryFn: ({ signal }) => strongroom.items.list(vaultId, { status: 'archived', signal }),
  })

/** An item without its values: what a page may keep. */
export interface ShownItem extends Omit<Item, 'fields'> {
  readonly receipt: Receipt
  readonly fields: readonly {
    readonly fieldId: string
    readonly label: string
    readonly isEnvironmentVariable: boolean
    readonly version: number
    readonly ref: string
  }[]
}

const shownItem = ({ fields, ...item }: Item): ShownItem => {
  const shown = fields.map(({ fieldId, label, isEnvironmentVariable, secret }) => {
    const { version, ref } = secret
    // A value that nobody asked for is overwritten at once, where the browser knows how.
    if (Symbol.dispose in secret) secret[Symbol.dispose]()
    return { fieldId, label, isEnvironmentVariable, version, ref }
  })
  const rank = (one: { readonly isEnvironmentVariable: boolean }): number => (one.isEnvironmentVariable ? 0 : 1)
  shown.sort((a, b) => rank(a) - rank(b) || compareNames(a.label, b.label))
  return { ...item, fields: shown }
}

export const itemQuery = (strongroom: Strongroom, vaultId: string, itemId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'items', itemId],
    queryFn: async ({ signal }) => shownItem(await strongroom.items.get(vaultId, itemId, { signal })),
  })

/** From the signed access list, with the keys that the server has wrapped the vault key for. */
export const holdersQuery = (strongroom: Strongroom, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'holders'],
    queryFn: ({ signal }) => strongroom.vaults.holders(vaultId, { signal }),
  })

export const signersQuery = (strongroom: Strongroom, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'signers'],
    queryFn: ({ signal }) => strongroom.vaults.signers(vaultId, { signal }),
  })

export interface JoinedAccess {
  readonly holders: readonly KeyHolder[]
  /** Principals with a wrapped key who are not on the signed list. */
  readonly strangers: readonly { readonly principal: string; readonly keyIds: readonly string[] }[]
}

/** The signed list beside what the server has wrapped: where the two disagree is what a page has to say. */
export const accessQuery = (strongroom: Strongroom, client: Client, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'access'],
    queryFn: async ({ signal }): Promise<JoinedAccess> => {
      const holders = await strongroom.vaults.holders(vaultId, { signal })
      const { data } = await client.keys.wrapped({ params: { vaultId } }, { signal })
      const listed = new Set(holders.map(({ principal }) => principal))
      const others = new Map<string, Set<string>>()
      for (const { kid } of data) {
        const principal = principalOf(kid)
        if (!listed.has(principal)) others.set(principal, (others.get(principal) ?? new Set()).add(kid))
      }
      return {
        holders,
        strangers: [...others].map(([principal, keyIds]) => ({ principal, keyIds: [...keyIds] })),
      }
    },
  })

export const filesQuery = (strongroom: Strongroom, vaultId: string, itemId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'files', itemId],
    queryFn: ({ signal }) => strongroom.attachments.list(vaultId, itemId, { signal }),
  })

/** The files of a whole vault: which items have some is the server's word, what they are is verified item by item. */
export const vaultFilesQuery = (strongroom: Strongroom, client: Client, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'files'],
    queryFn: async ({ signal }): Promise<readonly Attachment[]> => {
      const { assets } = await client.items.list({ params: { vaultId } }, { signal })
      const itemIds = [...new Set(assets.flatMap(({ itemId, status }) => (status === 'active' ? [itemId] : [])))]
      const files: Attachment[] = []
      for (const itemId of itemIds) files.push(...(await strongroom.attachments.list(vaultId, itemId, { signal })))
      return files
    },
  })
