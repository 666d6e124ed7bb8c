import type { billing, Input, Output } from '@strongroom/contract'
import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import { type ListParams, numberedPages, type PagePromise } from './pages.ts'

// What licences cost, month by month. A month is open, then closing, then final; days are those of UTC.

type Answer = Output<typeof billing.distributorCharges>
export type LicenseCharges = Answer['licenses'][number]
export type ChargedMonth = Pick<Answer, 'month' | 'status' | 'asOf' | 'total'>

type Query = Input<typeof billing.distributorCharges>['query']
export type ChargeFilter = Pick<Query, 'month' | 'licenseInstanceId' | 'tenantId'>

export interface Charges {
  /** Each licence that cost something in the month, with its subtotal; with `includeLines` day by day. */
  charges(
    params?: ChargeFilter & Pick<Query, 'includeLines'> & ListParams,
    options?: RequestOptions,
  ): PagePromise<LicenseCharges>
  /** How the month stands, and what it cost in all. */
  chargedMonth(params?: ChargeFilter, options?: RequestOptions): ApiPromise<ChargedMonth>
}

export const chargesOf = (core: Core): Charges => ({
  charges: ({ page, limit, ...filter } = {}, options) =>
    numberedPages(
      core,
      async (place, client, call) => {
        const query = { ...filter, ...place }
        const { licenses, meta } = await client.billing.distributorCharges({ query }, call)
        return { data: licenses, meta }
      },
      { ...(page !== undefined && { page }), ...(limit !== undefined && { limit }) },
      options,
    ),
  chargedMonth: (filter = {}, options) =>
    core.call(options, async ({ client, options: call }) => {
      const query = { ...filter, page: 1, limit: 1 }
      const { month, status, asOf, total } = await client.billing.distributorCharges({ query }, call)
      return { month, status, asOf, total }
    }),
})
