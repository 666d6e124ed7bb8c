import { type Static, Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, NoPage, Nullable, OneOf, Page, Text, Time } from './shapes.ts'

// Domains of the organisation. Those that are managed here have their records read by whoever has the permission; they are set by who
// runs the organisation, on the platform API.

const running = { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN'] } as const satisfies Access

export const RECORD_TYPES = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

/** As people write it, with umlauts if need be; what it is in the DNS is told in the answers. */
const DomainName = Type.String({ minLength: 1, maxLength: 253, pattern: '^[^\\u0000-\\u0020/\\\\]+$' })

const DnsRecord = closed({
  id: Id,
  name: Type.String(),
  type: Type.String(),
  content: Type.String(),
  ttl: Type.Integer(),
  priority: Nullable(Type.Integer()),
  disabled: Type.Boolean(),
  comment: Nullable(Type.String()),
})
export type DnsRecord = Static<typeof DnsRecord>

export const Domain = closed({
  domain: Type.String(),
  managed: Type.Boolean(),
  createdAt: Time,
})
export type Domain = Static<typeof Domain>

const byName = closed({ domain: DomainName })

/** `missing`: the resolver says that there is none. `no_answer`: it could not say. */
export const DNS_VERDICTS = ['same', 'differs', 'missing', 'no_answer'] as const
export const DNS_REASONS = ['NXDOMAIN', 'NODATA', 'SERVFAIL', 'REFUSED', 'timeout', 'unreachable', 'failed'] as const
export type DnsReason = (typeof DNS_REASONS)[number]

/** All records of one name and type. How long others may keep them is not compared: caches count it down. */
const CheckedSet = closed({
  name: Type.String(),
  type: OneOf(RECORD_TYPES),
  expected: Type.Array(Type.String()),
  /** What the resolver answered, of which the first few are shown, and long ones cut. */
  found: Type.Array(Type.String()),
  foundTotal: Type.Integer(),
  verdict: OneOf(DNS_VERDICTS),
  /** Why nothing was found. */
  reason: Nullable(OneOf(DNS_REASONS)),
})
export type CheckedSet = Static<typeof CheckedSet>

export const domains = {
  records: {
    api: 'machine',
    method: 'GET',
    path: '/domain-manager/dns-records',
    summary: 'The DNS records of a managed domain, or of the one that a name lies in',
    access: { kind: 'permission', permission: 'machine.domain.read' },
    query: closed({
      domain: DomainName,
      type: Type.Optional(OneOf(['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT', 'SOA'])),
      name: Type.Optional(DomainName),
      ...NoPage,
    }),
    response: closed({
      domain: Type.String(),
      managed: Type.Literal(true),
      serial: Type.Integer(),
      records: Type.Array(DnsRecord),
    }),
    errors: ['invalid_domain', 'domain_not_found', 'domain_not_managed', 'dns_unavailable'],
  },
  check: {
    api: 'machine',
    method: 'GET',
    path: '/domain-manager/dns-check',
    summary: 'What a resolver answers now for the records of a managed domain, beside what they should be',
    access: { kind: 'permission', permission: 'machine.domain.read' },
    query: closed({
      domain: DomainName,
      type: Type.Optional(OneOf(RECORD_TYPES)),
      name: Type.Optional(DomainName),
    }),
    response: closed({
      domain: Type.String(),
      serial: Type.Integer(),
      checkedAt: Time,
      /** Those that were asked. The operator chooses them. */
      resolvers: Type.Array(Type.String()),
      sets: Type.Array(CheckedSet),
      /** How many sets more there are than one check asks about. */
      unchecked: Type.Integer(),
    }),
    errors: ['invalid_domain', 'domain_not_found', 'domain_not_managed', 'dns_unavailable', 'rate_limited'],
  },
  list: {
    api: 'platform',
    method: 'GET',
    path: '/domain',
    summary: 'The domains of the organisation',
    access: running,
    query: closed(Page),
    response: listOf('data', Domain),
  },
  add: {
    api: 'platform',
    method: 'POST',
    path: '/domain',
    summary: 'Add a domain; managed here, or only known to belong to the organisation',
    access: running,
    body: closed({ domain: DomainName, managed: Type.Boolean() }),
    status: 201,
    response: Domain,
    errors: ['invalid_domain', 'domain_taken', 'domain_not_managed', 'dns_unavailable'],
  },
  remove: {
    api: 'platform',
    method: 'DELETE',
    path: '/domain/:domain',
    summary: 'Remove a domain and the records that are kept here',
    access: running,
    params: byName,
    response: closed({ domain: Type.String() }),
    errors: ['domain_not_found'],
  },
  setRecords: {
    api: 'platform',
    method: 'PUT',
    path: '/domain/:domain/records',
    summary: 'Replace all records of a managed domain, or refuse if they are others than the caller read',
    access: running,
    params: byName,
    body: closed({
      /** The serial that came with the records the caller has read. */
      ifSerial: Type.Optional(Type.Integer({ minimum: 0 })),
      records: Type.Array(
        closed({
          name: DomainName,
          type: OneOf(RECORD_TYPES),
          content: Text(2000),
          ttl: Type.Optional(Type.Integer({ minimum: 30, maximum: 604_800 })),
          priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
          comment: Type.Optional(Text(200)),
        }),
        { maxItems: 1000 },
      ),
    }),
    response: closed({ domain: Type.String(), serial: Type.Integer() }),
    errors: ['domain_not_found', 'domain_not_managed', 'records_changed', 'invalid_record', 'dns_unavailable'],
  },
} as const satisfies Routes
