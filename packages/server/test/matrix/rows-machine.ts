import { agentsOnly, anyone, operatorsOnly, permitted, type Row, type Slot, slot, tenantOfRole } from './oracle.ts'
import { type Caller, worksIn } from './relations.ts'
import { countsOf, vaultFor, within } from './rows-vaults.ts'

// The machine API, from the specification and decisions.md 3 to 5.

const MONITORING = permitted('machine.monitoring.read')
const OPERATING = operatorsOnly('machine.monitoring.read')

/** Of the vaults whose lists name the caller. */
const activityOf = ({ type, home }: Caller): readonly string[] => (type === 'operator' ? [] : [home.vaultCanary])

/** First, while there are few audit events to list. */
const monitoring: readonly Row[] = [
  { route: 'GET /machine/monitoring/audit-events', may: MONITORING },
  { route: 'GET /machine/monitoring/request-events', may: MONITORING },
  { route: 'GET /machine/monitoring/metric-stats', may: MONITORING },
  { route: 'GET /machine/monitoring/entity-counts', may: MONITORING, shows: countsOf },
  { route: 'GET /machine/monitoring/vault-activity-events', may: MONITORING, shows: activityOf },
  { route: 'GET /machine/monitoring/system-stats', may: OPERATING },
  { route: 'GET /machine/monitoring/session-stats', may: OPERATING },
]

const identity: readonly Row[] = [
  { route: 'GET /machine/me', may: anyone },
  { route: 'GET /machine/tenant-context', may: anyone },
]

const READING = permitted('machine.agent.read', 'TENANT_AGENT_MANAGER')
const WRITING = permitted('machine.agent.write', 'TENANT_AGENT_MANAGER')

/** Agents of the tenant the session works in, and of no other: not even for those who run the organisation. */
const agentHere = (archived?: 'agent_archived'): Slot =>
  slot('agent', 'agent_not_found', (caller, { place }) => worksIn(caller, place), archived ? { archived } : {})
const groupHere = slot('group', 'group_not_found', (caller, { place }) => worksIn(caller, place))
const roleIn = tenantOfRole('TENANT_AGENT_MANAGER')
const rolesIn = (tenantId: string | undefined) => [{ tenantId, role: 'TENANT_AGENT_MANAGER' }]

const agents: readonly Row[] = [
  { route: 'GET /machine/agent', may: READING },
  {
    route: 'POST /machine/agent',
    may: WRITING,
    also: ({ type }) => (type === 'operator' ? 'tenant_not_found' : undefined),
    ids: { group: groupHere, tenant: roleIn },
    body: ({ group, tenant }, { name }) => ({
      name: name(),
      permissions: [],
      securityGroups: [group],
      tenantRoles: rolesIn(tenant),
    }),
    takes: ['permissions'],
  },
  { route: 'GET /machine/agent/me', may: agentsOnly() },
  { route: 'GET /machine/agent/:id', may: READING, ids: { id: agentHere() } },
  {
    route: 'PATCH /machine/agent/:id',
    may: WRITING,
    ids: { id: agentHere('agent_archived'), group: groupHere },
    body: ({ group }) => ({ description: 'changed', securityGroups: [group] }),
    takes: ['permissions'],
  },
  { route: 'PATCH /machine/agent/:id/archive', may: WRITING, ids: { id: agentHere() } },
  { route: 'POST /machine/agent/:id/regenerate-api-key', may: WRITING, ids: { id: agentHere('agent_archived') } },
  {
    route: 'POST /machine/agent/:id/simulate',
    may: WRITING,
    ids: { id: agentHere('agent_archived') },
    body: () => ({ call: 'identity.me' }),
  },
  {
    route: 'PATCH /machine/agent/:id/vault-item',
    may: WRITING,
    ids: { id: agentHere('agent_archived') },
    body: () => ({ vaultId: null, itemId: null }),
  },
  {
    // Only what the caller can see; an item that is elsewhere than the body says, or out of sight, does not exist.
    route: 'PATCH /machine/agent/:id/vault-item',
    may: WRITING,
    ids: {
      id: agentHere('agent_archived'),
      vault: vaultFor('read', 'vault_item_not_found'),
      item: within('vault', 'vaultItem', 'vault_item_not_found'),
    },
    body: ({ vault, item }) => ({ vaultId: vault, itemId: item }),
  },
  { route: 'GET /machine/agent/:id/tenant-roles', may: READING, ids: { id: agentHere() } },
  {
    route: 'PATCH /machine/agent/:id/tenant-roles',
    may: WRITING,
    ids: { id: agentHere('agent_archived'), tenant: roleIn },
    body: ({ tenant }) => ({ tenantRoles: rolesIn(tenant) }),
  },
]

const feedback: readonly Row[] = [
  {
    route: 'POST /machine/feedback',
    may: agentsOnly('machine.feedback.write'),
    body: (_, { name }) => ({ category: 'other', summary: name(), details: 'nothing is missing' }),
  },
]

const LOG = permitted('machine.transparency.read')
const leaf: Slot = {
  kind: 'leaf',
  refuses: (_, { relation }) => (relation === 'absent' ? 'leaf_not_found' : undefined),
}
const one = () => ({ width: '1' })

/** The log of the caller's organisation: no request can name another one. */
const transparency: readonly Row[] = [
  { route: 'GET /machine/transparency/checkpoint', may: LOG },
  { route: 'GET /machine/transparency/recovery', may: LOG },
  {
    route: 'GET /machine/transparency/recovery/:index',
    may: LOG,
    // No log here was ever restored: no leaf is a recovery, and one that is not there is none either.
    ids: { index: { kind: 'leaf', refuses: () => undefined } },
    ends: 'recovery_not_found',
  },
  { route: 'GET /machine/transparency/tile/entries/:index', may: LOG, ids: { index: leaf }, query: one },
  {
    route: 'GET /machine/transparency/tile/:level/:index',
    may: LOG,
    path: { level: '0' },
    ids: { index: leaf },
    query: one,
  },
  {
    route: 'GET /machine/transparency/entries',
    may: LOG,
    ids: { start: leaf },
    query: ({ start }) => ({ start: start ?? '', end: '1000000' }),
  },
  {
    route: 'GET /machine/transparency/doc/:hash',
    may: LOG,
    ids: { hash: slot('document', 'document_not_found', (caller, { place }) => caller.home.orgId === place.orgId) },
  },
  { route: 'GET /machine/transparency/proof/:index', may: LOG, ids: { index: leaf } },
  {
    // Whom it lets in has to be registered and to have signed: the module's own tests do both.
    route: 'POST /machine/transparency/cosignatures',
    may: LOG,
    body: () => ({ size: 1, signatures: [`\u2014 nobody.example/w ${'A'.repeat(104)}`] }),
    ends: 'witness_not_registered',
  },
  { route: 'GET /machine/transparency/state', may: LOG, query: () => ({ name: 'policy' }) },
]

export const MACHINE: readonly Row[] = [...monitoring, ...identity, ...agents, ...feedback, ...transparency]
