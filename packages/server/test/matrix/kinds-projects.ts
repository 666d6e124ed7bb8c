import { inOrg } from '../../src/context.ts'
import type { Kind } from './kinds.ts'
import type { Caller, Place, Relation } from './relations.ts'
import type { World } from './world.ts'

// Projects, vault groups and shared items, put straight into the database.

/** Those an access list can name: the operator is on none. */
const isListable = ({ id }: Caller): boolean => /^(?:user|agent):/.test(id)

/** Any documents of the log stand for those of a project: the matrix asks who is answered, not what is proven. */
const documentOf = ({ orgs }: World, { orgId }: Place): string =>
  orgs.find((org) => org.orgId === orgId)?.documentHash ?? ''

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'
const projectIdOf = (random: string): string =>
  `p${Array.from({ length: 32 }, (_, i) => LETTERS[(random.charCodeAt(i % random.length) * (i + 7)) % 32]).join('')}`

const ROLES: Partial<Record<Relation, string>> = { own: 'admin', archived: 'admin', writer: 'write', reader: 'read' }

/** An access list decides, not the tenant. */
const project: Kind = {
  relations: ['own', 'writer', 'reader', 'no-access', 'other-org', 'archived'],
  make: async (world, { place, relation, caller, label }) => {
    const { deps } = world.h
    const seed = deps.newId('prj')
    const projectId = projectIdOf(seed)
    const at = deps.now()
    await inOrg(deps, place.orgId, async (db) => {
      const row = { org_id: place.orgId, project_id: projectId }
      await db
        .insertInto('project')
        .values({
          ...row,
          tenant_id: place.tenantId,
          slug: seed.toLowerCase().replace('_', '-'),
          name: label,
          status: relation === 'archived' ? 'archived' : 'active',
          vaults: [],
          project_version: 1,
          doc_hash: documentOf(world, place),
          admins_chain: [documentOf(world, place)],
          created_by: 'user:somebody',
          created_at: at,
          updated_at: at,
        })
        .execute()
      const role = ROLES[relation]
      if (role !== undefined && isListable(caller))
        await db
          .insertInto('project_access')
          .values({ ...row, principal: caller.id, role })
          .execute()
    })
    return projectId
  },
  absent: ({ h }) => projectIdOf(h.deps.newId('prj')),
  malformed: 'No Slug',
  personal: ['own', 'writer', 'reader', 'archived'],
}

const vaultGroup: Kind = {
  relations: ['own', 'other-tenant', 'other-org'],
  make: async ({ h: { deps } }, { place, label }) => {
    const id = deps.newId('vgr')
    const at = deps.now()
    await inOrg(deps, place.orgId, (db) =>
      db
        .insertInto('vault_group')
        .values({
          org_id: place.orgId,
          vault_group_id: id,
          tenant_id: place.tenantId,
          name: `${label} ${id}`,
          created_by: 'user:somebody',
          created_at: at,
          updated_at: at,
        })
        .execute(),
    )
    return id
  },
  absent: ({ h }) => h.deps.newId('vgr'),
}

/** One's own, somebody else's, and one that has expired. */
const sharedItem: Kind = {
  relations: ['own', 'no-access', 'other-org', 'archived'],
  make: async ({ h: { deps } }, { place, relation, caller, label }) => {
    const id = deps.newId('shr')
    const at = deps.now()
    const isOwn = relation === 'own' || relation === 'archived'
    const aheadMs = relation === 'archived' ? -1000 : 29 * 86_400_000
    await inOrg(deps, place.orgId, (db) =>
      db
        .insertInto('shared_item')
        .values({
          org_id: place.orgId,
          shared_item_id: id,
          created_by: isOwn ? caller.id : 'user:somebody',
          item_id: label.replaceAll(' ', '-'),
          sealed: 'AAAA',
          max_views: 100,
          expires_at: new Date(at.getTime() + aheadMs),
          created_at: at,
        })
        .execute(),
    )
    return id
  },
  absent: ({ h }) => h.deps.newId('shr'),
  personal: ['own', 'archived'],
}

export const PROJECT_KINDS = { project, vaultGroup, sharedItem } as const satisfies Record<string, Kind>
