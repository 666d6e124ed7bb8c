import { EVENT_TYPES, type EventType, holds, type OrgRole, permissionsOfUser } from '@strongroom/contract'
import { sql } from 'kysely'
import { asOrgRoles, holdsTenantRole, managesMoney, runsTenant, type TenantRoleEntry } from '../access/roles.ts'
import type { Db } from '../db/database.ts'

// Who may hear of what, decided at the moment it is told: what a listener could read now.

/** On whose behalf somebody listens: a principal, by one of its keys or logged in. */
export interface Owner {
  readonly principal: string
  readonly keyId: string | null
}

export interface Listener {
  readonly principal: string
  readonly permissions: readonly string[]
  readonly orgRoles: readonly OrgRole[]
  readonly tenantRoles: readonly TenantRoleEntry[]
  readonly tenantId: string | null
}

interface OwnerRow {
  readonly principal: string
  readonly key_id: string | null
  readonly active: boolean
  readonly permissions: string[] | null
  readonly org_roles: string[]
  readonly tenant_id: string | null
  readonly roles: TenantRoleEntry[]
}

export const ownerKey = ({ principal, keyId }: Owner): string => `${principal} ${keyId ?? ''}`

function listenerOf(row: OwnerRow): Listener {
  const { principal, org_roles, tenant_id: tenantId, roles: tenantRoles } = row
  const orgRoles = asOrgRoles(org_roles)
  const byRoles = () =>
    permissionsOfUser(
      orgRoles,
      tenantRoles.map(({ role }) => role),
    )
  return { principal, orgRoles, tenantRoles, tenantId, permissions: row.permissions ?? byRoles() }
}

/** What each owner may do at this moment, by `ownerKey`. Who is missing is gone: the key has ended, or its holder has, or has expired. */
export async function listenersOf(
  db: Db,
  orgId: string,
  owners: readonly Owner[],
  at: Date,
): Promise<ReadonlyMap<string, Listener>> {
  const once = [...new Map(owners.map((owner) => [ownerKey(owner), owner])).values()]
  if (once.length === 0) return new Map()
  const { rows } = await sql<OwnerRow>`
    select o.* from webhook_owners(${orgId}, ${once.map(({ principal }) => principal)}::text[],
      ${once.map(({ keyId }) => keyId)}::text[]) o
    where not exists (
      select 1 from agent a where a.org_id = ${orgId} and 'agent:' || a.agent_id = o.principal and a.expires_at <= ${at})`.execute(
    db,
  )
  const active = rows.filter((row) => row.active)
  return new Map(active.map((row) => [ownerKey({ principal: row.principal, keyId: row.key_id }), listenerOf(row)]))
}

/** What an event is about, as far as it decides who is told. */
export interface EventScope {
  readonly type: string
  readonly tenantId: string | null
  readonly vaultId: string | null
  readonly principal: string | null
}

const isKnown = (type: string): type is EventType => Object.hasOwn(EVENT_TYPES, type)

const worksIn = (listener: Listener, tenantId: string): boolean =>
  listener.tenantId === tenantId ||
  runsTenant(listener, tenantId) ||
  listener.tenantRoles.some((held) => held.tenantId === tenantId)

/** As budgets are seen: one of a single principal by itself and by who manages it; one of a tenant by who works there. */
function seesBudget(listener: Listener, { tenantId, principal }: EventScope): boolean {
  if (managesMoney(listener)) return true
  if (principal === null) return tenantId === null || worksIn(listener, tenantId)
  if (principal === listener.principal) return true
  return tenantId !== null && holdsTenantRole(listener, { tenantId, role: 'TENANT_BUDGET_MANAGER' })
}

/** `isListed` says whether the vault of the event has the listener on its access list. */
export function mayHear(listener: Listener, event: EventScope, isListed: boolean): boolean {
  const { type, tenantId, vaultId, principal } = event
  if (!isKnown(type) || !holds(listener.permissions, EVENT_TYPES[type].permission)) return false
  // What was bought is seen by its buyer, and by whoever manages the money; nobody else of the tenant.
  if (type.startsWith('license.')) return principal === listener.principal || managesMoney(listener)
  if (type.startsWith('budget.')) return seesBudget(listener, event)
  if (tenantId === null && vaultId === null && principal === null) return true
  return (
    principal === listener.principal ||
    (tenantId !== null && worksIn(listener, tenantId)) ||
    (vaultId !== null && isListed)
  )
}

/** `principal vault` for each of the principals that is on the list of one of the vaults. */
export async function listings(
  db: Db,
  orgId: string,
  principals: readonly string[],
  vaultIds: readonly (string | null)[],
): Promise<ReadonlySet<string>> {
  const vaults = [...new Set(vaultIds.filter((vaultId) => vaultId !== null))]
  if (vaults.length === 0 || principals.length === 0) return new Set()
  const { rows } = await sql<{ principal: string; vaultId: string }>`
    select principal, vault_id as "vaultId" from vault_access
    where org_id = ${orgId} and vault_id = any(${vaults}::text[]) and principal = any(${[...new Set(principals)]}::text[])
      and role is not null`.execute(db)
  return new Set(rows.map(listingKey))
}

export const listingKey = ({ principal, vaultId }: { principal: string; vaultId: string | null }): string =>
  `${principal} ${vaultId}`

/** Those of the events that somebody may hear of now. */
export async function heardBy<E extends EventScope>(
  db: Db,
  orgId: string,
  owner: Owner,
  events: readonly E[],
  at: Date,
): Promise<readonly E[]> {
  if (events.length === 0) return []
  const listener = (await listenersOf(db, orgId, [owner], at)).get(ownerKey(owner))
  if (!listener) return []
  const { principal } = owner
  const listed = await listings(
    db,
    orgId,
    [principal],
    events.map(({ vaultId }) => vaultId),
  )
  return events.filter((event) =>
    mayHear(listener, event, listed.has(listingKey({ principal, vaultId: event.vaultId }))),
  )
}
