import { permissions } from './access-lists.ts'
import { agents } from './agents.ts'
import { aliases } from './aliases.ts'
import { attachments } from './attachments.ts'
import { billing } from './billing.ts'
import { budgets } from './budgets.ts'
import { catalogue } from './catalogue.ts'
import { directory } from './directory.ts'
import { domains } from './domains.ts'
import { events } from './events.ts'
import { feedback } from './feedback.ts'
import { funding } from './funding.ts'
import { groups } from './groups.ts'
import { identity } from './identity.ts'
import { invites } from './invites.ts'
import { items } from './items.ts'
import { keys } from './keys.ts'
import { licenses } from './licenses.ts'
import { monitoring } from './monitoring.ts'
import { projects } from './projects.ts'
import { search } from './search.ts'
import { sessions } from './sessions.ts'
import { setup } from './setup.ts'
import { sharedItems } from './shared-items.ts'
import { sync } from './sync.ts'
import { tenants } from './tenants.ts'
import { transparency } from './transparency.ts'
import { userKeys } from './user-keys.ts'
import { users } from './users.ts'
import { vaultGroups } from './vault-groups.ts'
import { vaults } from './vaults.ts'
import { webhooks } from './webhooks.ts'

export {
  AUDIT_VERSION,
  auditChainStart,
  type ChainedEvent,
  canonicalAuditEvent,
  type WrittenEvent,
  writtenEvent,
} from './audit-chain.ts'

/** The whole API, in one value: groups by noun. */
export const api = {
  agents,
  directory,
  feedback,
  groups,
  identity,
  invites,
  monitoring,
  sessions,
  setup,
  tenants,
  transparency,
  userKeys,
  users,
  items,
  keys,
  permissions,
  vaults,
  aliases,
  events,
  search,
  sync,
  projects,
  sharedItems,
  vaultGroups,
  attachments,
  billing,
  budgets,
  funding,
  domains,
  catalogue,
  licenses,
  webhooks,
}

export { type Attachment, MAX_PARTS, PART_BYTES } from './attachments.ts'
export type { Budget, BudgetRule } from './budgets.ts'
export { callsOf } from './calls.ts'
export type { CatalogueOffer } from './catalogue.ts'
export {
  type CheckedSet,
  type DnsReason,
  type DnsRecord,
  type Domain,
  RECORD_TYPES,
  type RecordType,
} from './domains.ts'
export { ERRORS, type ErrorCode, type ErrorEntry } from './errors.ts'
export { EVENT_TYPES, type EventType } from './event-types.ts'
export type { FundingIntent } from './funding.ts'
export type { Group } from './groups.ts'
export type { License, Purchase, Termination } from './license-shapes.ts'
export { CURRENCY, type Money, money, SCALE } from './money.ts'
export { contains, MAX_NETWORKS, type Network, networkProblem, networkText, readNetwork } from './networks.ts'
export { commonErrors, describeAccess, describeApi, errorsOf } from './openapi.ts'
export {
  holds,
  type NeededPermission,
  notHeld,
  ORG_ROLES,
  type OrgRole,
  PERMISSIONS,
  type Permission,
  permissionsOfUser,
  TENANT_ROLES,
  type TenantRole,
} from './permissions.ts'
export type { Project, SignedProject } from './projects.ts'
export { type Access, API_PREFIX, type Input, type Output, type Route, type Routes } from './route.ts'
export type { SharedItem } from './shared-items.ts'
export { shellLine } from './shell-line.ts'
export type { Tenant } from './tenants.ts'
export type { User } from './users.ts'
export type { VaultGroup } from './vault-groups.ts'
export type { CommitReceipt, Vault } from './vault-shapes.ts'
export {
  isEventType,
  matchesEventType,
  unknownPatterns,
  type WebhookDelivery,
  type WebhookDeliveryDetail,
  type WebhookEndpoint,
} from './webhooks.ts'
export {
  agents,
  aliases,
  attachments,
  billing,
  budgets,
  catalogue,
  directory,
  domains,
  events,
  feedback,
  funding,
  groups,
  identity,
  invites,
  items,
  keys,
  licenses,
  monitoring,
  permissions,
  projects,
  search,
  sessions,
  setup,
  sharedItems,
  sync,
  tenants,
  transparency,
  userKeys,
  users,
  vaultGroups,
  vaults,
  webhooks,
}
