import type { ChargedMonth, CreditTransaction, FundingIntent, LicenseCharges, Strongroom } from '@strongroom/sdk'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'

export const balanceQuery = (strongroom: Strongroom) =>
  queryOptions({ queryKey: ['billing', 'balance'], queryFn: ({ signal }) => strongroom.billing.balance({ signal }) })

/** Whether whoever is signed in could buy something now. */
export const readinessQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['billing', 'readiness'],
    queryFn: ({ signal }) => strongroom.billing.readiness({ signal }),
  })

export const budgetsQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['billing', 'budgets'],
    queryFn: ({ signal }) => strongroom.budgets.list({}, { signal }).all(),
  })

export const PAGE_ROWS = 50

export const transactionsQuery = (strongroom: Strongroom, page: number, limit = PAGE_ROWS) =>
  queryOptions({
    queryKey: ['billing', 'transactions', page, limit],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { data, meta } = await strongroom.billing.transactions({ page, limit }, { signal })
      return { data, total: meta?.total ?? data.length, pages: meta?.totalPages ?? 1 }
    },
  })

/** However much moves, a page does not fetch more than this. */
const MOST_MOVEMENTS = 5000

/** Every movement since a moment, newest first. */
export const movementsSinceQuery = (strongroom: Strongroom, since: string) =>
  queryOptions({
    queryKey: ['billing', 'transactions', 'since', since],
    queryFn: async ({ signal }): Promise<readonly CreditTransaction[]> => {
      const found: CreditTransaction[] = []
      for await (const { data } of strongroom.billing.transactions({ limit: 100 }, { signal }).pages()) {
        found.push(...data.filter(({ occurredAt }) => occurredAt >= since))
        const oldest = data.at(-1)
        if (!oldest || oldest.occurredAt < since || found.length >= MOST_MOVEMENTS) break
      }
      return found
    },
  })

const LOOK_MS = 2000
/** What may still change by itself, and is looked at again and again. */
export const isOpenIntent = ({ status, expiresAt }: FundingIntent): boolean =>
  status === 'processing' ||
  ((status === 'requires_payment' || status === 'partially_funded') && Date.parse(expiresAt) > Date.now())

export const intentsQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['billing', 'intents'],
    queryFn: ({ signal }) => strongroom.billing.intents({}, { signal }).all({ max: 200 }),
  })

export const intentQuery = (strongroom: Strongroom, intentId: string) =>
  queryOptions({
    queryKey: ['billing', 'intents', intentId],
    queryFn: ({ signal }) => strongroom.billing.intent(intentId, { signal }),
    refetchInterval: ({ state }) => (state.data && !isOpenIntent(state.data) ? false : LOOK_MS),
  })

export interface MonthCharges extends ChargedMonth {
  readonly licenses: readonly LicenseCharges[]
}

export const chargesQuery = (strongroom: Strongroom, month: string | undefined) =>
  queryOptions({
    queryKey: ['billing', 'charges', month ?? 'now'],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<MonthCharges> => {
      const whole = await strongroom.billing.chargedMonth(month === undefined ? {} : { month }, { signal })
      // Of the month that was answered, should this one end meanwhile.
      const licenses = await strongroom.billing
        .charges({ month: whole.month, includeLines: true }, { signal })
        .all({ max: 500 })
      return { ...whole, licenses }
    },
  })
