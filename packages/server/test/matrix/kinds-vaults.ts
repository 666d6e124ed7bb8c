import { inOrg } from '../../src/context.ts'
import type { Kind } from './kinds.ts'
import type { Relation } from './relations.ts'
import { type KeptVault, makeFilledVault, type Standing, type Vaults } from './vault-set.ts'

// Vaults and what lies in them. The relation of a thing is that of its vault: one of the vault of its tenant where the caller
// has that role, or has none any more. Every such kind is a look into the set of its tenant, so the item, the field and the
// documents of one relation belong to the vault of the same relation.

const STANDING: Partial<Record<Relation, Standing>> = {
  own: 'admin',
  writer: 'write',
  reader: 'read',
  'no-access': 'hidden',
  'other-tenant': 'admin',
  'other-org': 'admin',
  archived: 'archived',
  'parent-mismatch': 'second',
}

export const VAULT_RELATIONS = [
  'own',
  'writer',
  'reader',
  'no-access',
  'other-tenant',
  'other-org',
  'archived',
] as const satisfies readonly Relation[]

/** That roles of people open no vault is seen in the others. */
const SELDOM = ['writer', 'reader', 'archived', 'malformed'] as const satisfies readonly Relation[]

/** Something that a vault has one of. */
const ofVault = (pick: (vault: KeptVault) => string, absent: Kind['absent'], malformed = 'no!id'): Kind => ({
  relations: VAULT_RELATIONS,
  make: async (world, { place, relation }) => pick(world.vaultsOf(place)[STANDING[relation] ?? 'admin']),
  absent,
  malformed,
  seldom: SELDOM,
})

/** Something in a vault that can also be in another one than the path says, or have left it. */
const inVault = (name: keyof Vaults['moved'], prefix: string): Kind => ({
  relations: [...VAULT_RELATIONS, 'parent-mismatch', 'moved-away'],
  make: async (world, { place, relation }) => {
    const vaults = world.vaultsOf(place)
    return relation === 'moved-away' ? vaults.moved[name] : vaults[STANDING[relation] ?? 'admin'][name]
  },
  absent: ({ h }) => h.deps.newId(prefix),
  seldom: [...SELDOM, 'other-tenant', 'moved-away'],
})

const noDocument = () => 'A'.repeat(43)

/** Who could be put on a list: an agent that the vault of the caller knows, or one it does not. */
const subject: Kind = {
  relations: ['own', 'no-access', 'other-tenant', 'other-org'],
  make: async (world, { place, relation }) => {
    const { agentId } = await world.h.agent(place, [])
    const principal = `agent:${agentId}`
    const { orgId: org_id } = place
    const { vaultId: vault_id } = world.vaultsOf(place).admin
    // What is here for one is next door for another: so it is on the list of its own tenant only.
    if (relation !== 'no-access')
      await inOrg(world.h.deps, org_id, (db) =>
        db.insertInto('vault_access').values({ org_id, vault_id, principal, role: 'read', since_index: 0 }).execute(),
      )
    return principal
  },
  absent: ({ h }) => `agent:${h.deps.newId('agt')}`,
  malformed: 'nobody',
}

/** A vault that the founder has signed and will sign more for; a fresh one for each change. */
const foundersVault: Kind = {
  relations: ['own'],
  make: async (world, { place, label, fresh }) =>
    fresh ? makeFilledVault(world.founderOf(place).writer, label) : world.vaultsOf(place).admin.vaultId,
  absent: () => `v${'a'.repeat(32)}`,
}

export const VAULT_KINDS = {
  vault: ofVault(
    ({ vaultId }) => vaultId,
    () => `v${'a'.repeat(32)}`,
  ),
  /** Where an item of the caller's own vault could be moved to. */
  vaultBeside: {
    relations: VAULT_RELATIONS,
    make: async (world, { place, relation }) => {
      const standing = STANDING[relation] ?? 'admin'
      return world.vaultsOf(place)[standing === 'admin' ? 'second' : standing].vaultId
    },
    absent: () => `v${'a'.repeat(32)}`,
    seldom: SELDOM,
  },
  vaultItem: inVault('itemId', 'itm'),
  vaultField: inVault('fieldId', 'fld'),
  vaultHead: ofVault(({ head }) => head, noDocument, 'short'),
  vaultCreation: ofVault(({ creation }) => creation, noDocument, 'short'),
  vaultWrap: ofVault(({ wrap }) => wrap, noDocument, 'short'),
  subject,
  foundersVault,
} as const satisfies Record<string, Kind>
