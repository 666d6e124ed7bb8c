import type { CheckedKey, Envelope, HandoffLabel } from '@strongroom/protocol'
import { StartError } from '../errors.ts'

// What a seller of licences is to us. There is no type for a secret in the clear here: whatever a provider says in secret is sealed to
// the buyer before it comes back from the adapter.

declare const sealed: unique symbol
/** Sealed to the key of the buyer and signed. Only `sealer.ts` makes one. */
export interface SealedCredential {
  readonly [sealed]: true
  readonly envelope: Envelope
  readonly docHash: string
  readonly sealing: 'at_source' | 'on_receipt'
}

/** Everything an order is bound to; the same one asks again after nobody came back. */
export interface LicenseOrder {
  readonly orgId: string
  readonly purchaseId: string
  /** Ours: whoever gets it twice has one order. Another one than before after an order was refused. */
  readonly externalId: string
  readonly instanceId: string
  readonly sku: string
  readonly quantity: number
  readonly term: 'month' | 'once'
  /** What is held for it: a provider that wants more is not paid. */
  readonly amount: bigint
  readonly orderedAt: Date
  readonly recipient: CheckedKey
  readonly destination: string
  readonly fields: readonly HandoffLabel[]
}

/** Nothing has happened there, and that is certain: it can be asked again. */
export interface Unavailable {
  readonly kind: 'unavailable'
  readonly cause: string
}
/** It may have happened. Never to be taken for a failure. */
export interface Unknown {
  readonly kind: 'unknown'
  readonly cause: string
}

export type OrderOutcome =
  | {
      readonly kind: 'active'
      readonly instanceRef: string
      readonly sealed: SealedCredential
      readonly amount: bigint
      /** Given where what is sold says itself when it begins; else it begins when it is delivered. */
      readonly periodStart?: Date
      readonly periodEnd: Date | null
    }
  | { readonly kind: 'pending'; readonly providerRef: string; readonly pollAfterMs: number }
  | { readonly kind: 'rejected'; readonly code: string }
  | Unavailable
  | Unknown

export interface CancelRequest {
  readonly orgId: string
  readonly externalId: string
  /** Absent where no licence came of the order. */
  readonly instanceRef: string | null
  readonly effective: 'immediate' | 'period_end'
  readonly periodEnd: Date | null
  /** Ours: asking twice is asking once. */
  readonly key: string
  readonly at: Date
}

export type CancelOutcome =
  /** `refundable` is null where the provider leaves it to us. */
  | { readonly kind: 'cancelled'; readonly effectiveAt: Date; readonly refundable: bigint | null }
  | { readonly kind: 'scheduled'; readonly effectiveAt: Date }
  | { readonly kind: 'refused'; readonly code: string; readonly earliestAt: Date | null }
  | Unavailable
  | Unknown

export interface Capabilities {
  /** Takes our id, and has one order for it however often it is sent. */
  readonly idempotentOrder: boolean
  /** Can be asked what became of our id. */
  readonly lookupByExternalId: boolean
  readonly credentialReplay: 'sealed_at_source' | 'replay' | 'once'
  readonly cancel: 'immediate' | 'period_end' | 'windowed' | 'none'
  readonly charges: 'computed' | 'pull_daily'
}

export interface RenewRequest {
  readonly orgId: string
  readonly externalId: string
  readonly instanceRef: string
  readonly quantity: number
  /** Where the period before ends. */
  readonly from: Date
  /** What is held for it: a provider that wants more is not paid. */
  readonly amount: bigint
  /** Ours: asking twice is asking once. */
  readonly key: string
  readonly at: Date
}

export type RenewOutcome =
  | { readonly kind: 'renewed'; readonly amount: bigint; readonly periodEnd: Date | null }
  | { readonly kind: 'rejected'; readonly code: string }
  | Unavailable
  | Unknown

export interface UsageRequest {
  readonly month: string
  /** Of the next page; null for the first. */
  readonly cursor: string | null
  /** Ours, for this request alone. */
  readonly key: string
}

/** What was used on a day, besides what was paid in advance. */
export interface UsageLine {
  /** Theirs: listed twice it is one line. */
  readonly lineId: string
  /** The organisation, and the order it was used under. */
  readonly account: string
  readonly externalId: string
  readonly date: string
  readonly quantity: number
  readonly amount: bigint
}

export type UsageOutcome =
  | { readonly kind: 'listed'; readonly lines: readonly UsageLine[]; readonly next: string | null }
  | Unavailable
  | Unknown

/** What can be asked of who sells. */
export interface Seller {
  order(order: LicenseOrder): Promise<OrderOutcome>
  getOrder(order: LicenseOrder): Promise<OrderOutcome | { readonly kind: 'not_found' }>
  cancel(request: CancelRequest): Promise<CancelOutcome>
}

export interface LicenseProvider extends Seller {
  readonly id: string
  /** Another period with the same credential. Absent where what is sold says itself when it ends: that is bought again. */
  renew?(request: RenewRequest): Promise<RenewOutcome>
  /** Absent where nothing is ever used besides what was bought. */
  usage?(request: UsageRequest): Promise<UsageOutcome>
  readonly capabilities: Capabilities
}

export type Providers = ReadonlyMap<string, LicenseProvider>

/** A provider that can neither recognise an order it got twice nor say what became of one cannot be bought from safely. */
export function registerProviders(providers: readonly LicenseProvider[]): Providers {
  for (const { id, capabilities } of providers)
    if (!capabilities.idempotentOrder && !capabilities.lookupByExternalId)
      throw new StartError(
        'provider_unsafe',
        `the provider ${id} neither recognises an order it gets twice nor says what became of one`,
        'remove it from the catalogue',
      )
  return new Map(providers.map((provider) => [provider.id, provider]))
}
