import { type Static, Type } from 'typebox'
import { Amount, Money } from './money.ts'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, Nullable, OneOf, Page, Time } from './shapes.ts'

// Prepaid credit that is paid in. Over a chain: an intent has an address of its own, and whatever is confirmed there is credited,
// however much it is and whenever it comes.

const reading = { kind: 'permission', permission: 'machine.billing.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.billing.write' } as const satisfies Access

export const FUNDING_STATUSES = [
  'requires_payment',
  'processing',
  'partially_funded',
  'funded',
  'expired',
  'cancelled',
  'in_review',
] as const

const Deposit = closed({
  txHash: Type.String(),
  ordinal: Type.Integer({ description: 'The place of the transfer among the logs of its transaction' }),
  state: OneOf(['seen', 'credited', 'orphaned', 'reversed', 'held']),
  value: Type.String({ description: 'In the units of the token' }),
  amount: Money,
  blockNumber: Type.Integer(),
  confirmations: Type.Integer(),
  paidAt: Time,
  creditedAt: Nullable(Time),
})

export const FundingIntent = closed({
  intentId: Id,
  status: OneOf(FUNDING_STATUSES),
  exceptions: Type.Array(OneOf(['underpaid', 'overpaid', 'paid_late', 'reorged', 'wrong_asset'])),
  target: Money,
  credited: Money,
  incoming: Money,
  asset: closed({
    symbol: Type.String(),
    chainId: Type.Integer(),
    contract: Type.String(),
    decimals: Type.Integer(),
  }),
  network: Type.String({ description: 'CAIP-2' }),
  address: Type.String({ description: 'With its checksum; of this intent alone, for ever' }),
  account: Type.String({ description: 'CAIP-10' }),
  paymentUri: Type.String({ description: 'EIP-681, for what is still missing: a wallet opens it, also as a QR code' }),
  confirmationsRequired: Type.Integer(),
  expiresAt: Time,
  cancelledAt: Nullable(Time),
  deposits: Type.Array(Deposit),
  version: Type.Integer(),
  createdBy: Type.String(),
  createdAt: Time,
})
export type FundingIntent = Static<typeof FundingIntent>

const PaymentMethod = closed({ paymentMethodId: Id, brand: Type.String(), last4: Type.String() })

export const funding = {
  createIntent: {
    api: 'machine',
    method: 'POST',
    path: '/billing/crypto-funding-intents',
    summary: 'Ask for an address to pay stablecoins to. Whatever arrives is credited; the amount is what is aimed at',
    access: writing,
    body: closed({
      amount: Amount,
      asset: Type.Optional(
        Type.String({ maxLength: 12, description: 'Symbol; may be left out where there is one alone' }),
      ),
      expiresInSeconds: Type.Optional(
        Type.Integer({
          minimum: 900,
          maximum: 604_800,
          description: 'A day if absent. A later payment is credited too',
        }),
      ),
    }),
    status: 201,
    response: FundingIntent,
    errors: [
      'billing_rail_not_configured',
      'funding_asset_unsupported',
      'funding_amount_out_of_range',
      'funding_intent_limit',
      'chain_unavailable',
    ],
  },
  listIntents: {
    api: 'machine',
    method: 'GET',
    path: '/billing/crypto-funding-intents',
    summary: 'Funding intents of the organisation, newest first',
    access: reading,
    query: closed(Page),
    response: listOf('data', FundingIntent),
  },
  getIntent: {
    api: 'machine',
    method: 'GET',
    path: '/billing/crypto-funding-intents/:id',
    summary: 'A funding intent with every payment that was seen',
    access: reading,
    params: closed({ id: Id }),
    response: FundingIntent,
    errors: ['funding_intent_not_found'],
  },
  cancelIntent: {
    api: 'machine',
    method: 'POST',
    path: '/billing/crypto-funding-intents/:id/cancel',
    summary: 'Stop waiting for a payment that has not come. Should it come all the same, it is credited',
    access: writing,
    params: closed({ id: Id }),
    response: FundingIntent,
    errors: ['funding_intent_not_found', 'funding_intent_not_cancellable'],
  },
  listPaymentMethods: {
    api: 'machine',
    method: 'GET',
    path: '/billing/payment-methods',
    summary: 'Cards on file',
    access: reading,
    query: closed(Page),
    response: listOf('data', PaymentMethod),
    errors: ['billing_rail_not_configured'],
  },
  removePaymentMethod: {
    api: 'machine',
    method: 'DELETE',
    path: '/billing/payment-methods',
    summary: 'Remove the card on file',
    access: writing,
    response: closed({ removed: Type.Boolean() }),
    errors: ['billing_rail_not_configured'],
  },
  createSetupIntent: {
    api: 'machine',
    method: 'POST',
    path: '/billing/setup-intents',
    summary: 'Begin to put a card on file',
    access: writing,
    response: closed({ clientSecret: Type.String() }),
    errors: ['billing_rail_not_configured'],
  },
} as const satisfies Routes
