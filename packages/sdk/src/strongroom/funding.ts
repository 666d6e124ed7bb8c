import type { FundingIntent as FundingIntentData, funding, Input } from '@strongroom/contract'
import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import { type ListParams, numberedPages, type PagePromise } from './pages.ts'

// Paying credit in over a chain. An intent has an address of its own; whatever is confirmed there is credited.

export type NewFunding = Input<typeof funding.createIntent>['body']

export interface FundingWait extends RequestOptions {
  /** How it stands, now and whenever something has changed: seen, so many confirmations, credited. */
  readonly onProgress?: (intent: FundingIntent) => void
  /** Between two looks, in milliseconds; longer while nothing happens. 2 seconds if absent. */
  readonly interval?: number
}

export interface FundingIntent extends FundingIntentData {
  /** Until all of it is credited. Rejects when that is not going to happen by itself: the intent expired, was cancelled or is in review. */
  wait(options?: FundingWait): Promise<FundingIntent>
}

export interface Funding {
  /** An address to pay to. The amount is what is aimed at: whatever arrives is credited. */
  fund(params: NewFunding, options?: RequestOptions): ApiPromise<FundingIntent>
  intent(intentId: string, options?: RequestOptions): ApiPromise<FundingIntent>
  /** Newest first. */
  intents(params?: ListParams, options?: RequestOptions): PagePromise<FundingIntent>
  /** Stops waiting for a payment that has not come. Should it come all the same, it is credited. */
  cancelIntent(intentId: string, options?: RequestOptions): ApiPromise<FundingIntent>
}

export function fundingOf(core: Core): Funding {
  const intentOf = (data: FundingIntentData): FundingIntent => {
    const intent: FundingIntent = {
      ...data,
      wait: async (options = {}) => (await import('./funding-wait.ts')).waitUntilFunded(own, intent, options),
    }
    return intent
  }
  const own: Funding = {
    fund: (body, options) =>
      core.call(options, async ({ client, options: call }) =>
        intentOf(await client.funding.createIntent({ body }, call)),
      ),
    intent: (id, options) =>
      core.call(options, async ({ client, options: call }) =>
        intentOf(await client.funding.getIntent({ params: { id } }, call)),
      ),
    intents: (params = {}, options) =>
      numberedPages(
        core,
        async (query, client, call) => {
          const { data, meta } = await client.funding.listIntents({ query }, call)
          return { data: data.map(intentOf), meta }
        },
        params,
        options,
      ),
    cancelIntent: (id, options) =>
      core.call(options, async ({ client, options: call }) =>
        intentOf(await client.funding.cancelIntent({ params: { id } }, call)),
      ),
  }
  return own
}
