import { type Static, Type } from 'typebox'
import { Slug, TERMS } from './license-shapes.ts'
import { Money } from './money.ts'
import type { Access, Routes } from './route.ts'
import { closed, Id, Name, OneOf, Text } from './shapes.ts'

// What can be bought on this server. Of the operator, not of an organisation: the machine API has no part in it, and what the
// operator's file says is changed there.

const reading = { kind: 'global-admin', permission: 'machine.license.read' } as const satisfies Access
const running = { kind: 'global-admin', permission: 'machine.license.write' } as const satisfies Access

const Price = closed({
  amount: Type.String({ pattern: '^[1-9][0-9]{0,17}$', description: 'Of one, in micro-units' }),
  currency: Money.properties.currency,
  scale: Money.properties.scale,
})

const offer = {
  name: Name,
  description: Text(2000),
  provider: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    description: '`builtin`, or one that the file of the operator names',
  }),
  sku: Type.String({ minLength: 1, maxLength: 100 }),
  price: Price,
  term: TERMS,
  fields: Type.Array(
    closed({ label: Type.String({ minLength: 1, maxLength: 100 }), isEnvironmentVariable: Type.Boolean() }),
    { minItems: 1, maxItems: 32 },
  ),
  tenants: Type.Optional(
    Type.Array(Id, { minItems: 1, maxItems: 1000, description: 'Those that may buy it; all of them if absent' }),
  ),
  status: OneOf(['available', 'unavailable']),
}

const Offer = closed({ licenseId: Slug, ...offer, source: OneOf(['file', 'api']) })
export type CatalogueOffer = Static<typeof Offer>

export const catalogue = {
  list: {
    api: 'platform',
    method: 'GET',
    path: '/catalogue',
    summary: 'Every licence that is on sale on this server or was, and where it was written down',
    access: reading,
    response: closed({ data: Type.Array(Offer) }),
  },
  put: {
    api: 'platform',
    method: 'PUT',
    path: '/catalogue/:licenseId',
    summary: 'Put a licence on sale, or change it. What was bought before stays as it was bought',
    access: running,
    params: closed({ licenseId: Slug }),
    body: closed({ ...offer, status: Type.Optional(offer.status) }),
    response: Offer,
    errors: ['catalogue_offer_in_file', 'catalogue_offer_invalid'],
  },
  remove: {
    api: 'platform',
    method: 'DELETE',
    path: '/catalogue/:licenseId',
    summary: 'Take a licence off sale for good. Those that were bought run on',
    access: running,
    params: closed({ licenseId: Slug }),
    response: closed({ licenseId: Slug }),
    errors: ['license_not_found', 'catalogue_offer_in_file'],
  },
} as const satisfies Routes
