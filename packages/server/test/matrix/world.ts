import { client as opaque, ready } from '@serenity-kit/opaque'
import { inOrg } from '../../src/context.ts'
import { answerRegistration } from '../../src/modules/sessions/opaque.ts'
import { seedTenant } from '../agent-seed.ts'
import type { Harness } from '../harness.ts'
import { type Founder, makeFoundedOrg } from './founder.ts'
import { KINDS, type Kind, type KindName } from './kinds.ts'
import type { Material } from './oracle.ts'
import { plant } from './plant.ts'
import type { Caller, Place, Relation, Thing } from './relations.ts'
import { headTemplate, keyRequest } from './stand-ins.ts'
import { makeVaults, putOnLists, type Vaults } from './vault-set.ts'

// Two organisations with two tenants each. Every name in them carries the canary of its tenant.

export interface Org {
  readonly orgId: string
  readonly places: readonly [Place, Place]
  /** The hash of a document that the log of the organisation names. */
  readonly documentHash: string
  readonly founder: Founder
}

export interface World {
  readonly h: Harness
  readonly orgs: readonly [Org, Org]
  readonly material: Material
  /** An object in this relation to the caller; `fresh` ones are used by nobody else and carry no canary. */
  thing(kind: KindName, relation: Relation, caller: Caller, fresh: boolean): Promise<Thing>
  /** Real vaults of a tenant, and who made them. */
  vaultsOf(place: Place): Vaults
  founderOf(place: Place): Founder
  /** Puts somebody new on the access lists of the vaults at home. */
  settle(caller: Caller): Promise<void>
}

async function makeOrg(h: Harness, letter: string): Promise<Org> {
  const orgCanary = `canary-org-${letter}`
  const { orgId, tenantId, founder } = await makeFoundedOrg(h, orgCanary)
  const place = (tenantId: string, number: number, parentId: string | null = null): Place => ({
    orgId,
    tenantId,
    parentId,
    orgCanary,
    canary: `canary-tenant-${letter}${number}`,
    vaultCanary: `canary-vault-${letter}${number}`,
    hiddenCanary: `canary-hidden-${letter}${number}`,
  })
  const first = place(tenantId, 1)
  const second = place((await seedTenant(h, first, 'second')).tenantId, 2, tenantId)
  for (const { tenantId, canary } of [first, second])
    await inOrg(h.deps, orgId, (db) =>
      db.updateTable('tenant').set({ name: canary }).where('tenant_id', '=', tenantId).execute(),
    )
  const document = await inOrg(h.deps, orgId, (db) =>
    db.selectFrom('log_document').select('doc_hash').executeTakeFirstOrThrow(),
  )
  return { orgId, places: [first, second], documentHash: document.doc_hash, founder: founder(first) }
}

async function makeMaterial({ deps }: Harness, { founder }: Org, vaultId: string): Promise<Material> {
  await ready
  const password = 'correct horse battery staple'
  const { clientRegistrationState, registrationRequest } = opaque.startRegistration({ password })
  const { registrationRecord } = opaque.finishRegistration({
    password,
    clientRegistrationState,
    registrationResponse: await answerRegistration(deps, 'somebody@example.com', registrationRequest),
    keyStretching: { 'argon2id-custom': { iterations: 1, memory: 8, parallelism: 1 } },
  })
  let count = 0
  return {
    name: () => `name ${++count}`,
    registrationRequest,
    registrationRecord,
    startLoginRequest: opaque.startLogin({ password }).startLoginRequest,
    kdf: '$argon2id$v=19$m=65536,t=3,p=4$AAAAAAAAAAAAAAAAAAAAAA',
    kid: `user:usr_somebody:${'a'.repeat(32)}`,
    head: await headTemplate(founder.writer, vaultId),
    keyRequest,
    founder: founder.writer,
  }
}

/** Where an object of this relation is, seen from the home of the caller. */
function placeOf(orgs: readonly [Org, Org], { home }: Caller, relation: Relation): Place {
  const [own, other] = orgs[0].orgId === home.orgId ? orgs : [orgs[1], orgs[0]]
  if (relation === 'other-org') return other.places[0]
  if (relation !== 'other-tenant') return home
  return own.places[0].tenantId === home.tenantId ? own.places[1] : own.places[0]
}

const known = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('there is no such tenant')
  return value
}

async function makeAllVaults(h: Harness, orgs: readonly Org[]): Promise<ReadonlyMap<string, Vaults>> {
  const made = await Promise.all(
    orgs.map(async ({ places, founder }) => {
      const own: (readonly [string, Vaults])[] = []
      for (const place of places) own.push([place.tenantId, await makeVaults(h, founder.writer, place)])
      return own
    }),
  )
  return new Map(made.flat())
}

const ELSEWHERE: readonly Relation[] = ['own', 'other-tenant', 'other-org']

export async function makeWorld(h: Harness): Promise<World> {
  const orgs = [await makeOrg(h, 'a'), await makeOrg(h, 'b')] as const
  const vaults = await makeAllVaults(h, orgs)
  const vaultsOf: World['vaultsOf'] = ({ tenantId }) => known(vaults.get(tenantId))
  const material = await makeMaterial(h, orgs[0], vaultsOf(orgs[0].places[0]).admin.vaultId)
  const kept = new Map<string, Promise<string>>()
  const world: World = {
    h,
    orgs,
    material,
    vaultsOf,
    founderOf: ({ orgId }) => known(orgs.find((org) => org.orgId === orgId)).founder,
    settle: (caller) => putOnLists(h, vaultsOf(caller.home), caller),
    thing: async (name, relation, caller, fresh) => {
      const kind: Kind = KINDS[name]
      if (relation === 'absent') return { id: kind.absent(world), relation, place: undefined }
      if (relation === 'malformed') return { id: kind.malformed ?? 'no!id', relation, place: undefined }
      const place = placeOf(orgs, caller, relation)
      const make = (): Promise<string> =>
        kind.make(world, { place, relation, caller, label: fresh ? material.name() : place.canary, fresh })
      if (fresh) return { id: await make(), relation, place }
      const isPersonal = kind.personal?.includes(relation)
      // What is here for one is next door for another.
      const which = !isPersonal && ELSEWHERE.includes(relation) ? 'there' : relation
      const key = `${name} ${which} ${place.tenantId} ${isPersonal ? caller.id : ''}`
      const making = kept.get(key) ?? make()
      kept.set(key, making)
      return { id: await making, relation, place }
    },
  }
  await plant(world)
  return world
}

/** Somebody without anything, for requests nobody is known for. */
export const NOBODY: Omit<Caller, 'home'> = {
  type: 'user',
  id: 'nobody',
  credential: 'token',
  permissions: [],
  orgRoles: [],
  tenantRoles: [],
}
