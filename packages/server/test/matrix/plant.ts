import { asSuperuser } from '../principals.ts'
import { KINDS, type KindName } from './kinds.ts'
import type { Place } from './relations.ts'
import { NOBODY, type World } from './world.ts'

// Something of every kind everywhere, and what monitoring could show of it to the wrong people.

const EVENTS = [
  `insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, outcome, request_id, metadata)
   values ($1, $2, 'agent.update', $3, 'agent', $4, 'success', $5, jsonb_build_object('name', $6::text))`,
  `insert into request_event (org_id, event_id, occurred_at, request_id, method, route, status, duration_ms, bytes_in, bytes_out, principal, ip, user_agent)
   values ($1, $2, $3, $5, 'GET', '/api/v1/machine/me', 200, 1, 0, 0, $4, '', $6)`,
  `insert into metric_minute (org_id, principal, route, minute, requests, errors, buckets)
   select org, principal, 'GET /' || canary, at, 1, 0, '{1}'
   from (values ($1::text, $2::text, $3::timestamptz, $4::text, $5::text, $6::text)) as v (org, event, at, principal, request, canary)`,
]

const ACTIVITY = `insert into vault_activity_event (org_id, event_id, vault_id, action, actor, subject, occurred_at, request_id)
   values ($1, $2, $3, 'vault.update', 'agent:agt_somebody', $4, $5, $2)`

/** A registration that waits for the founder. */
const PENDING = `insert into pending_key (org_id, kid, endorser, envelope, created_at)
   values ($1, $2, $3, jsonb_build_object('payload', '', 'payloadType', $4::text, 'signatures', '[]'::jsonb), $5)`

export async function plant(world: World): Promise<void> {
  for (const place of world.orgs.flatMap(({ places }) => places)) {
    const somebody = { ...NOBODY, home: place }
    for (const kind of Object.keys(KINDS) as KindName[]) await world.thing(kind, 'own', somebody, false)
    await plantEvents(world, place)
    await plantSecrets(world, place)
  }
}

async function plantEvents(world: World, place: Place): Promise<void> {
  const { deps } = world.h
  const agent = await world.thing('agent', 'own', { ...NOBODY, home: place }, false)
  const values = [place.orgId, deps.newId('evt'), deps.now(), `agent:${agent.id}`, deps.newId('req'), place.canary]
  await asSuperuser(world.h, async (client) => {
    for (const sql of EVENTS) await client.query(sql, values)
  })
}

async function plantSecrets(world: World, place: Place): Promise<void> {
  const { deps } = world.h
  const { admin, hidden } = world.vaultsOf(place)
  const { orgId, vaultCanary, hiddenCanary } = place
  await asSuperuser(world.h, async (client) => {
    const activity = (vaultId: string, subject: string) =>
      client.query(ACTIVITY, [orgId, deps.newId('act'), vaultId, subject, deps.now()])
    // In this order: whoever reads up to their own event has come past the other.
    await activity(hidden.vaultId, hiddenCanary)
    await activity(admin.vaultId, vaultCanary)
    const kid = `agent:${deps.newId('agt')}:${'b'.repeat(32)}`
    const { writer } = world.founderOf(place)
    await client.query(PENDING, [orgId, kid, writer.identity.kid, hiddenCanary, deps.now()])
  })
}
