import { operatorsOnly, permitted, type Row, type Slot } from './oracle.ts'

// What licences cost, and what is on sale. Charges are filtered by what the caller sees, so that another's licence is an empty list;
// the catalogue is the operator's.

const filter = (kind: 'license' | 'tenant'): Slot => ({ kind, refuses: () => undefined })

/** Of the deployment: it has no organisation that it could be out of sight in. */
const offer: Slot = {
  kind: 'offer',
  refuses: (_, { relation }) => (relation === 'absent' ? 'license_not_found' : undefined),
}

const newOffer = {
  ...{ name: 'Mail', description: '', provider: 'builtin', sku: 'MP1', term: 'once' },
  price: { amount: '1000000', currency: 'USD', scale: 6 },
  fields: [{ label: 'MAIL_KEY', isEnvironmentVariable: true }],
}

export const CHARGES: readonly Row[] = [
  {
    route: 'GET /machine/billing/distributor-charges',
    may: permitted('machine.billing.read'),
    ids: { licenseInstanceId: filter('license'), tenantId: filter('tenant') },
    query: ({ licenseInstanceId = '', tenantId = '' }) => ({ licenseInstanceId, tenantId, includeLines: 'true' }),
  },
  { route: 'GET /platform/catalogue', may: operatorsOnly('machine.license.read') },
  {
    route: 'PUT /platform/catalogue/:licenseId',
    may: operatorsOnly('machine.license.write'),
    ids: { licenseId: { ...offer, refuses: () => undefined } },
    body: () => newOffer,
    takes: ['status', 'tenants'],
  },
  {
    route: 'DELETE /platform/catalogue/:licenseId',
    may: operatorsOnly('machine.license.write'),
    ids: { licenseId: offer },
  },
]
