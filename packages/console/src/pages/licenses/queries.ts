import type { License } from '@strongroom/contract'
import type { CreditTransaction, Purchase, Strongroom, Termination } from '@strongroom/sdk'
import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { isNoAccess } from '../../queries.ts'

export const licensesQuery = (strongroom: Strongroom) =>
  queryOptions({ queryKey: ['licenses'], queryFn: ({ signal }) => strongroom.licenses.list({}, { signal }).all() })

/** What can be bought under these words, with prices. */
export const offersQuery = (strongroom: Strongroom, text: string) =>
  queryOptions({
    queryKey: ['offers', text],
    enabled: text !== '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => strongroom.licenses.search(text, { signal }),
  })

export const offerQuery = (strongroom: Strongroom, slug: string, quantity: number) =>
  queryOptions({
    queryKey: ['offer', slug, quantity],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => strongroom.licenses.quote(slug, { quantity }, { signal }),
  })

export const purchaseQuery = (strongroom: Strongroom, purchaseId: string) =>
  queryOptions({
    queryKey: ['purchase', purchaseId],
    queryFn: ({ signal }) => strongroom.licenses.purchase(purchaseId, { signal }),
  })

/** What else shows licences and money is asked for again. */
async function tellOfChange(queries: QueryClient): Promise<void> {
  await queries.invalidateQueries({ queryKey: ['licenses'] })
  await queries.invalidateQueries({ queryKey: ['purchases'] })
  await queries.invalidateQueries({ queryKey: ['billing'] })
}

/** Nothing more happens by itself. */
export const hasSettled = ({ state }: Pick<Purchase, 'state'>): boolean =>
  ['completed', 'failed', 'cancelled', 'in_review'].includes(state)

/**
 * Waits with the purchase and puts what comes of it into its vault, in this browser: it is opened, verified, encrypted and signed here.
 * Whoever leaves the page stops nothing.
 */
export const waitQuery = (strongroom: Strongroom, queries: QueryClient, purchase: Purchase | undefined) =>
  queryOptions({
    queryKey: ['purchase', purchase?.id, 'wait'],
    enabled: purchase !== undefined && !hasSettled(purchase),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      if (!purchase) return null
      const { queryKey } = purchaseQuery(strongroom, purchase.id)
      const settled = async (): Promise<void> => {
        await queries.invalidateQueries({ queryKey, exact: true })
        await tellOfChange(queries)
        await queries.invalidateQueries({ queryKey: ['vaults'] })
      }
      try {
        const instance = await purchase.wait({ signal, onProgress: (now) => void queries.setQueryData(queryKey, now) })
        await settled()
        return instance
      } catch (error) {
        // A purchase that has stopped says so itself.
        await settled()
        if (/^purchase_/.test(String((error as { code?: unknown }).code))) return null
        throw error
      }
    },
  })

const OPEN_TERMINATIONS = ['requested', 'cancelling', 'settling']

export const terminationQuery = (strongroom: Strongroom, terminationId: string | undefined) => {
  const queryKey = ['termination', terminationId]
  return queryOptions({
    queryKey,
    enabled: terminationId !== undefined,
    queryFn: async ({ signal, client }) => {
      const before = client.getQueryData<Termination>(queryKey)?.state
      const now = await strongroom.licenses.termination(terminationId ?? '', { signal })
      if (now.state !== before) void tellOfChange(client)
      return now
    },
    refetchInterval: ({ state }) => (state.data && OPEN_TERMINATIONS.includes(state.data.state) ? 1000 : false),
  })
}

const LOOKED_BACK = 500

/** No route lists terminations, but whoever began one is in the audit log: undefined where that says nothing. */
export const terminationIdQuery = (strongroom: Strongroom, license: License | undefined) =>
  queryOptions({
    queryKey: ['license', license?.licenseInstanceId, 'termination'],
    enabled: license !== undefined && license.status !== 'active',
    queryFn: async ({ signal }): Promise<string | null> => {
      const all = await strongroom.monitoring.audit({}, { signal }).all({ max: LOOKED_BACK })
      const found = all.find(
        ({ action, targets }) =>
          action === 'license.terminate' && targets.some(({ id }) => id === license?.licenseInstanceId),
      )
      return found?.targets.find(({ type }) => type === 'license_termination')?.id ?? null
    },
  })

/** Movements of the credit for a purchase and its end; none for whoever may not see the money. */
export const movementsQuery = (strongroom: Strongroom, ids: readonly string[], version: number) =>
  queryOptions({
    queryKey: ['billing', 'movements', ...ids, version],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly CreditTransaction[]> => {
      const all = await strongroom.billing
        .transactions({}, { signal })
        .all({ max: LOOKED_BACK })
        .catch((error: unknown) => {
          if (isNoAccess(error)) return []
          throw error
        })
      return all.filter(({ ref }) => ids.includes(ref.id))
    },
  })

const LATEST = 200
const MOST_ASKED = 12

/** Purchases that are no licence (yet): found by the credit that moved for them, since no route lists them. */
export const underWayQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['purchases', 'under way'],
    queryFn: async ({ signal }): Promise<readonly Purchase[]> => {
      const licenses = await strongroom.licenses.list({}, { signal }).all()
      const delivered = new Set(licenses.filter(({ itemId }) => itemId !== null).map(({ purchaseId }) => purchaseId))
      const ended = new Set(licenses.filter(({ status }) => status !== 'active').map(({ purchaseId }) => purchaseId))
      const moved = await strongroom.billing
        .transactions({}, { signal })
        .all({ max: LATEST })
        .catch((error: unknown) => {
          if (isNoAccess(error)) return []
          throw error
        })
      const ids = new Set([
        ...licenses.filter(({ itemId }) => itemId === null).map(({ purchaseId }) => purchaseId),
        ...moved.filter(({ ref }) => ref.type === 'license_purchase').map(({ ref }) => ref.id),
      ])
      const open = [...ids].filter((id) => !delivered.has(id) && !ended.has(id)).slice(0, MOST_ASKED)
      const purchases = await Promise.all(open.map((id) => strongroom.licenses.purchase(id, { signal })))
      return purchases.filter(({ state }) => state !== 'completed' && state !== 'cancelled')
    },
  })
