import { inOrg } from '../../src/context.ts'
import { seedGroup, seedSession } from '../agent-seed.ts'
import { ATTACHMENT_KINDS } from './kinds-attachments.ts'
import { CHARGE_KINDS } from './kinds-charges.ts'
import { DOMAIN_KINDS } from './kinds-domains.ts'
import { FUNDING_KINDS } from './kinds-funding.ts'
import { LICENSE_KINDS } from './kinds-licenses.ts'
import { MONEY_KINDS } from './kinds-money.ts'
import { PROJECT_KINDS } from './kinds-projects.ts'
import { VAULT_KINDS } from './kinds-vaults.ts'
import { WEBHOOK_KINDS } from './kinds-webhooks.ts'
import type { Caller, Place, Relation } from './relations.ts'
import type { World } from './world.ts'

// What requests point at: how an object of each kind is made in each relation it can have.

interface Wanted {
  readonly place: Place
  readonly relation: Relation
  readonly caller: Caller
  /** Goes into every text of the object that an answer could show. */
  readonly label: string
  /** The object is used by nobody else. */
  readonly fresh: boolean
}

export interface Kind {
  /** Besides absent and malformed, which every kind has. */
  readonly relations: readonly Relation[]
  make(world: World, wanted: Wanted): Promise<string>
  absent(world: World): string
  readonly malformed?: string
  /** Relations that some of the callers try for all: those in which it does not matter who they are otherwise. */
  readonly seldom?: readonly Relation[]
  /** Relations in which the object depends on who asks, not only on where. */
  readonly personal?: readonly Relation[]
}

const PLACES = ['own', 'other-tenant', 'other-org'] as const satisfies readonly Relation[]

const agent: Kind = {
  relations: [...PLACES, 'archived'],
  make: async ({ h }, { place, relation, label }) => {
    const { agentId } = await h.agent(place, [])
    const change =
      relation === 'archived'
        ? { description: label, status: 'archived', archived_at: h.deps.now() }
        : { description: label, name: `${label} ${agentId}` }
    await inOrg(h.deps, place.orgId, async (db) => {
      await db.updateTable('agent').set(change).where('agent_id', '=', agentId).execute()
    })
    return agentId
  },
  absent: ({ h }) => h.deps.newId('agt'),
}

const user: Kind = {
  relations: [...PLACES, 'archived', 'self'],
  make: async ({ h }, { place, relation, caller, label }) => {
    if (relation === 'self' && caller.userId !== undefined) return caller.userId
    const { userId } = await seedSession(h, place, [])
    await inOrg(h.deps, place.orgId, async (db) => {
      const status = relation === 'archived' ? 'removed' : 'active'
      await db.updateTable('org_user').set({ name: label, status }).where('user_id', '=', userId).execute()
      await db.updateTable('session').set({ user_agent: label }).where('user_id', '=', userId).execute()
    })
    return userId
  },
  absent: ({ h }) => h.deps.newId('usr'),
  personal: ['self'],
}

const tenant: Kind = {
  relations: [...PLACES, 'archived'],
  make: async ({ h: { deps } }, { place, relation, label }) => {
    if (relation !== 'archived') return place.tenantId
    const tenantId = deps.newId('ten')
    await inOrg(deps, place.orgId, (db) =>
      db
        .insertInto('tenant')
        .values({
          org_id: place.orgId,
          tenant_id: tenantId,
          parent_id: place.tenantId,
          name: `${label} archived`,
          status: 'archived',
          created_at: deps.now(),
        })
        .execute(),
    )
    return tenantId
  },
  absent: ({ h }) => h.deps.newId('ten'),
}

const group: Kind = {
  relations: PLACES,
  make: ({ h }, { place, label }) => seedGroup(h, place, `${label} group`, []),
  absent: ({ h }) => h.deps.newId('grp'),
}

/** One's own, another person's in the same tenant, and those further away. */
const session: Kind = {
  relations: [...PLACES, 'no-access', 'archived'],
  make: async ({ h }, { place, relation, caller }) => {
    const { sessionId } = await seedSession(h, place, [])
    const isOwn = (relation === 'own' || relation === 'archived') && caller.userId !== undefined
    await inOrg(h.deps, place.orgId, (db) =>
      db
        .updateTable('session')
        .set({
          revoked_at: relation === 'archived' ? h.deps.now() : null,
          ...(isOwn && { user_id: caller.userId }),
        })
        .where('session_id', '=', sessionId)
        .execute(),
    )
    return sessionId
  },
  absent: ({ h }) => h.deps.newId('ses'),
  personal: ['own', 'archived'],
}

const invite: Kind = {
  relations: [...PLACES, 'archived'],
  make: async (world, { place, relation, caller, label }) => {
    const { deps } = world.h
    const inviteId = deps.newId('inv')
    const userId = await user.make(world, { place, relation: 'own', caller, label, fresh: true })
    const at = deps.now()
    await inOrg(deps, place.orgId, async (db) => {
      await db.updateTable('org_user').set({ status: 'invited' }).where('user_id', '=', userId).execute()
      await db
        .insertInto('invite')
        .values({
          org_id: place.orgId,
          invite_id: inviteId,
          doc_hash: '',
          envelope: JSON.stringify({ payload: '', payloadType: label, signatures: [] }),
          email: `${inviteId}@${label.replaceAll(' ', '-')}.example`,
          user_id: userId,
          status: relation === 'archived' ? 'revoked' : 'open',
          acceptance: null,
          created_by: 'test',
          created_at: at,
          expires_at: new Date(at.getTime() + 30 * 86_400_000),
        })
        .execute()
    })
    return inviteId
  },
  absent: ({ h }) => h.deps.newId('inv'),
}

/** In the log of an organisation, and so nobody's of its tenants. */
const document: Kind = {
  relations: ['own', 'other-org'],
  make: async ({ orgs }, { place }) => orgs.find(({ orgId }) => orgId === place.orgId)?.documentHash ?? '',
  absent: () => 'A'.repeat(43),
  malformed: 'short',
}

/** Both logs have a first leaf: only what lies behind the end is absent. */
const leaf: Kind = { relations: ['own'], make: async () => '0', absent: () => '999999', malformed: 'x' }

export const KINDS = {
  agent,
  user,
  tenant,
  group,
  session,
  invite,
  document,
  leaf,
  ...VAULT_KINDS,
  ...PROJECT_KINDS,
  ...ATTACHMENT_KINDS,
  ...MONEY_KINDS,
  ...WEBHOOK_KINDS,
  ...FUNDING_KINDS,
  ...LICENSE_KINDS,
  ...DOMAIN_KINDS,
  ...CHARGE_KINDS,
} as const satisfies Record<string, Kind>
export type KindName = keyof typeof KINDS
