import { people, permitted, type Row, slot } from './oracle.ts'

// Domains of an organisation: read with the permission, run by who runs the organisation.

const RUNNING = people('ORG_OWNER', 'ORG_ADMIN')
const inOrg = slot('domain', 'domain_not_found', ({ home }, { place }) => home.orgId === place.orgId)

export const DOMAINS: readonly Row[] = [
  {
    route: 'GET /machine/domain-manager/dns-records',
    may: permitted('machine.domain.read'),
    ids: { domain: inOrg },
    query: ({ domain = '' }) => ({ domain }),
  },
  {
    route: 'GET /machine/domain-manager/dns-check',
    may: permitted('machine.domain.read'),
    ids: { domain: inOrg },
    query: ({ domain = '' }) => ({ domain }),
  },
  { route: 'GET /platform/domain', may: RUNNING },
  {
    route: 'POST /platform/domain',
    may: RUNNING,
    body: (_, { name }) => ({ domain: `${name().replaceAll(' ', '-')}.dev`.toLowerCase(), managed: true }),
  },
  {
    route: 'PUT /platform/domain/:domain/records',
    may: RUNNING,
    ids: { domain: inOrg },
    body: () => ({ records: [] }),
  },
  { route: 'DELETE /platform/domain/:domain', may: RUNNING, ids: { domain: inOrg } },
]
