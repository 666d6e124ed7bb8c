import { permitted, type Row, type Slot } from './oracle.ts'

// Credit is of the organisation: whoever may read its billing sees every intent of it, whoever may write makes and cancels them.
// The server of the matrix has neither a chain nor cards.

const READING = permitted('machine.billing.read')
const WRITING = permitted('machine.billing.write')

const intentOfOrg: Slot = {
  kind: 'fundingIntent',
  refuses: ({ home }, { relation, place }) =>
    relation !== 'absent' && place?.orgId === home.orgId ? undefined : 'funding_intent_not_found',
}

const ends = 'billing_rail_not_configured'

export const FUNDING: readonly Row[] = [
  { route: 'GET /machine/billing/crypto-funding-intents', may: READING },
  {
    route: 'POST /machine/billing/crypto-funding-intents',
    may: WRITING,
    body: () => ({ amount: { amount: '5000000', currency: 'USD', scale: 6 } }),
    ends,
  },
  { route: 'GET /machine/billing/crypto-funding-intents/:id', may: READING, ids: { id: intentOfOrg } },
  { route: 'POST /machine/billing/crypto-funding-intents/:id/cancel', may: WRITING, ids: { id: intentOfOrg } },
  { route: 'GET /machine/billing/payment-methods', may: READING, ends },
  { route: 'DELETE /machine/billing/payment-methods', may: WRITING, ends },
  { route: 'POST /machine/billing/setup-intents', may: WRITING, ends },
]
