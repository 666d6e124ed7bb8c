import { client as opaque, ready } from '@serenity-kit/opaque'
import { inOrg } from '../../src/context.ts'
import { answerRegistration } from '../../src/modules/sessions/opaque.ts'
import { seedTenant } from '../agent-seed.ts'
import type { Harness } from '../harness.ts'
import { makeLogOrg } from '../log-org.ts'
import { asSuperuser } from '../principals.ts'
import { KINDS, type Kind, type KindName } from './kinds.ts'
import type { Material } from './oracle.ts'
import type { Caller, Place, Relation, Thing } from './relations.ts'

// Two organisations with two tenants each. Every name in them carries the canary of its tenant.

export interface Org {
  readonly orgId: string
  readonly places: readonly [Place, Place]
  /** The hash of a document that the log of the organisation names. */
  readonly documentHash: string
}

export interface World {
  readonly h: Harness
  readonly orgs: readonly [Org, Org]
  readonly material: Material
  /** An object in this relation to the caller; `fresh` ones are used by nobody else and carry no canary. */
  thing(kind: KindName, relation: Relation, caller: Caller, fresh: boolean): Promise<Thing>
}

async function makeOrg(h: Harness, letter: string): Promise<Org> {
  const orgCanary = `canary-org-${letter}`
  const { orgId, tenantId } = await makeLogOrg(h, orgCanary)
  const place = (tenantId: string, number: number, parentId: string | null = null): Place => ({
    orgId,
    tenantId,
    parentId,
    orgCanary,
    canary: `canary-tenant-${letter}${number}`,
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
  return { orgId, places: [first, second], documentHash: document.doc_hash }
}

async function makeMaterial({ deps }: Harness): Promise<Material> {
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
  }
}

/** Where an object of this relation is, seen from the home of the caller. */
function placeOf(orgs: readonly [Org, Org], { home }: Caller, relation: Relation): Place {
  const [own, other] = orgs[0].orgId === home.orgId ? orgs : [orgs[1], orgs[0]]
  if (relation === 'other-org') return other.places[0]
  if (relation !== 'other-tenant') return home
  return own.places[0].tenantId === home.tenantId ? own.places[1] : own.places[0]
}

const ELSEWHERE: readonly Relation[] = ['own', 'other-tenant', 'other-org']

export async function makeWorld(h: Harness): Promise<World> {
  const orgs = [await makeOrg(h, 'a'), await makeOrg(h, 'b')] as const
  const material = await makeMaterial(h)
  const kept = new Map<string, Promise<string>>()
  const world: World = {
    h,
    orgs,
    material,
    thing: async (name, relation, caller, fresh) => {
      const kind: Kind = KINDS[name]
      if (relation === 'absent') return { id: kind.absent(world), relation, place: undefined }
      if (relation === 'malformed') return { id: kind.malformed ?? 'no!id', relation, place: undefined }
      const place = placeOf(orgs, caller, relation)
      const make = (): Promise<string> =>
        kind.make(world, { place, relation, caller, label: fresh ? material.name() : place.canary })
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

const EVENTS = [
  `insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, outcome, request_id, metadata)
   values ($1, $2, 'agent.update', $3, 'agent', $4, 'success', $5, jsonb_build_object('name', $6::text))`,
  `insert into vault_activity_event (org_id, event_id, vault_id, action, actor, subject, occurred_at, request_id)
   values ($1, $2, 'vlt_any', 'vault.update', $4, $6, $3, $5)`,
  `insert into request_event (org_id, event_id, occurred_at, request_id, method, route, status, duration_ms, bytes_in, bytes_out, principal, ip, user_agent)
   values ($1, $2, $3, $5, 'GET', '/api/v1/machine/me', 200, 1, 0, 0, $4, '', $6)`,
  `insert into metric_minute (org_id, principal, route, minute, requests, errors, buckets)
   select org, principal, 'GET /' || canary, at, 1, 0, '{1}'
   from (values ($1::text, $2::text, $3::timestamptz, $4::text, $5::text, $6::text)) as v (org, event, at, principal, request, canary)`,
]

/** Something of every kind everywhere, and what monitoring could show of it to the wrong people. */
async function plant(world: World): Promise<void> {
  const { deps } = world.h
  for (const place of world.orgs.flatMap(({ places }) => places)) {
    const somebody = { ...NOBODY, home: place }
    for (const kind of Object.keys(KINDS) as KindName[]) await world.thing(kind, 'own', somebody, false)
    const agent = await world.thing('agent', 'own', somebody, false)
    const values = [place.orgId, deps.newId('evt'), deps.now(), `agent:${agent.id}`, deps.newId('req'), place.canary]
    await asSuperuser(world.h, async (client) => {
      for (const sql of EVENTS) await client.query(sql, values)
    })
  }
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
